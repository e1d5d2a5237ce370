#include <memory>
#include <optional>

#include <fmt/format.h>

#include "base/file.h"
#include "cli/analysis_command.h"
#include "cli/cli.h"
#include "cli/command_line.h"
#include "cli/dataset_arguments.h"
#include "learn/learn.h"
#include "views/views.h"

namespace beryl::cli {
namespace {

constexpr const char* kDescription =
    "Set accuracy against energy: which models are worth their joules";

constexpr const char* kFooter =
    R"(WHAT IT SAYS
Energy is that of one batch, all models at one input size: the largest that all of them have, or the one
you choose. A model is on the Pareto front if no other takes less energy and is as accurate. --budget
chooses the most accurate model within it, --target the one that takes least and is accurate enough.

ACCURACY is a CSV with the columns model (named as in DATA) and accuracy, in any scale, and label if you
like: what to call the model.

EXIT STATUS
  0 done   1 failed   2 wrong use

EXAMPLES
  beryl tradeoff irene/device_1 sst2.csv
  beryl tradeoff irene/device_1 sst2.csv --batch 16 --seq 128 --budget 30 --target 0.88
  beryl tradeoff features.csv sst2.csv --profile my_machine.json --format svg -o tradeoff.svg)";

struct TradeoffArguments {
  std::string data;
  std::string accuracies;
  std::string profile;
  learn::TradeoffOptions options;
  std::optional<double> budget_j;
  OutputArguments output;
};

int RunTradeoff(const TradeoffArguments& arguments) {
  if (auto ok = CheckOutput(arguments.output.output,
                            {arguments.data, arguments.profile, arguments.accuracies});
      !ok)
    return Fail(ok.error());
  auto output = OutputFile::Open(arguments.output.output);
  if (!output) return Fail(output.error());
  auto text = ReadSmallFile(arguments.accuracies);
  if (!text) return Fail(text.error());
  std::vector<Note> notes;
  const auto accuracies = learn::ReadAccuracies(*text, arguments.accuracies, notes);
  if (!accuracies) return Fail(accuracies.error());
  auto input = ReadAnalysed(arguments.data, "", arguments.profile);
  if (!input) return Fail(input.error());
  EnergyOrigin& origin = input->origin;
  AppendNotes(origin.notes, notes);
  learn::TradeoffOptions options = arguments.options;
  if (arguments.budget_j) options.budget = Joules{*arguments.budget_j};
  auto tradeoff = learn::TradeOff(input->data, input->predicted, *accuracies, options);
  if (!tradeoff) {
    SayNotes(origin.notes);
    return Fail(tradeoff.error());
  }
  tradeoff->origin = std::move(origin);
  tradeoff->accuracy_file = arguments.accuracies;
  tradeoff->origin.provenance.sources.push_back(arguments.accuracies);
  const std::string& format = arguments.output.format;
  if (auto ok = output->Commit(views::Write(*tradeoff, FormatOf(format), ViewOf(arguments.output)));
      !ok) {
    return Fail(ok.error());
  }
  // What CSV has no place for, or what now lies in a file, is said here.
  if (format == "csv" || (!arguments.output.to_stdout() && format != "table")) {
    fmt::print(stderr, "{}", views::WriteVerdicts(*tradeoff));
  }
  if (format != "json") SayNotes(tradeoff->origin.notes);
  return kSuccess;
}

}  // namespace

void AddTradeoffCommand(Command& app, int& exit_code) {
  auto arguments = std::make_shared<TradeoffArguments>();
  Command* command = app.add_subcommand("tradeoff", kDescription);
  command->footer(kFooter);
  AddDataArgument(*command, arguments->data);
  command->add_option("accuracy", arguments->accuracies, "A CSV of model and accuracy")
      ->required()
      ->type_name("ACCURACY");
  AddSizeOptions(*command, arguments->options.batch_size, arguments->options.seq_len,
                 "default: the largest that all models have");
  AddProfileOption(*command, arguments->profile);
  command
      ->add_option("--budget", arguments->budget_j,
                   "Say which model is most accurate within so many joules a batch")
      ->check(FiniteAbove0())
      ->type_name("J");
  command
      ->add_option("--target", arguments->options.target,
                   "Say which model takes least and is at least this accurate")
      ->type_name("ACC");
  AddOutputOptions(*command, arguments->output, {"table", "json", "csv", "svg"});
  command->callback([arguments, &exit_code] { exit_code = RunTradeoff(*arguments); });
}

}  // namespace beryl::cli
