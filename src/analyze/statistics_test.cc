#include "analyze/statistics.h"

#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <random>

#include "base/matchers_for_test.h"

namespace beryl::analyze {
namespace {

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

TEST(StudentTest, QuantilesAsInTheTables) {
  EXPECT_NEAR(StudentQuantile(0.05, 1), 12.706204736, 1e-8);
  EXPECT_NEAR(StudentQuantile(0.05, 2), 4.302652730, 1e-8);
  EXPECT_NEAR(StudentQuantile(0.05, 10), 2.228138852, 1e-8);
  EXPECT_NEAR(StudentQuantile(0.01, 5), 4.032142984, 1e-8);
  EXPECT_NEAR(StudentQuantile(0.4, 10), 0.879057829, 1e-8);
  EXPECT_NEAR(StudentQuantile(0.05, 1e12), 1.959963985, 1e-8);
  EXPECT_NEAR(StudentQuantile(0.05, std::numeric_limits<double>::infinity()), 1.959963985, 1e-8);
  for (double freedom = 0.5; freedom < 40; freedom += 0.1) {
    EXPECT_GE(StudentQuantile(0.05, freedom), StudentQuantile(0.05, freedom + 0.1));
  }
}

// With one degree of freedom it is Cauchy's distribution, with two it has a closed form.
TEST(StudentTest, TailsInClosedForm) {
  for (const double t : {0.0, 1e-9, 1e-3, 0.1, 0.5, 1.0, 2.0, 10.0, 1e3, 1e8}) {
    const double cauchy = 1 - 2 * std::atan(t) / std::numbers::pi;
    EXPECT_NEAR(StudentTail(t, 1), cauchy, 1e-14) << t;
    EXPECT_NEAR(StudentTail(t, 2), 1 - t / std::sqrt(2 + t * t), 1e-14) << t;
  }
  // Where 1 - x has no digits left.
  EXPECT_NEAR(StudentTail(1e8, 1) / (2e-8 / std::numbers::pi), 1, 1e-10);
  EXPECT_NEAR(StudentTail(1e8, 2) / 1e-16, 1, 1e-10);
  EXPECT_NEAR(StudentTail(3, 1e6) / std::erfc(3 / std::numbers::sqrt2), 1, 2e-4);
  EXPECT_EQ(StudentTail(std::numeric_limits<double>::infinity(), 4), 0);
}

TEST(StudentTest, TheQuantileInvertsTheTail) {
  for (const double freedom : {0.7, 1.0, 3.3, 20.0, 1e4, 1e8}) {
    for (const double tail : {0.9, 0.2, 0.05, 1e-3, 1e-9}) {
      EXPECT_NEAR(StudentTail(StudentQuantile(tail, freedom), freedom) / tail, 1, 1e-6);
    }
  }
}

TEST(SpreadTest, WelchByHand) {
  // Equal deviations and sizes: 2 (n - 1) = 4 degrees of freedom, variance 9 * 2 / 3.
  const Spread one = SpreadOfMean({7, 10, 13});
  EXPECT_DOUBLE_EQ(one.variance, 3);
  EXPECT_DOUBLE_EQ(one.freedom, 2);
  const Spread both = SumOf({one, one});
  EXPECT_DOUBLE_EQ(both.variance, 6);
  EXPECT_DOUBLE_EQ(both.freedom, 4);
  EXPECT_GT(SumOf({one, {3}}).freedom, 2) << "a part that is known adds no doubt";
  EXPECT_DOUBLE_EQ(SumOf({SpreadOfMean({5, 5}), SpreadOfMean({9, 9, 9})}).variance, 0);
}

TEST(FindAmongManyTest, AsInBenjaminiAndHochberg) {
  // The example of their paper of 1995: 15 hypotheses, four rejected at 5 %.
  const std::vector<double> p = {0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344,
                                 0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0000};
  const std::vector<bool> found = FindAmongMany(p, 0.05);
  EXPECT_EQ(std::count(found.begin(), found.end(), true), 4);
  EXPECT_TRUE(found[3]);
  EXPECT_FALSE(found[4]);
  EXPECT_THAT(FindAmongMany({NAN, 0.04, NAN}, 0.05), ElementsAre(false, true, false))
      << "what was not tested does not count";
  EXPECT_THAT(FindAmongMany({}, 0.05), ElementsAre());
}

TEST(AutocorrelationTimeTest, OfKnownProcesses) {
  std::mt19937_64 random(5);
  std::normal_distribution<double> noise;
  for (const double kept : {0.0, 0.5, 0.8}) {
    double mean = 0;
    for (int turn = 0; turn < 20; ++turn) {
      std::vector<double> series;
      double state = 0;
      for (int i = 0; i < 2000; ++i) {
        state = kept * state + noise(random);
        series.push_back(100 + state + 0.01 * i);
      }
      mean += AutocorrelationTime(series) / 20;
    }
    const double expected = (1 + kept) / (1 - kept);
    EXPECT_NEAR(mean, expected, 0.15 * expected) << "a linear trend does not count";
  }
  EXPECT_EQ(AutocorrelationTime({1, 9, 1}), 1);
  EXPECT_EQ(AutocorrelationTime(std::vector<double>(100, 7)), 1);
}

}  // namespace
}  // namespace beryl::analyze
