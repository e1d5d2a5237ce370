#include <memory>
#include <optional>

#include <fmt/format.h>

#include "base/file.h"
#include "cli/analysis_command.h"
#include "cli/cli.h"
#include "cli/command_line.h"
#include "cli/dataset_arguments.h"
#include "cli/described_data.h"
#include "cli/electricity_arguments.h"
#include "cli/learning_arguments.h"
#include "cli/model_arguments.h"
#include "cli/predict_model.h"
#include "learn/learn.h"
#include "views/views.h"

namespace beryl::cli {
namespace {

constexpr const char* kDescription =
    "Predict the energy of models: from their description, or from the features of a run";

constexpr const char* kFooter =
    R"(FROM A DESCRIPTION: beryl predict NAME ...
Nothing is run: NAME is one that `beryl models` lists, or a Hugging Face config.json.
  table   energy, time and cost of the model, then where they go, like layers folded into a line
  json    every node of the tree, with the interval
  csv     the same, a line for each node
With --sweep, a line for each variant instead. A profile without calibration says so in every format.

FROM A RUN: beryl predict --profile PROFILE --data DATA ...
  table   a line for each model and input size; of a single one (--model, --batch, --seq) its tree
  json    every node of every tree, with the interval, and measured energy where there is some
  csv     the same, a line for each node
  jsonl   the authors' trees (IrEne's JSON lines) with predicted_energy filled in, for their evaluation
PROFILE is a file that `beryl train` wrote, or the name of one that comes with the program. It holds for
the machine it was measured on. Energy need not be in DATA.

EXIT STATUS
  0 done   1 failed   2 wrong use

EXAMPLES
  beryl predict bert-base-uncased --batch 8 --seq 128
  beryl predict gpt2 --prompt 256 --generate 64 --region DE
  beryl predict my_model/config.json --batch 16 --seq 256 --format json
  beryl predict bert-base-uncased --sweep num_hidden_layers=2,4,6,8,10,12 --sweep batch=1,8,32
  beryl predict --profile gtx1080ti-i9-7900x --data irene/device_1
  beryl predict --profile my_machine.json --data new_models --model gpt2 --batch 8 --seq 128 --depth 3
  beryl predict --profile my_machine.json --data trees.jsonl --format jsonl -o predicted.jsonl)";

struct PredictArguments {
  std::string profile;
  std::string data;
  std::string data_model;  // --model, of the data
  ModelArguments described;
  ElectricityArguments electricity;
  TreeArguments tree;
  OutputArguments output;
};

Result<PredictionReport> PredictAll(const PredictArguments& arguments) {
  auto model = FindDataModel(arguments.profile);
  if (!model) return model.error();
  auto data = ReadData(arguments.data, false);
  if (!data) return data.error();
  if (auto kept =
          KeepRuns(*data, arguments.data_model, arguments.described.batch, arguments.described.seq);
      !kept) {
    return kept.error();
  }
  if (model->method == Method::kDescribe) DescribeRuns(*data);
  PredictionReport report;
  report.provenance = MakeProvenance({arguments.data}, model->name);
  report.notes = data->notes;
  report.predicted = learn::Predict(*model, *data, report.notes);
  report.model = std::move(*model);
  report.data = std::move(*data);
  return report;
}

int PredictData(const PredictArguments& arguments, OutputFile& output,
                const views::ViewOptions& view) {
  const auto report = PredictAll(arguments);
  if (!report) return Fail(report.error());
  const std::string bytes = arguments.output.format == "jsonl"
                                ? learn::WriteTrees(report->data, report->predicted)
                                : views::Write(*report, FormatOf(arguments.output.format), view);
  return FinishCommand(output, bytes, arguments.output, report->notes);
}

Result<bool> CheckForm(const PredictArguments& arguments) {
  const bool described = !arguments.described.model.empty();
  if (described == !arguments.data.empty()) {
    return MisuseError(
        "what to predict? Give a model, such as bert-base-uncased or its config.json, or the "
        "features of runs with --data (see beryl predict --help)");
  }
  if (!described && arguments.profile.empty()) {
    return MisuseError("--data needs a --profile: a name, or a file that beryl train wrote");
  }
  if (described && arguments.output.format == "jsonl") {
    return MisuseError("--format jsonl is of --data; of a model there are table, json and csv");
  }
  return true;
}

int RunPredict(const PredictArguments& arguments) {
  if (auto ok = CheckForm(arguments); !ok) return Fail(ok.error());
  if (auto ok = CheckOutput(arguments.output.output,
                            {arguments.data, arguments.profile, arguments.described.model,
                             arguments.electricity.grid});
      !ok) {
    return Fail(ok.error());
  }
  auto output = OutputFile::Open(arguments.output.output);
  if (!output) return Fail(output.error());
  views::ViewOptions view = ViewOf(arguments.output);
  TakeTreeArguments(arguments.tree, view);
  if (arguments.described.model.empty()) return PredictData(arguments, *output, view);
  return PredictModel(
      {arguments.described, arguments.profile, arguments.electricity, arguments.output}, *output,
      view);
}

}  // namespace

void AddPredictCommand(Command& app, int& exit_code) {
  auto arguments = std::make_shared<PredictArguments>();
  Command* command = app.add_subcommand("predict", kDescription);
  command->footer(kFooter);
  const auto of_model = AddModelOptions(*command, arguments->described);
  command
      ->add_option("--profile", arguments->profile,
                   "A profile's name, or a file of beryl train; default, of a NAME: " +
                       std::string(kDefaultProfile))
      ->type_name("NAME|FILE");
  Option* data =
      command
          ->add_option("--data", arguments->data,
                       "Features of runs: a folder of *_level_features.csv, one such file, trees "
                       "as JSON lines, a run file of beryl import, or a folder of those")
          ->type_name("DATA");
  AddModelOption(*command, arguments->data_model);
  command->get_option("--model")->needs(data);
  AddSizeOptions(*command, arguments->described.batch, arguments->described.seq,
                 "of DATA: all; of a NAME: 1, and 128 tokens");
  AddTreeOptions(*command, arguments->tree);
  const auto of_cost = AddElectricityOptions(*command, arguments->electricity);
  // Each of these is about a model that is described, not about runs.
  for (Option* option : of_model) option->excludes(data);
  for (Option* option : of_cost) option->excludes(data);
  AddOutputOptions(*command, arguments->output, {"table", "json", "csv", "jsonl"});
  command->callback([arguments, &exit_code] { exit_code = RunPredict(*arguments); });
}

}  // namespace beryl::cli
