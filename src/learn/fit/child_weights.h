// IrEne's equations 3 and 4: the weight of a child's energy in its parent's, learned over whole
// trees.
#pragma once

#include <cstdint>
#include <vector>

#include "base/work_watch.h"
#include "learn/fit/measurements.h"
#include "types/energy_model.h"

namespace beryl::learn {

// The number of products of up to three of n features: C(n + 3, 3).
inline constexpr size_t CubicTerms(size_t features) {
  return (features + 1) * (features + 2) * (features + 3) / 6;
}
// Computes these products of standardised features, in the order given at ChildWeighting.
void Expand(const Standard& standard, const std::vector<double>& features, float* terms);

struct WeightTraining {
  Method method = Method::kEnd2End;  // kEnd2End, kStepwise or kUnstructured
  uint64_t seed = 0;
  int epochs = 8;
  const WorkWatch* watch = nullptr;  // that says when to end early
};
// Trains on the given trees (indices into all.trees), one tree per step, with Adam at the published
// learning rate. `leaf_joules` is the predicted energy of ML primitives by row. The trees must be
// trainable.
ChildWeighting TrainChildWeights(const Measurements& all, const std::vector<uint32_t>& trees,
                                 const std::vector<Feature>& features,
                                 const std::vector<double>& leaf_joules,
                                 const WeightTraining& training);

// w . p(x) + b for each of `rows`.
std::vector<double> Score(const ChildWeighting& weighting, const Measurements& all,
                          const std::vector<uint32_t>& rows, const std::vector<Feature>& features);

}  // namespace beryl::learn
