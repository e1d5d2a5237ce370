#include "cli/arguments.h"
#include "flows/analyse_run.h"
#include "flows/predict_model.h"
#include "flows/read_data.h"

namespace beryl::cli {
namespace {

constexpr CommandText kText = {
    "predict",
    "Predict the energy of models: from their description, or from the features of a run",
    R"(FROM A DESCRIPTION: beryl predict NAME ...
Nothing is run: NAME is one that `beryl models` lists, or a Hugging Face config.json.
  table   energy, time and cost of the model, then where they go, repeated layers folded into one line
  json    every node of the tree, with the interval
  csv     the same, one line per node
With --sweep, one line per variant instead. Every format marks a profile that is not calibrated.

FROM A RUN: beryl predict --profile PROFILE --data DATA ...
  table   one line per model and input size; for a single one (--model, --batch, --seq) its tree
  json    every node of every tree, with the interval, and measured energy if DATA has it
  csv     the same, one line per node
  jsonl   the authors' trees (IrEne's JSON lines) with predicted_energy filled in, for their evaluation
PROFILE is a file written by `beryl train`, or the name of a profile that comes with the program. It is
valid for the machine it was measured on. DATA needs no energy.

EXAMPLES
  beryl predict bert-base-uncased --batch 8 --seq 128
  beryl predict gpt2 --prompt 256 --generate 64 --region DE
  beryl predict my_model/config.json --batch 16 --seq 256 --format json
  beryl predict bert-base-uncased --sweep num_hidden_layers=2,4,6,8,10,12 --sweep batch=1,8,32
  beryl predict --profile gtx1080ti-i9-7900x --data irene/device_1
  beryl predict --profile my_machine.json --data trees.jsonl --format jsonl -o predicted.jsonl)"};

struct PredictArguments {
  std::string data;
  std::string data_model;  // --model together with --data
  ModelArguments described;
  flows::ElectricityRequest electricity;
  TreeArguments tree;
  std::string budget;
  OutputArguments output;
};

Result<int> PredictData(const PredictArguments& arguments) {
  const ModelArguments& asked = arguments.described;
  if (asked.profile.empty()) {
    return MisuseError("--data needs a --profile: a name, or a file written by beryl train");
  }
  const auto predict = [&] {
    return flows::PredictData(
        {arguments.data, asked.profile, arguments.data_model, asked.batch, asked.seq});
  };
  if (arguments.output.format != views::Format::kJsonl) {
    return WriteResult(
        arguments.output, [&](auto&) { return predict(); }, arguments.tree);
  }
  auto output = TRY(Output::Open(arguments.output));
  const auto report = TRY(predict());
  TRY(output.Write(flows::WriteTrees(report), report.notes));
  return kSuccess;
}

// Predicts a model that was never run.
Result<int> PredictModel(const PredictArguments& arguments) {
  const std::vector<std::string> profiles = SplitNames(arguments.described.profile);
  if (!arguments.described.sweep.empty() || profiles.size() > 1) {
    if (!arguments.budget.empty()) {
      return MisuseError(
          "a budget is checked for one prediction, not for a sweep or several profiles",
          {"budget"});
    }
    const auto predict = [&](std::vector<Note>& notes) -> Result<Sweep> {
      const auto electricity = TRY(flows::ChooseElectricity(arguments.electricity, notes));
      return flows::PredictModels(arguments.described, profiles, electricity);
    };
    return WriteResult(arguments.output, predict, arguments.tree);
  }
  std::vector<BudgetVerdict> verdicts;
  const auto predict = [&](std::vector<Note>& notes) -> Result<DescribedPrediction> {
    const auto electricity = TRY(flows::ChooseElectricity(arguments.electricity, notes));
    const auto budget = TRY(flows::ReadBudget(arguments.budget));
    auto prediction = TRY(flows::PredictModel(arguments.described, profiles, electricity));
    const std::string& grid = arguments.electricity.grid;
    if (!grid.empty()) prediction.provenance.sources.push_back(grid);
    AppendNotes(prediction.notes, notes);
    verdicts = prediction.budget = flows::CheckBudget(budget, prediction);
    return prediction;
  };
  TRY(WriteResult(arguments.output, predict, arguments.tree));
  return SayBudget(verdicts, arguments.budget);
}

Result<int> RunPredict(const PredictArguments& arguments) {
  const bool described = !arguments.described.model.empty();
  if (described == !arguments.data.empty()) {
    return MisuseError(
        "nothing to predict: give a model, such as bert-base-uncased or its config.json, or the "
        "features of runs with --data (see beryl predict --help)");
  }
  if (described) {
    TRY(views::CheckFormat(views::kFormats<DescribedPrediction>, arguments.output.format,
                           "the prediction of a model without --data"));
  }
  return (described ? PredictModel : PredictData)(arguments);
}

}  // namespace

void AddPredict(Command& program, const char* group) {
  auto [command, arguments] = program.Subcommand(kText, group, RunPredict);
  const auto of_model = AddModelOptions(command, arguments.described);
  AddProfileOption(command, arguments.described.profile,
                   fmt::format("Profile, default for a model {}; several, A,B, for a line each: ",
                               flows::kDefaultProfile));
  const Parameter data =
      command.Option("--data DATA", arguments.data, std::string("Features of runs. ") + kDataHelp);
  AddModelOption(command, arguments.data_model).Needs(data);
  AddSizeOptions(command, arguments.described.batch, arguments.described.seq,
                 "default: all in DATA; 1 x 128 tokens for a model");
  AddTreeOptions(command, arguments.tree);
  command
      .Option("--budget FILE", arguments.budget,
              "Energy limits, as of beryl account; fails if the prediction exceeds one")
      .Excludes({data});
  const auto of_cost = AddElectricityOptions(command, arguments.electricity);
  // These options apply to a described model, not to runs.
  data.Excludes(of_model).Excludes(of_cost);
  AddOutputOptions(command, arguments.output, views::kFormats<PredictionReport>);
}

}  // namespace beryl::cli
