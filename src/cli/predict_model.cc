#include "cli/predict_model.h"

#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "cli/analysis_command.h"
#include "cli/cli.h"
#include "cli/dataset_arguments.h"
#include "learn/learn.h"
#include "tree/tree.h"

namespace beryl::cli {
namespace {

// What queries cost is asked of runs. A prediction is one, of which only the whole matters.
Result<QueryCosts> CostsOf(const DescribedPrediction& prediction, const Electricity& electricity) {
  const Description& description = prediction.description;
  Dataset data;
  data.name = description.model;
  ModelRun& run = data.runs.emplace_back();
  run.model = description.model;
  run.batch_size = static_cast<double>(description.input.batch);
  run.seq_len = static_cast<double>(description.input.seq);
  run.tree.nodes.push_back(description.tree.nodes.front());
  run.tree.nodes.front().end = 1;
  run.features.push_back(UnknownFeatures());
  run.measured.push_back(kUnknown);
  learn::CostOptions options;
  options.electricity = electricity;
  auto costs = learn::CostQueries(data, {prediction.energy}, options);
  if (!costs) return costs;
  costs->origin.predicted_by = prediction.profile;
  return costs;
}

class Predictor {
 public:
  Predictor(EnergyModel model, Electricity electricity)
      : model_(std::move(model)), predictor_(model_), electricity_(std::move(electricity)) {}

  Result<DescribedPrediction> Run(Description description) const {
    auto prediction = predictor_.Predict(std::move(description));
    if (!prediction) return prediction;
    auto costs = CostsOf(*prediction, electricity_);
    if (!costs) return costs.error();
    prediction->costs = *std::move(costs);
    return prediction;
  }

 private:
  EnergyModel model_;
  learn::DescriptionPredictor predictor_;
  Electricity electricity_;
};

Result<std::string> PredictOne(const PredictModelArguments& arguments,
                               const models::ModelConfig& config, const Predictor& predictor,
                               const views::ViewOptions& view) {
  const auto options = DescribeOptionsOf(arguments.model);
  if (!options) return options.error();
  auto description = models::Describe(config, *options);
  if (!description) return description.error();
  auto prediction = predictor.Run(*std::move(description));
  if (!prediction) return prediction.error();
  prediction->provenance =
      MakeProvenance({config.name, arguments.electricity.grid}, prediction->profile);
  prediction->tree = tree::Show(tree::PredictedColumns(*prediction));
  if (auto ok = views::CheckColumns(prediction->tree.folded, view); !ok) return ok.error();
  const views::Format format = FormatOf(arguments.output.format);
  // What CSV has no place for.
  if (format == views::Format::kCsv) {
    SayNotes(prediction->description.notes);
    SayNotes(prediction->notes);
  }
  return views::Write(*prediction, format, view);
}

}  // namespace

int PredictModel(const PredictModelArguments& arguments, OutputFile& output,
                 const views::ViewOptions& view) {
  std::vector<Note> notes;
  auto electricity = ElectricityOf(arguments.electricity, notes);
  if (!electricity) return Fail(electricity.error());
  const std::string profile = arguments.profile.empty() ? kDefaultProfile : arguments.profile;
  auto model = FindModel(profile);
  if (!model) return Fail(model.error());
  const std::string name = model->name.empty() ? profile : model->name;
  const auto config = ReadConfig(arguments.model.model);
  if (!config) return Fail(config.error());
  const Predictor predictor(*std::move(model), *std::move(electricity));
  Result<std::string> text = std::string();
  if (arguments.model.sweep.empty()) {
    text = PredictOne(arguments, *config, predictor, view);
  } else {
    auto sweep = SweepVariants(arguments.model, *config, [&](Description description) {
      return predictor.Run(std::move(description));
    });
    if (!sweep) return Fail(sweep.error());
    sweep->profile = sweep->provenance.profile = name;
    text = views::Write(*sweep, FormatOf(arguments.output.format), view);
  }
  if (!text) return Fail(text.error());
  if (auto ok = output.Commit(*text); !ok) return Fail(ok.error());
  SayNotes(notes);
  return kSuccess;
}

}  // namespace beryl::cli
