#include <memory>
#include <optional>

#include <fmt/format.h>

#include "base/file.h"
#include "cli/analysis_command.h"
#include "cli/cli.h"
#include "cli/command_line.h"
#include "cli/dataset_arguments.h"
#include "cli/terminal.h"
#include "learn/learn.h"
#include "views/views.h"

namespace beryl::cli {
namespace {

constexpr const char* kDescription =
    "Say where a model's energy goes: which types of modules, which layers";

constexpr const char* kFooter =
    R"(WHAT IT SAYS
  parts   modules that have nothing but ML primitives inside, added up by type, and ML primitives that
          stand beside modules. What is in none of them is a line of its own: the parts sum to the whole
  tree    every node of the model, like layers folded into one with their energy added up
All numbers are means over the model's input sizes. Measured energy is that of the data; with --profile,
predicted energy stands beside it, or alone where nothing was measured.

EXIT STATUS
  0 done   1 failed   2 wrong use

EXAMPLES
  beryl bottlenecks irene/device_1
  beryl bottlenecks irene/device_1 --model gpt2 --depth 2
  beryl bottlenecks features.csv --profile my_machine.json --format json)";

struct BottleneckArguments {
  std::string data;
  std::string model;
  std::string profile;
  TreeArguments tree;
  OutputArguments output;
};

int RunBottlenecks(const BottleneckArguments& arguments) {
  if (auto ok = CheckOutput(arguments.output.output, {arguments.data, arguments.profile}); !ok)
    return Fail(ok.error());
  auto output = OutputFile::Open(arguments.output.output);
  if (!output) return Fail(output.error());
  auto input = ReadAnalysed(arguments.data, arguments.model, arguments.profile);
  if (!input) return Fail(input.error());
  auto models = learn::BreakDown(input->data, input->predicted, input->origin.notes);
  if (!models) {
    SayNotes(input->origin.notes);
    return Fail(models.error());
  }
  const Breakdowns breakdowns{std::move(input->origin), *std::move(models)};
  views::ViewOptions view = ViewOf(arguments.output);
  TakeTreeArguments(arguments.tree, view);
  if (auto ok = output->Commit(views::Write(breakdowns, FormatOf(arguments.output.format), view));
      !ok) {
    return Fail(ok.error());
  }
  if (arguments.output.format != "json") SayNotes(breakdowns.origin.notes);
  return kSuccess;
}

}  // namespace

void AddBottlenecksCommand(Command& app, int& exit_code) {
  auto arguments = std::make_shared<BottleneckArguments>();
  Command* command = app.add_subcommand("bottlenecks", kDescription);
  command->footer(kFooter);
  AddDataArgument(*command, arguments->data);
  AddModelOption(*command, arguments->model);
  AddProfileOption(*command, arguments->profile);
  AddTreeOptions(*command, arguments->tree);
  AddOutputOptions(*command, arguments->output, {"table", "json", "csv"});
  command->callback([arguments, &exit_code] { exit_code = RunBottlenecks(*arguments); });
}

}  // namespace beryl::cli
