// A running sum that keeps what each addition rounds away (Knuth's two-sum). The difference of two
// states of one sum is then exact to the last bit of the *difference*, which is what lets an
// operation of a microjoule be read off the running total of a run of megajoules.
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

  // What was added since `earlier`, a former state of this sum.
  double Since(const CompensatedSum& earlier) const {
    return (high_ - earlier.high_) + (low_ - earlier.low_);
  }

 private:
  double high_ = 0;
  double low_ = 0;
};

}  // namespace beryl
