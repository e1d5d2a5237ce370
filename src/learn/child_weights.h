// IrEne's equations 3 and 4: what a child's energy counts in its parent's, learned over whole
// trees.
#pragma once

#include <cstdint>
#include <vector>

#include "learn/energy_model_file.h"
#include "learn/measurements.h"
#include "types/energy_model.h"

namespace beryl::learn {

inline size_t PolynomialTerms(size_t features) { return CubicTerms(features); }
// Those products of standardised features, in the order that ChildWeighting states.
void Expand(const Standard& standard, const std::vector<double>& features, float* terms);

struct WeightTraining {
  Method method = Method::kEnd2End;  // kEnd2End, kStepwise or kUnstructured
  uint64_t seed = 0;
  int epochs = 8;
};
// Trains on the given trees (indices into all.trees), one a step, with Adam at the published rate.
// `leaf_joules` is the predicted energy of ML primitives by row; trees have to be trainable.
ChildWeighting TrainChildWeights(const Measurements& all, const std::vector<uint32_t>& trees,
                                 const std::vector<Feature>& features,
                                 const std::vector<double>& leaf_joules,
                                 const WeightTraining& training);

// w . p(x) + b for each of `rows`.
std::vector<double> Score(const ChildWeighting& weighting, const Measurements& all,
                          const std::vector<uint32_t>& rows, const std::vector<Feature>& features);

}  // namespace beryl::learn
