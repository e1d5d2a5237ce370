// Intervals by conformal calibration: how far held-out nodes were from their prediction.
#pragma once

#include <array>
#include <vector>

#include "learn/fit/measurements.h"
#include "types/energy_model.h"

namespace beryl::learn {

// The band that contains the share `nominal` of `ratios` (measured / predicted of held-out nodes),
// corrected for the sample size. With too few ratios for two tails, the band is symmetric around 1.
// Without ratios, or if the band would not be finite, there is no band (nodes = 0).
ErrorBand BandOf(std::vector<double> ratios, double nominal);

// A band for each level, from the predictions (by node) of all models except `except`.
std::array<ErrorBand, 3> BandsOf(const Measurements& all, const std::vector<double>& predicted,
                                 uint32_t except, double nominal);
inline constexpr uint32_t kNoModel = ~uint32_t{0};

struct Interval {
  double low = kUnknown;
  double high = kUnknown;
};
// The interval around a prediction. The law's own doubt, a standard deviation in joules, widens it.
Interval IntervalOf(double predicted, const ErrorBand& band, double doubt);
// The uncertainty of a prediction: standard deviations of its logarithm. Calibration scales the
// noise; the doubt, about inputs outside the measured range, is not scaled.
struct Uncertainty {
  double noise = 0;
  double doubt = 0;
};
// By level: the factor for the noise with which the share `nominal` of the nodes of a model that is
// not among these is inside its interval, from all models except `except`. 0: there are no nodes.
std::array<double, 3> NoiseFactorsOf(const Measurements& all, const std::vector<double>& predicted,
                                     const std::vector<Uncertainty>& uncertainties, uint32_t except,
                                     double nominal);
Interval IntervalOf(double predicted, const Uncertainty& spread, double noise_factor);
// That doubt; 0 for methods that do not estimate it.
double DoubtOf(const EnergyModel& model, const FeatureRow& features);

}  // namespace beryl::learn
