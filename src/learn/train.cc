#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "learn/fit.h"
#include "learn/held_out.h"
#include "learn/intervals.h"

namespace beryl::learn {
namespace {

bool IsFinite(const EnergyModel& model) {
  std::vector<double> numbers = {model.pue};
  const auto add = [&](const auto& part) {
    for (const auto* list : {&part.standard.mean, &part.standard.scale, &part.weights}) {
      numbers.insert(numbers.end(), list->begin(), list->end());
    }
    numbers.push_back(part.bias);
  };
  add(model.weighting);
  for (const auto& [type, regressor] : model.primitives) add(regressor);
  const EnergyLaw& law = model.law;
  for (const auto& term : {law.gpu_energy, law.cpu_energy, law.busy_w, std::optional(law.rest_w)}) {
    if (term) numbers.insert(numbers.end(), {term->value, term->deviation});
  }
  return std::all_of(numbers.begin(), numbers.end(),
                     [](double number) { return std::isfinite(number); });
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
