// The energy that the GPU driver reports times the power usage effectiveness, as in Strubell et al.
#include "learn/methods/method.h"

namespace beryl::learn {
namespace {

Status Check(FeatureSet set, const std::vector<Feature>& known) {
  if (set == FeatureSet::kModel) {
    return MisuseError(
        "the baseline uses the GPU's energy; it does not work with features of the model alone",
        {"features"});
  }
  if (!Has(known, Feature::kGpuEnergy)) {
    return InvalidError("the baseline needs the energy of the GPU driver (gpu_energy_mean)");
  }
  return {};
}

Status Fit(const FitInput& input, EnergyModel& model) {
  model.features = {Feature::kGpuEnergy};
  model.learned = Baseline{input.options.pue};
  return {};
}

std::vector<double> Predict(const EnergyModel& model, const Measurements& all,
                            const ModelChoice& models, std::vector<Uncertainty>*) {
  const double pue = std::get<Baseline>(model.learned).pue;
  return ByNode(all, models, [pue](const MeasuredRow& row) {
    return pue * At(row.features, Feature::kGpuEnergy);
  });
}

struct Part {
  void operator()(auto& io, auto& model) const {
    auto& baseline = LearnedAs<Baseline>(model);
    io("pue", baseline.pue);
    io.Require(baseline.pue > 0, "pue", "must be above 0");
  }
};

}  // namespace

const MethodSteps kBaselineSteps = {Check, Fit, Predict, ReadPart<Part>, WritePart<Part>};

}  // namespace beryl::learn
