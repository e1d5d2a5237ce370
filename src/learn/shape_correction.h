// What primitives of a shape cost other than their kind says, learned as a Gaussian process.
#pragma once

#include <Eigen/Core>
#include <array>
#include <string>
#include <vector>

#include "types/described_model.h"

namespace beryl::learn {

struct CorrectionSample {
  std::string type;
  std::array<double, 4> sizes = {};
  double correction = 0;  // log(measured / by kind)
  double variance = 0;    // that is known to come on top of the noise
};

// Length, spread and noise are those that make the samples most likely, of a few. Samples of one
// shape are merged.
ShapeCorrection FitCorrection(const std::vector<CorrectionSample>& samples);

// Ready to be asked.
class CorrectionModel {
 public:
  explicit CorrectionModel(const ShapeCorrection& correction);

  struct Answer {
    double correction = 0;
    double deviation = 0;  // standard deviation
    double distance = 0;   // to the nearest shape that was measured: logarithms
  };
  Answer Ask(const std::string& type, const std::array<double, 4>& sizes) const;
  bool empty() const { return correction_->points.empty(); }

 private:
  const ShapeCorrection* correction_;  // outlives this
  Eigen::MatrixXd factor_;             // Cholesky factor, lower
  Eigen::VectorXd weights_;
};

}  // namespace beryl::learn
