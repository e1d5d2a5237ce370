// Fitting costs where one of two things is the bottleneck: a device that works for D = device . a,
// or a host that issues its work for H = host . h. What is measured is the larger of D and
// H + (1 - overlap) x D.
#pragma once

#include <Eigen/Core>
#include <optional>

namespace beryl::learn {

struct BottleneckRows {
  Eigen::MatrixXd device;
  Eigen::MatrixXd host;
  Eigen::VectorXd measured;  // above 0
};

// Where the data says nothing of a coefficient, it stays here.
struct BottleneckPrior {
  Eigen::VectorXd value;  // of device and host coefficients
  Eigen::VectorXd scale;  // how far from it is far
  double weight = 0;      // against one row of data
};

struct BottleneckFit {
  Eigen::VectorXd costs;  // of device, then host; none below 0
  double error = 0;       // mean absolute relative error of the rows
};

// Least absolute relative error, by reweighting. `start`: without a prior, the share of the least
// energy an operation that is taken for the host's at first.
BottleneckFit FitBottleneck(const BottleneckRows& rows, double overlap,
                            const std::optional<BottleneckPrior>& prior, double start = 0.8);

}  // namespace beryl::learn
