#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "learn/fit.h"
#include "learn/held_out.h"
#include "learn/intervals.h"

namespace beryl::learn {
namespace {

bool AllFinite(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(),
                     [](double value) { return std::isfinite(value); });
}

bool IsFinite(const EnergyModel& model) {
  bool finite = std::isfinite(model.pue) && std::isfinite(model.law.rest_w.value) &&
                std::isfinite(model.law.rest_w.deviation) && AllFinite(model.weighting.weights) &&
                AllFinite(model.weighting.standard.mean) &&
                AllFinite(model.weighting.standard.scale) && std::isfinite(model.weighting.bias);
  for (const auto* term : {&model.law.gpu_energy, &model.law.cpu_energy, &model.law.busy_w}) {
    finite =
        finite && (!*term || (std::isfinite((*term)->value) && std::isfinite((*term)->deviation)));
  }
  for (const auto& [type, regressor] : model.primitives) {
    finite = finite && AllFinite(regressor.weights) && AllFinite(regressor.standard.mean) &&
             AllFinite(regressor.standard.scale) && std::isfinite(regressor.bias);
  }
  return finite;
}

}  // namespace

Result<EnergyModel> Train(const Dataset& data, const TrainOptions& options) {
  const Measurements all = Gather(data);
  const std::vector<Feature> known = KnownFeatures(data);
  auto model = Fit(all, ModelChoice(all.models.size(), true), known, options);
  if (!model) return model;
  model->trained_on.data = data.name;
  model->trained_on.models = all.models;
  for (const Measurement& row : all.rows) {
    if (row.measured > 0) model->trained_on.nodes += row.count;
  }
  if (options.bands && all.models.size() > 1) {
    std::vector<Spread> spreads;
    TrainOptions energy_only = options;
    energy_only.seconds = false;
    const auto predicted = PredictHeldOut(all, known, energy_only, nullptr, &spreads);
    if (!predicted) return predicted.error();
    if (model->described) {
      model->described->noise_factors =
          NoiseFactorsOf(all, *predicted, spreads, kNoModel, options.nominal);
    }
    model->bands = BandsOf(all, *predicted, kNoModel, options.nominal);
    for (size_t level = 0; level < kDataLevels.size(); ++level) {
      const double mape = MapeOverModels(all, *predicted, level);
      model->trained_on.mape[level] = std::isfinite(mape) ? mape : kUnknown;
    }
  }
  if (!IsFinite(*model)) {
    return InvalidError(fmt::format(
        "{}: method {} comes to numbers beyond all bounds; look for rows with absurd values, or "
        "take the method law",
        data.name, MethodName(options.method)));
  }
  return model;
}

}  // namespace beryl::learn
