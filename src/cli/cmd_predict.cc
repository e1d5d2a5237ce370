#include <memory>
#include <optional>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/file.h"
#include "cli/analysis_command.h"
#include "cli/cli.h"
#include "cli/dataset_arguments.h"
#include "cli/described_data.h"
#include "cli/learning_arguments.h"
#include "learn/learn.h"
#include "version.h"
#include "views/views.h"

namespace beryl::cli {
namespace {

constexpr const char* kDescription =
    "Predict the energy of models from the features of a run, without a power meter";

constexpr const char* kFooter =
    R"(WHAT IT SAYS
  table   a line for each model and input size; of a single one (--model, --batch, --seq) its tree
  json    every node of every tree, with the interval, and measured energy where there is some
  csv     the same, a line for each node
  jsonl   the authors' trees (IrEne's JSON lines) with predicted_energy filled in, for their evaluation
PROFILE is a file that `beryl train` wrote, or the name of one that comes with the program. It holds for
the machine it was measured on. Energy need not be in DATA.

EXIT STATUS
  0 done   1 failed   2 wrong use

EXAMPLES
  beryl predict --profile gtx1080ti-i9-7900x --data irene/device_1
  beryl predict --profile my_machine.json --data new_models --model gpt2 --batch 8 --seq 128 --depth 3
  beryl predict --profile my_machine.json --data trees.jsonl --format jsonl -o predicted.jsonl)";

struct PredictArguments {
  std::string profile;
  std::string data;
  std::string model;
  std::optional<double> batch;
  std::optional<double> seq;
  std::optional<int> depth;
  OutputArguments output;
};

Result<PredictionReport> PredictAll(const PredictArguments& arguments) {
  auto model = FindDataModel(arguments.profile);
  if (!model) return model.error();
  auto data = ReadData(arguments.data, false);
  if (!data) return data.error();
  if (auto kept = KeepRuns(*data, arguments.model, arguments.batch, arguments.seq); !kept) {
    return kept.error();
  }
  if (model->method == Method::kDescribe) DescribeRuns(*data);
  PredictionReport report;
  report.tool = kTool;
  report.findings = data->findings;
  report.predicted = learn::Predict(*model, *data, report.findings);
  report.model = std::move(*model);
  report.data = std::move(*data);
  return report;
}

int RunPredict(const PredictArguments& arguments) {
  if (auto ok = CheckOutput(arguments.output.output, {arguments.data, arguments.profile}); !ok) {
    return Fail(ok.error());
  }
  auto output = OutputFile::Open(arguments.output.output);
  if (!output) return Fail(output.error());
  const auto report = PredictAll(arguments);
  if (!report) return Fail(report.error());
  views::ViewOptions view = ViewOf(arguments.output);
  view.depth = arguments.depth;
  const std::string bytes = arguments.output.format == "jsonl"
                                ? learn::WriteTrees(report->data, report->predicted)
                                : views::Write(*report, FormatOf(arguments.output.format), view);
  return FinishCommand(*output, bytes, arguments.output, report->findings);
}

}  // namespace

void AddPredictCommand(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<PredictArguments>();
  CLI::App* command = app.add_subcommand("predict", kDescription);
  command->footer(kFooter);
  command->add_option("--profile", arguments->profile, "A profile's name, or a file of beryl train")
      ->required()
      ->type_name("NAME|FILE");
  command
      ->add_option("--data", arguments->data,
                   "A folder of *_level_features.csv, one such file, trees as JSON lines, a run "
                   "file of beryl import, or a folder of those")
      ->required()
      ->type_name("DATA");
  AddModelOption(*command, arguments->model);
  AddSizeOptions(*command, arguments->batch, arguments->seq, "all");
  command->add_option("--depth", arguments->depth, "Levels of the tree to show; default: all")
      ->check(CLI::NonNegativeNumber)
      ->type_name("N");
  AddOutputOptions(*command, arguments->output, {"table", "json", "csv", "jsonl"});
  command->callback([arguments, &exit_code] { exit_code = RunPredict(*arguments); });
}

}  // namespace beryl::cli
