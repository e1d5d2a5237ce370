// The steps of a method. Each method is a file in this folder that defines its steps; BERYL_METHODS
// in types/energy_model.h lists the methods.
#pragma once

#include <variant>
#include <vector>

#include "base/result.h"
#include "learn/fit/intervals.h"
#include "learn/fit/measurements.h"
#include "learn/members.h"
#include "learn/train.h"
#include "types/energy_model.h"

namespace beryl::learn {

struct FitInput {
  const Measurements& all;
  const ModelChoice& models;          // to learn from
  const std::vector<Feature>& known;  // in all data, also in the data to be predicted
  const TrainOptions& options;
};

struct MethodSteps {
  // Fails if the method cannot learn from data with these features. The error says what is missing
  // and what to do. nullptr: it can learn from any data.
  Status (*check)(FeatureSet set, const std::vector<Feature>& known) = nullptr;
  // Fills in `features` and `learned` of a model. `known` has passed the check.
  Status (*fit)(const FitInput& input, EnergyModel& model) = nullptr;
  // Joules by node of the chosen models; NaN: another model, or no prediction is possible.
  // `uncertainties` receives the uncertainty of each prediction if the method estimates it; it may
  // be nullptr.
  std::vector<double> (*predict)(const EnergyModel& model, const Measurements& all,
                                 const ModelChoice& models,
                                 std::vector<Uncertainty>* uncertainties) = nullptr;
  // The members of the model's file that belong to this method.
  void (*read)(ObjectReader& io, EnergyModel& model) = nullptr;
  void (*write)(MemberWriter& io, const EnergyModel& model) = nullptr;
};

#define BERYL_METHOD_STEPS(id, ...) extern const MethodSteps id##Steps;
BERYL_METHODS(BERYL_METHOD_STEPS)
#undef BERYL_METHOD_STEPS

const MethodSteps& StepsOf(Method method);

// The learned part of type T, created if a file being read has none yet.
template <typename T>
auto& LearnedAs(As<EnergyModel> auto& model) {
  if constexpr (!std::is_const_v<std::remove_reference_t<decltype(model)>>) {
    if (!std::holds_alternative<T>(model.learned)) model.learned.template emplace<T>();
  }
  return std::get<T>(model.learned);
}
// The read and write steps of a struct whose operator()(io, model) names the members.
template <typename Part>
void ReadPart(ObjectReader& io, EnergyModel& model) {
  Part()(io, model);
}
template <typename Part>
void WritePart(MemberWriter& io, const EnergyModel& model) {
  Part()(io, model);
}

}  // namespace beryl::learn
