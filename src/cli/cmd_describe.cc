#include <memory>
#include <optional>

#include <fmt/format.h>

#include "base/file.h"
#include "cli/analysis_command.h"
#include "cli/cli.h"
#include "cli/command_line.h"
#include "cli/dataset_arguments.h"
#include "cli/model_arguments.h"
#include "tree/tree.h"
#include "views/views.h"

namespace beryl::cli {
namespace {

constexpr const char* kDescription =
    "Say what a model is made of and what running it takes, from its configuration alone";

constexpr const char* kFooter =
    R"(WHAT IT SAYS
The model as a tree at four levels (model, module, ML primitive, math operation), with floating-point
operations, bytes read and written, and parameters of every part. No weights, no run, no network: NAME is
one that `beryl models` lists, or a Hugging Face config.json.
  table   like layers folded into a line, down to the ML primitives; --depth goes deeper
  json    every node, with the shapes of what goes in and comes out
  csv     the same, a line for each node
With --sweep, a line for each variant instead.

EXIT STATUS
  0 done   1 failed   2 wrong use

EXAMPLES
  beryl describe bert-base-uncased --batch 8 --seq 128
  beryl describe my_model/config.json --depth 8
  beryl describe gpt2 --prompt 512 --generate 128 --dtype float16
  beryl describe meta-llama/Llama-3.1-8B --seq 2048 --dtype bfloat16 --attention flash --gpus 2
  beryl describe bert-base-uncased --set num_hidden_layers=6 --format json
  beryl describe bert-base-uncased --sweep num_hidden_layers=2,4,6 --sweep batch=1,8
  beryl describe bert-base-uncased --sweep hidden_size:num_attention_heads=128:2,256:4,512:8)";

struct DescribeArguments {
  ModelArguments model;
  TreeArguments tree;
  OutputArguments output;
};

Result<std::string> DescribeOne(const DescribeArguments& arguments,
                                const models::ModelConfig& config, views::Format format,
                                const views::ViewOptions& view) {
  const auto options = DescribeOptionsOf(arguments.model);
  if (!options) return options.error();
  auto description = models::Describe(config, *options);
  if (!description) return description.error();
  description->provenance = MakeProvenance({config.name});
  // What CSV has no place for.
  if (format == views::Format::kCsv) SayNotes(description->notes);
  const ShownTree tree = tree::Show(tree::DescribedColumns(*description, tree::Detail::kAll));
  if (auto ok = views::CheckColumns(tree.folded, view); !ok) return ok.error();
  return views::Write(*description, tree, format, view);
}

Result<std::string> DescribeVariants(const DescribeArguments& arguments,
                                     const models::ModelConfig& config, views::Format format,
                                     const views::ViewOptions& view) {
  const auto sweep = SweepVariants(arguments.model, config, [](Description description) {
    DescribedPrediction only_described;
    only_described.description = std::move(description);
    return Result<DescribedPrediction>(std::move(only_described));
  });
  if (!sweep) return sweep.error();
  return views::Write(*sweep, format, view);
}

int RunDescribe(const DescribeArguments& arguments) {
  if (auto ok = CheckOutput(arguments.output.output, {arguments.model.model}); !ok) {
    return Fail(ok.error());
  }
  auto output = OutputFile::Open(arguments.output.output);
  if (!output) return Fail(output.error());
  const auto config = ReadConfig(arguments.model.model);
  if (!config) return Fail(config.error());
  views::ViewOptions view = ViewOf(arguments.output);
  TakeTreeArguments(arguments.tree, view);
  const views::Format format = FormatOf(arguments.output.format);
  const auto text = arguments.model.sweep.empty()
                        ? DescribeOne(arguments, *config, format, view)
                        : DescribeVariants(arguments, *config, format, view);
  if (!text) return Fail(text.error());
  if (auto ok = output->Commit(*text); !ok) return Fail(ok.error());
  return kSuccess;
}

}  // namespace

void AddDescribeCommand(Command& app, int& exit_code) {
  auto arguments = std::make_shared<DescribeArguments>();
  Command* command = app.add_subcommand("describe", kDescription);
  command->footer(kFooter);
  AddModelOptions(*command, arguments->model).front()->required();
  AddSizeOptions(*command, arguments->model.batch, arguments->model.seq,
                 "default: 1, and 128 tokens");
  AddTreeOptions(*command, arguments->tree);
  AddOutputOptions(*command, arguments->output, {"table", "json", "csv"});
  command->callback([arguments, &exit_code] { exit_code = RunDescribe(*arguments); });
}

}  // namespace beryl::cli
