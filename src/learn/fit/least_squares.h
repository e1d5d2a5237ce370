// Matrix decompositions. They take seconds to compile, so only this file's source does it.
#pragma once

#include <Eigen/Core>

namespace beryl::learn {

// x that minimises |a x - b|. If there are several, redundant columns get 0.
Eigen::VectorXd SolveLeastSquares(const Eigen::MatrixXd& a, const Eigen::VectorXd& b);

// x that minimises |a x - b|; if there are several, the shortest. A column is collinear if less
// than the share `collinear` of the largest pivot remains of it.
Eigen::VectorXd SolveShortest(const Eigen::MatrixXd& a, const Eigen::VectorXd& b, double collinear);

Eigen::MatrixXd PseudoInverse(const Eigen::MatrixXd& a);

// The upper triangular matrix r with as many rows as `a` has columns, for which |r x| = |a x| for
// every x. `a` must have at least as many rows as columns.
Eigen::MatrixXd TriangleOf(const Eigen::MatrixXd& a);

}  // namespace beryl::learn
