// A running sum that keeps the rounding error of each addition (Knuth's two-sum). The difference
// between two states of a sum is exact to the last bit of the *difference*, so the energy of a
// microjoule operation can be read off the running total of a megajoule run.
#pragma once

namespace beryl {

class CompensatedSum {
 public:
  void Add(double x) {
    const double sum = high_ + x;
    const double added = sum - high_;
    low_ += (high_ - (sum - added)) + (x - added);
    high_ = sum;
  }

  double value() const { return high_ + low_; }

  // What was added since `earlier`, a previous state of this sum.
  double Since(const CompensatedSum& earlier) const {
    return (high_ - earlier.high_) + (low_ - earlier.low_);
  }

 private:
  double high_ = 0;
  double low_ = 0;
};

}  // namespace beryl
