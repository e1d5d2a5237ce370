// Least squares with coefficients that may not be below zero, as costs may not.
#pragma once

#include <Eigen/Core>

namespace beryl::learn {

// x >= 0 with the least |a x - b| (Lawson and Hanson). Columns of a that are all zero get 0.
Eigen::VectorXd SolveNonnegative(const Eigen::MatrixXd& a, const Eigen::VectorXd& b);

}  // namespace beryl::learn
