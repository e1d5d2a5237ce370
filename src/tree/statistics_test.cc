#include "tree/statistics.h"

#include <cmath>
#include <numeric>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace beryl::tree {
namespace {

using ::testing::IsNan;

TEST(PearsonTest, TheExampleOfThePaper) {
  EXPECT_NEAR(
      Pearson({21, 21, 54, 54, 118, 118, 184, 100, 200}, {15, 15, 23, 23, 59, 59, 92, 50, 100}),
      0.9958, 5e-5);
}

TEST(PearsonTest, ByHand) {
  EXPECT_DOUBLE_EQ(Pearson({1, 2, 3}, {2, 4, 6}), 1);
  EXPECT_DOUBLE_EQ(Pearson({1, 2, 3}, {3, 2, 1}), -1);
  // Deviations -1, 0, 1 and -1, 1, 0: 1 / 2.
  EXPECT_NEAR(Pearson({1, 2, 3}, {1, 3, 2}), 0.5, 1e-15);
}

TEST(PearsonTest, UndefinedIsNotZero) {
  EXPECT_THAT(Pearson({}, {}), IsNan());
  EXPECT_THAT(Pearson({1}, {1}), IsNan()) << "one point";
  EXPECT_THAT(Pearson({1, 2}, {3, 3}), IsNan()) << "no variance";
  EXPECT_THAT(Pearson({0, 0}, {1, 2}), IsNan());
  EXPECT_THAT(Pearson({1, NAN}, {NAN, 2}), IsNan()) << "no name is known in both";
  EXPECT_THAT(Pearson({100, 100.00000000001, 99.99999999999}, {1, 2, 3}), IsNan())
      << "what rounding leaves of a flat power is no variance";
}

TEST(PearsonTest, UnknownPairsAreLeftOut) {
  EXPECT_DOUBLE_EQ(Pearson({1, NAN, 2, 3}, {2, 9, 4, 6}), 1);
}

TEST(PearsonTest, LawsOfACorrelation) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> number(0, 1);
  for (int turn = 0; turn < 200; ++turn) {
    const size_t size = 2 + random() % 20;
    std::vector<double> a;
    std::vector<double> b;
    for (size_t i = 0; i < size; ++i) {
      a.push_back(number(random));
      b.push_back(number(random));
    }
    const double r = Pearson(a, b);
    EXPECT_LE(std::fabs(r), 1);
    EXPECT_DOUBLE_EQ(r, Pearson(b, a)) << "symmetric";
    EXPECT_DOUBLE_EQ(Pearson(a, a), 1);
    for (const double scale : {1e-200, 1e-6, 1e6, 1e200}) {
      std::vector<double> scaled = a;
      for (double& value : scaled) value *= scale;
      EXPECT_NEAR(Pearson(scaled, b), r, 1e-9) << "whatever the unit";
    }
    std::vector<size_t> order(size);
    std::iota(order.begin(), order.end(), size_t{0});
    std::shuffle(order.begin(), order.end(), random);
    std::vector<double> shuffled_a;
    std::vector<double> shuffled_b;
    for (const size_t i : order) {
      shuffled_a.push_back(a[i]);
      shuffled_b.push_back(b[i]);
    }
    EXPECT_NEAR(Pearson(shuffled_a, shuffled_b), r, 1e-9) << "whatever the order";
  }
}

TEST(StudentQuantileTest, AsInTheTables) {
  EXPECT_NEAR(StudentQuantile(1), 12.706, 1e-3);
  EXPECT_NEAR(StudentQuantile(2), 4.303, 1e-3);
  EXPECT_NEAR(StudentQuantile(10), 2.228, 1e-3);
  EXPECT_NEAR(StudentQuantile(30), 2.042, 1e-3);
  EXPECT_NEAR(StudentQuantile(60), 2.000, 1e-3);
  EXPECT_NEAR(StudentQuantile(1e9), 1.960, 1e-3);
  EXPECT_NEAR(StudentQuantile(0.5), 12.706, 1e-3);
  for (double freedom = 1; freedom < 40; freedom += 0.1) {
    EXPECT_GE(StudentQuantile(freedom), StudentQuantile(freedom + 0.1));
  }
}

TEST(ChanceDifferenceTest, ByHand) {
  // Equal deviations and sizes: 2 (n - 1) = 4 degrees of freedom, standard error 3 * sqrt(2 / 3).
  const auto noise = ChanceDifference({10, 3, 3}, {20, 3, 3});
  ASSERT_TRUE(noise);
  EXPECT_NEAR(*noise, 2.7764 * 3 * std::sqrt(2.0 / 3), 1e-3);
  EXPECT_EQ(ChanceDifference({1, 0, 5}, {2, 0, 5}), 0);
}

TEST(ChanceDifferenceTest, OneStepTellsNothing) {
  EXPECT_FALSE(ChanceDifference({1, 0, 1}, {1, 1, 9}));
  EXPECT_FALSE(ChanceDifference({1, 1, 9}, {}));
}

}  // namespace
}  // namespace beryl::tree
