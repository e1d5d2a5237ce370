// Intervals by conformal calibration: how far nodes that were held out lay from their prediction.
#pragma once

#include <array>
#include <vector>

#include "learn/measurements.h"
#include "types/energy_model.h"

namespace beryl::learn {

// The band that holds a share `nominal` of `ratios` (measured / predicted of held-out nodes), with
// the correction for how few they are. Too few for two tails: the same on both sides of 1. Not
// finite or none: no band (nodes = 0).
ErrorBand BandOf(std::vector<double> ratios, double nominal);

// A band for each level from the predictions (by node) for the models that are not `except`.
std::array<ErrorBand, 3> BandsOf(const Measurements& all, const std::vector<double>& predicted,
                                 uint32_t except, double nominal);
inline constexpr uint32_t kNoModel = ~uint32_t{0};

struct Interval {
  double low = kUnknown;
  double high = kUnknown;
};
// Around a prediction. What the law itself leaves open widens it: a standard deviation in joules.
Interval IntervalOf(double predicted, const ErrorBand& band, double doubt);
// How sure a prediction is: standard deviations of its logarithm. Noise is what calibration
// scales; doubt, about what lies outside of what was measured, stays as it is.
struct Spread {
  double noise = 0;
  double doubt = 0;
};
// By level: what noise has to be multiplied by so that the intervals of a share `nominal` of the
// nodes hold, of models that are not `except`. 0: there are none.
std::array<double, 3> NoiseFactorsOf(const Measurements& all, const std::vector<double>& predicted,
                                     const std::vector<Spread>& spreads, uint32_t except,
                                     double nominal);
Interval IntervalOf(double predicted, const Spread& spread, double noise_factor);
// That doubt; 0 for methods that have none.
double DoubtOf(const EnergyModel& model, const FeatureRow& features);

}  // namespace beryl::learn
