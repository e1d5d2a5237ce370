// Predicts every model from the others, and measures the errors.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "learn/fit/fit.h"

namespace beryl::learn {

// Joules by node, each from a fit that has not seen the node's model. Fails with the first error of
// a fit. If given, `models` receives the fits by left-out model, and `uncertainties` the
// uncertainty of each prediction.
Result<std::vector<double>> PredictHeldOut(const Measurements& all,
                                           const std::vector<Feature>& known,
                                           const TrainOptions& options,
                                           std::vector<EnergyModel>* models = nullptr,
                                           std::vector<Uncertainty>* uncertainties = nullptr);

// The mean of the known values; unknown if there are none.
class Mean {
 public:
  void Add(double value) {
    if (std::isnan(value)) return;
    sum_ += value;
    ++count_;
  }
  double Get() const { return count_ > 0 ? sum_ / static_cast<double>(count_) : kUnknown; }
  uint64_t count() const { return count_; }

 private:
  double sum_ = 0;
  uint64_t count_ = 0;
};

// Absolute percentage error; NaN if either value is unknown.
double PercentageError(double predicted, double measured);

// Mean over models of the mean over their nodes of a level; NaN if there are none.
double MapeOverModels(const Measurements& all, const std::vector<double>& predicted, size_t level);

}  // namespace beryl::learn
