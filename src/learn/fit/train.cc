#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "learn/fit/fit.h"
#include "learn/fit/held_out.h"
#include "learn/fit/intervals.h"
#include "learn/fit/leave_out.h"

namespace beryl::learn {
namespace {

bool IsFinite(const EnergyModel& model) {
  std::vector<double> numbers;
  const auto add = [&](const auto& part) {
    for (const auto* list : {&part.standard.mean, &part.standard.scale, &part.weights}) {
      numbers.insert(numbers.end(), list->begin(), list->end());
    }
    numbers.push_back(part.bias);
  };
  if (const TreeRegressors* trees = model.trees()) {
    add(trees->weighting);
    for (const auto& [type, regressor] : trees->primitives) add(regressor);
  }
  if (const EnergyLaw* law = model.law()) {
    for (const auto& term :
         {law->gpu_energy, law->cpu_energy, law->busy_w, std::optional(law->rest_w)}) {
      if (term) numbers.insert(numbers.end(), {term->value, term->deviation});
    }
  }
  return std::all_of(numbers.begin(), numbers.end(),
                     [](double number) { return std::isfinite(number); });
}

}  // namespace

uint64_t FitsToTrain(size_t models, const TrainOptions& options) {
  return 1 + (options.bands && models > 1 ? models : 0);
}

Result<EnergyModel> Train(const Dataset& data, const TrainOptions& options) {
  if (options.watch != nullptr) options.watch->Expect(FitsToTrain(ModelsOf(data).size(), options));
  return TrainExpected(data, options);
}

Result<EnergyModel> TrainExpected(const Dataset& data, const TrainOptions& options) {
  const Measurements all = Gather(data);
  const std::vector<Feature> known = KnownFeatures(data);
  auto model = Fit(all, ModelChoice(all.models.size(), true), known, options);
  if (!model) return model;
  model->trained_on.data = data.name;
  model->trained_on.models = all.models;
  for (const MeasuredRow& row : all.rows) {
    if (row.measured > 0) model->trained_on.nodes += row.count;
  }
  for (const ModelRun& run : data.runs) {
    if (!run.description) continue;
    model->trained_on.attention = run.description->attention;
    model->trained_on.dtype = run.description->dtype;
    break;
  }
  if (options.bands && all.models.size() > 1) {
    std::vector<Uncertainty> uncertainties;
    TrainOptions energy_only = options;
    energy_only.seconds = false;
    const auto predicted = TRY(PredictHeldOut(all, known, energy_only, nullptr, &uncertainties));
    if (auto* described = std::get_if<DescribedModel>(&model->learned)) {
      described->noise_factors =
          NoiseFactorsOf(all, predicted, uncertainties, kNoModel, options.nominal);
    }
    model->bands = BandsOf(all, predicted, kNoModel, options.nominal);
    for (size_t level = 0; level < kDataLevels.size(); ++level) {
      const double mape = MapeOverModels(all, predicted, level);
      model->trained_on.mape[level] = std::isfinite(mape) ? mape : kUnknown;
    }
  }
  if (!IsFinite(*model)) {
    return InvalidError(
        fmt::format("{}: method {} gives numbers that are out of range; look for rows with absurd "
                    "values, or use the method law",
                    data.name, MethodName(options.method)));
  }
  return model;
}

}  // namespace beryl::learn
