// How much primitives of a shape deviate from the cost of their kind, learned as a Gaussian
// process.
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
  double variance = 0;    // known variance in addition to the noise
};

// Chooses, from a few candidates, the length, spread and noise that maximise the likelihood of the
// samples. Samples of the same shape are merged.
ShapeCorrection FitCorrection(const std::vector<CorrectionSample>& samples);

// A fitted correction, prepared for evaluation.
class CorrectionModel {
 public:
  explicit CorrectionModel(const ShapeCorrection& correction);

  struct Answer {
    double correction = 0;
    double deviation = 0;  // standard deviation
    double distance = 0;   // logarithmic distance to the nearest measured shape
  };
  Answer Ask(const std::string& type, const std::array<double, 4>& sizes) const;
  bool empty() const { return correction_->points.empty(); }

 private:
  const ShapeCorrection* correction_;  // must outlive this object
  Eigen::MatrixXd factor_;             // Cholesky factor, lower
  Eigen::VectorXd weights_;
};

}  // namespace beryl::learn
