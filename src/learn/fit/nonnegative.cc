#include "learn/fit/nonnegative.h"

#include <Eigen/Core>
#include <vector>

#include "learn/fit/least_squares.h"

namespace beryl::learn {

Eigen::VectorXd SolveNonnegative(const Eigen::MatrixXd& a, const Eigen::VectorXd& b) {
  const Eigen::Index count = a.cols();
  // Scales columns to unit length and reduces the rows to the number of columns. The solution is
  // the same.
  Eigen::VectorXd length = a.colwise().norm();
  for (Eigen::Index i = 0; i < count; ++i) {
    if (!(length[i] > 0)) length[i] = 1;
  }
  Eigen::MatrixXd both(a.rows(), count + 1);
  both.leftCols(count) = a * length.cwiseInverse().asDiagonal();
  both.col(count) = b;
  if (both.rows() > count + 1) {
    both = TriangleOf(both);
  }
  const Eigen::MatrixXd r = both.leftCols(count);
  const Eigen::VectorXd target = both.col(count);

  Eigen::VectorXd x = Eigen::VectorXd::Zero(count);
  std::vector<bool> is_free(static_cast<size_t>(count), false);
  const double tolerance = 1e-12 * (1 + target.norm());
  for (int round = 0; round < 5 * count; ++round) {
    const Eigen::VectorXd gradient = r.transpose() * (target - r * x);
    Eigen::Index next = -1;
    for (Eigen::Index i = 0; i < count; ++i) {
      if (is_free[static_cast<size_t>(i)] || gradient[i] <= tolerance) continue;
      if (next < 0 || gradient[i] > gradient[next]) next = i;
    }
    if (next < 0) break;
    is_free[static_cast<size_t>(next)] = true;
    for (;;) {
      std::vector<Eigen::Index> free;
      for (Eigen::Index i = 0; i < count; ++i) {
        if (is_free[static_cast<size_t>(i)]) free.push_back(i);
      }
      if (free.empty()) break;
      // Least squares on the free columns only.
      const Eigen::VectorXd wanted = SolveLeastSquares(r(Eigen::all, free), target);
      // Moves towards it until the first coefficient reaches zero; that one stays at zero.
      double step = 1;
      for (size_t i = 0; i < free.size(); ++i) {
        const double to = wanted[static_cast<Eigen::Index>(i)];
        const double from = x[free[i]];
        if (to <= 0) step = std::min(step, from / (from - to));
      }
      if (!(step >= 0)) step = 0;
      bool all = true;
      for (size_t i = 0; i < free.size(); ++i) {
        double& at = x[free[i]];
        at += step * (wanted[static_cast<Eigen::Index>(i)] - at);
        if (at <= 1e-15 && wanted[static_cast<Eigen::Index>(i)] <= 0) {
          at = 0;
          is_free[static_cast<size_t>(free[i])] = false;
          all = false;
        }
      }
      if (all) break;
    }
  }
  return x.cwiseQuotient(length);
}

}  // namespace beryl::learn
