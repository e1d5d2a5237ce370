// Decompositions of matrices. They take seconds to compile, so that it is done in one place.
#pragma once

#include <Eigen/Core>

namespace beryl::learn {

// x with the least |a x - b|; of several, one where columns that others make up for get 0.
Eigen::VectorXd SolveLeastSquares(const Eigen::MatrixXd& a, const Eigen::VectorXd& b);

// x with the least |a x - b|; of several, the shortest. Columns count as collinear where less than
// this share of the largest pivot is left of one.
Eigen::VectorXd SolveShortest(const Eigen::MatrixXd& a, const Eigen::VectorXd& b, double collinear);

Eigen::MatrixXd PseudoInverse(const Eigen::MatrixXd& a);

// Upper triangular, of as many rows as `a` has columns: |r x| is |a x| for every x. `a` has at
// least that many.
Eigen::MatrixXd TriangleOf(const Eigen::MatrixXd& a);

}  // namespace beryl::learn
