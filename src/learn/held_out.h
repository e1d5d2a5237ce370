// Predictions of every model by what was learned from the others, and how far off they are.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "learn/fit.h"

namespace beryl::learn {

// Joules by node, each from a fit that has not seen the node's model. Fails with the first error of
// a fit. `models` takes the fits, by model left out, and `spreads` how sure each prediction is,
// where they are given.
Result<std::vector<double>> PredictHeldOut(const Measurements& all,
                                           const std::vector<Feature>& known,
                                           const TrainOptions& options,
                                           std::vector<EnergyModel>* models = nullptr,
                                           std::vector<Spread>* spreads = nullptr);

// A mean of what is known that knows whether there was anything.
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

// Absolute percentage error; NaN where either is not known.
double PercentageError(double predicted, double measured);

// Mean over models of the mean over their nodes of a level; NaN: there is none.
double MapeOverModels(const Measurements& all, const std::vector<double>& predicted, size_t level);

}  // namespace beryl::learn
