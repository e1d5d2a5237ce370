// Fits costs where one of two things is the bottleneck: a device that works for D = device . a, or
// a host that issues the work for H = host . h. The measured value is the larger of D and H + (1 -
// overlap) x D.
#pragma once

#include <Eigen/Core>
#include <optional>

namespace beryl::learn {

struct BottleneckRows {
  Eigen::MatrixXd device;
  Eigen::MatrixXd host;
  Eigen::VectorXd measured;  // above 0
};

// Coefficients that the data does not determine stay at these values.
struct BottleneckPrior {
  Eigen::VectorXd value;  // device coefficients, then host coefficients
  Eigen::VectorXd scale;  // typical distance from `value`
  double weight = 0;      // relative to one row of data
};

struct BottleneckFit {
  Eigen::VectorXd costs;  // device, then host; none is negative
  double error = 0;       // mean absolute relative error of the rows
};

// Minimises the absolute relative error by reweighting. Without a prior, the fit first assigns the
// share `start` of the smallest energy per operation to the host.
BottleneckFit FitBottleneck(const BottleneckRows& rows, double overlap,
                            const std::optional<BottleneckPrior>& prior, double start = 0.8);

}  // namespace beryl::learn
