#include "learn/fit/nonnegative.h"

#include <random>

#include <gtest/gtest.h>

namespace beryl::learn {
namespace {

TEST(SolveNonnegative, IsLeastSquaresWhereThatIsNotBelowZero) {
  Eigen::MatrixXd a(3, 2);
  a << 1, 0, 0, 2, 1, 1;
  const Eigen::VectorXd x = Eigen::Vector2d(3, 0.5);
  EXPECT_LT((SolveNonnegative(a, a * x) - x).norm(), 1e-12);
}

TEST(SolveNonnegative, StopsAtZero) {
  Eigen::MatrixXd a = Eigen::MatrixXd::Identity(2, 2);
  const Eigen::VectorXd x = SolveNonnegative(a, Eigen::Vector2d(-1, 2));
  EXPECT_EQ(x[0], 0);
  EXPECT_NEAR(x[1], 2, 1e-12);
}

TEST(SolveNonnegative, ColumnsOfZerosGetNothing) {
  Eigen::MatrixXd a(2, 2);
  a << 1, 0, 1, 0;
  const Eigen::VectorXd x = SolveNonnegative(a, Eigen::Vector2d(1, 1));
  EXPECT_NEAR(x[0], 1, 1e-12);
  EXPECT_EQ(x[1], 0);
}

// Karush, Kuhn and Tucker: where a coefficient is above zero the gradient is zero, else it does not
// point up.
TEST(SolveNonnegative, HoldsItsConditionsOnRandomProblems) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  for (int round = 0; round < 50; ++round) {
    const Eigen::Index columns = 1 + round % 12;
    Eigen::MatrixXd a(40, columns);
    Eigen::VectorXd b(40);
    for (Eigen::Index i = 0; i < a.size(); ++i) a.data()[i] = normal(random);
    for (Eigen::Index i = 0; i < b.size(); ++i) b[i] = normal(random);
    const Eigen::VectorXd x = SolveNonnegative(a, b);
    const Eigen::VectorXd gradient = a.transpose() * (b - a * x);
    for (Eigen::Index i = 0; i < columns; ++i) {
      ASSERT_GE(x[i], 0);
      if (x[i] > 0) {
        EXPECT_NEAR(gradient[i], 0, 1e-8);
      } else {
        EXPECT_LE(gradient[i], 1e-8);
      }
    }
  }
}

}  // namespace
}  // namespace beryl::learn
