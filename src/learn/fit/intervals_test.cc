#include "learn/fit/intervals.h"

#include <cmath>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace beryl::learn {
namespace {

// Whatever the errors look like, as many of those to come lie in the band as it says.
TEST(Intervals, HoldWhatTheyPromise) {
  std::mt19937_64 random(11);
  std::lognormal_distribution<double> skewed(0.1, 0.2);
  std::cauchy_distribution<double> heavy(1, 0.01);
  for (const size_t count : {20U, 60U, 500U}) {
    for (const bool is_heavy : {false, true}) {
      auto draw = [&] { return is_heavy ? std::abs(heavy(random)) : skewed(random); };
      double inside = 0;
      double all = 0;
      for (int round = 0; round < 300; ++round) {
        std::vector<double> ratios(count);
        for (double& ratio : ratios) ratio = draw();
        const ErrorBand band = BandOf(ratios, 0.9);
        for (int i = 0; i < 50; ++i) {
          const double ratio = draw();
          inside += band.low <= ratio && ratio <= band.high ? 1 : 0;
          all += 1;
        }
      }
      EXPECT_NEAR(inside / all, 0.9, 0.03) << count << (is_heavy ? " heavy" : " skewed");
    }
  }
}

TEST(Intervals, FewRatiosGiveTheirWorstOnBothSides) {
  const ErrorBand band = BandOf({0.99, 1.02, 1.0, 0.97}, 0.9);
  EXPECT_DOUBLE_EQ(band.low, 0.97);
  EXPECT_DOUBLE_EQ(band.high, 1.03);
  EXPECT_EQ(band.nodes, 4U);
}

TEST(Intervals, NothingHeldOutIsNoBand) {
  EXPECT_EQ(BandOf({}, 0.9).nodes, 0U);
  EXPECT_TRUE(std::isnan(IntervalOf(5, BandOf({}, 0.9), 0).low));
}

TEST(Intervals, WhatCannotBeBoundedIsNoBand) {
  const std::vector<double> ratios(50, std::numeric_limits<double>::infinity());
  EXPECT_EQ(BandOf(ratios, 0.9).nodes, 0U);
}

// Errors of a model's nodes have causes in common. A factor from the nodes of five models alone
// would hold 84 % of the nodes of a sixth.
TEST(Intervals, HoldAModelThatIsNotAmongThem) {
  constexpr uint32_t kModels = 6;
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal(0, 1);
  double inside = 0;
  double nodes = 0;
  for (int round = 0; round < 300; ++round) {
    Measurements all;
    std::vector<double> predicted;
    for (uint32_t model = 0; model < kModels; ++model) {
      const double common = 0.95 * normal(random);
      for (int i = 0; i < 30; ++i) {
        MeasuredRow row;
        row.model = model;
        row.measured = 1;
        predicted.push_back(std::exp(0.01 * (common + 0.3 * normal(random))));
        all.nodes.push_back({static_cast<uint32_t>(all.rows.size()), 0, true});
        all.rows.push_back(row);
      }
    }
    const std::vector<Uncertainty> noise(predicted.size(), Uncertainty{0.01, 0});
    const double factor = NoiseFactorsOf(all, predicted, noise, kModels - 1, 0.9)[0];
    for (size_t i = 0; i < predicted.size(); ++i) {
      if (all.rows[i].model != kModels - 1) continue;
      const Interval interval = IntervalOf(predicted[i], noise[i], factor);
      inside += interval.low <= 1 && 1 <= interval.high ? 1 : 0;
      nodes += 1;
    }
  }
  EXPECT_NEAR(inside / nodes, 0.9, 0.03);
}

// With two models, each could only be judged by the other.
TEST(Intervals, OfTwoModelsAreThoseOfTheirNodes) {
  Measurements all;
  std::vector<double> predicted;
  for (uint32_t i = 0; i < 20; ++i) {
    MeasuredRow row;
    row.model = i % 2;
    row.measured = 1;
    predicted.push_back(std::exp(i % 2 == 0 ? 0.01 : 0.05));
    all.nodes.push_back({i, 0, true});
    all.rows.push_back(row);
  }
  const std::vector<Uncertainty> noise(predicted.size(), Uncertainty{0.01, 0});
  const auto factors = NoiseFactorsOf(all, predicted, noise, kNoModel, 0.9);
  EXPECT_NEAR(factors[0], 5, 1e-9);
  EXPECT_EQ(factors[1], 0) << "there are no nodes of that level";
}

TEST(Intervals, DoubtWidens) {
  const ErrorBand band{0.9, 1.1, 100};
  const Interval sure = IntervalOf(10, band, 0);
  const Interval unsure = IntervalOf(10, band, 2);
  EXPECT_DOUBLE_EQ(sure.low, 9);
  EXPECT_DOUBLE_EQ(sure.high, 11);
  EXPECT_LT(unsure.low, 7);
  EXPECT_GT(unsure.high, 13);
  EXPECT_GE(IntervalOf(10, band, 100).low, 0);
}

}  // namespace
}  // namespace beryl::learn
