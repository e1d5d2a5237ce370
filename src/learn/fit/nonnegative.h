// Least squares with coefficients that must not be negative, such as costs.
#pragma once

#include <Eigen/Core>

namespace beryl::learn {

// x >= 0 that minimises |a x - b| (Lawson and Hanson). Columns of a that are all zero get 0.
Eigen::VectorXd SolveNonnegative(const Eigen::MatrixXd& a, const Eigen::VectorXd& b);

}  // namespace beryl::learn
