#include "learn/fit/least_squares.h"

#include <Eigen/QR>

namespace beryl::learn {

Eigen::VectorXd SolveLeastSquares(const Eigen::MatrixXd& a, const Eigen::VectorXd& b) {
  return a.colPivHouseholderQr().solve(b);
}

Eigen::VectorXd SolveShortest(const Eigen::MatrixXd& a, const Eigen::VectorXd& b,
                              double collinear) {
  Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> solver;
  solver.setThreshold(collinear);
  solver.compute(a);
  return solver.solve(b);
}

Eigen::MatrixXd PseudoInverse(const Eigen::MatrixXd& a) {
  return a.completeOrthogonalDecomposition().pseudoInverse();
}

Eigen::MatrixXd TriangleOf(const Eigen::MatrixXd& a) {
  const Eigen::HouseholderQR<Eigen::MatrixXd> qr(a);
  return qr.matrixQR().topRows(a.cols()).triangularView<Eigen::Upper>();
}

}  // namespace beryl::learn
