#include "learn/fit/fit.h"

#include <fmt/format.h>

#include "learn/methods/method.h"

namespace beryl::learn {

Status CheckMethod(Method method, FeatureSet set, const std::vector<Feature>& known) {
  const auto check = StepsOf(method).check;
  return check == nullptr ? Status() : check(set, known);
}

Result<EnergyModel> Fit(const Measurements& all, const ModelChoice& models,
                        const std::vector<Feature>& known, const TrainOptions& options) {
  if (options.watch != nullptr) TRY(options.watch->CheckGoesOn());
  EnergyModel model;
  model.method = options.method;
  model.feature_set = options.features;
  model.nominal = options.nominal;
  TRY(CheckMethod(options.method, options.features, known));
  TRY(StepsOf(options.method).fit({all, models, known, options}, model));
  if (options.watch != nullptr) {
    options.watch->DoneOne();
    // A method that sees that it should stop ends early.
    TRY(options.watch->CheckGoesOn());
  }
  return model;
}

std::vector<double> PredictNodes(const EnergyModel& model, const Measurements& all,
                                 const ModelChoice& models,
                                 std::vector<Uncertainty>* uncertainties) {
  return StepsOf(model.method).predict(model, all, models, uncertainties);
}

std::string PlaceOf(const Dataset& data, const ModelRun& run, NodeId node) {
  std::string place =
      fmt::format("{}: {} {} {}", data.name, run.model, InputText(run), ScopeOf(run.tree, node));
  const uint64_t line = node < run.lines.size() ? run.lines[node] : 0;
  if (line > 0) place += fmt::format(" (line {})", line);
  return place;
}

}  // namespace beryl::learn
