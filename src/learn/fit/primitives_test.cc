#include "learn/fit/primitives.h"

#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "learn/learn_testing.h"

namespace beryl::learn {
namespace {

const std::vector<Feature> kTwo = {Feature::kFlops, Feature::kMemBytes};

Dataset LinearData(size_t rows, bool collinear) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> uniform(1, 2);
  Dataset data;
  RunMaker maker("one", 8, 32);
  for (size_t i = 0; i < rows; ++i) {
    FeatureRow row = UnknownFeatures();
    const double flops = uniform(random);
    Set(row, Feature::kFlops, flops);
    Set(row, Feature::kMemBytes, collinear ? 3 * flops : uniform(random));
    const double joules = 0.5 + 2 * flops + 0.25 * At(row, Feature::kMemBytes);
    maker.Add(0, Level::kMl, std::to_string(i), "Linear", row, joules);
  }
  data.runs.push_back(maker.Take());
  return data;
}

std::vector<uint32_t> AllRows(const Measurements& all) {
  std::vector<uint32_t> rows(all.rows.size());
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

TEST(Primitives, FindALinearLaw) {
  const Dataset data = LinearData(50, false);
  const Measurements all = Gather(data);
  const auto found = FitPrimitives(all, AllRows(all), kTwo);
  ASSERT_EQ(found.count("linear"), 1U);
  for (const MeasuredRow& row : all.rows) {
    EXPECT_NEAR(Apply(found.at("linear"), Pick(row.features, kTwo)), row.measured, 1e-9);
  }
}

TEST(Primitives, CollinearFeaturesShareTheWeight) {
  const Dataset data = LinearData(50, true);
  const Measurements all = Gather(data);
  const auto found = FitPrimitives(all, AllRows(all), kTwo);
  const PrimitiveRegressor& regressor = found.at("linear");
  EXPECT_NEAR(regressor.weights[0], regressor.weights[1], 1e-9);
  EXPECT_NEAR(Apply(regressor, {1.5, 4.5}), 0.5 + 2 * 1.5 + 0.25 * 4.5, 1e-9);
}

// Each measurement counts as often as there are nodes of it.
TEST(Primitives, SharedMeasurementsWeighMore) {
  Dataset data = LinearData(3, false);
  data.runs[0].measured = {1, 2, 9};
  Dataset repeated = data;
  ModelRun& run = repeated.runs[0];
  for (int copy = 0; copy < 4; ++copy) {
    TreeNode node = run.tree.nodes[2];
    node.end = static_cast<NodeId>(run.tree.nodes.size() + 1);
    run.tree.nodes.push_back(node);
    run.features.push_back(run.features[2]);
    run.measured.push_back(run.measured[2]);
  }
  const std::vector<Feature> one = {Feature::kFlops};
  const Measurements all = Gather(repeated);
  EXPECT_EQ(all.rows.size(), 3U);
  EXPECT_EQ(all.rows[2].count, 5U);
  const auto found = FitPrimitives(all, AllRows(all), one);
  EXPECT_EQ(found.at("linear").samples, 7U);
  EXPECT_NEAR(found.at("linear").bias, (1 + 2 + 5 * 9) / 7.0, 1e-12);
}

TEST(Primitives, WhatDoesNotVaryHasScaleOne) {
  const Dataset data = LinearData(5, false);
  Measurements all = Gather(data);
  for (MeasuredRow& row : all.rows) Set(row.features, Feature::kFlops, 3802);
  const Standard standard = StandardOf(all, AllRows(all), kTwo);
  EXPECT_EQ(standard.scale[0], 1);
  EXPECT_NE(standard.scale[1], 1);
}

}  // namespace
}  // namespace beryl::learn
