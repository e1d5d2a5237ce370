#include "types/description.h"

#include <cmath>

#include <gtest/gtest.h>

#include "types/described_prediction.h"

namespace beryl {
namespace {

TEST(WorkTest, IntensityNeedsBytes) {
  EXPECT_EQ((Work{.flops = 8, .bytes_read = 3, .bytes_written = 1}).Intensity(), 2);
  EXPECT_TRUE(std::isnan((Work{.flops = 8}).Intensity()));
}

TEST(TokensOfTest, EachPhaseHasItsOwn) {
  const ModelInput generation = {.batch = 2, .prompt = 10, .generate = 3};
  EXPECT_EQ(TokensOf(generation), 26);
  EXPECT_EQ(TokensOf(generation, RunPhase::kPrefill), 20);
  EXPECT_EQ(TokensOf(generation, RunPhase::kDecode), 6);
  EXPECT_EQ(TokensOf({.batch = 2, .seq = 5}, RunPhase::kForward), 10);
  EXPECT_EQ(TokensOf({.batch = 2, .seq = 197, .image_size = 224}), 0);
}

TEST(LayersOfTest, CountsTheOutermostNumberedModulesAsOftenAsTheyRun) {
  Description description;
  const auto add = [&](NodeId end, Level level, const char* name, double runs) {
    TreeNode node;
    node.end = end;
    node.level = level;
    node.name = name;
    description.tree.nodes.push_back(node);
    DescribedNode described;
    described.runs = runs;
    description.nodes.push_back(described);
  };
  add(6, Level::kModel, "t5-11b", 1);
  add(4, Level::kModule, "block.0", 1);
  add(3, Level::kModule, "layer.0", 1);
  add(4, Level::kMl, "fc1", 1);
  add(5, Level::kModule, "shared.0", 12);
  add(6, Level::kMl, "ln_1", 1);
  EXPECT_EQ(LayersOf(description), 13);
}

TEST(DescribedPredictionTest, WithoutTimeOrTokensNothingIsKnown) {
  DescribedPrediction prediction;
  prediction.description.nodes.resize(1);
  prediction.description.input = {.batch = 4, .seq = 5};
  prediction.energy.total = {10};
  EXPECT_FALSE(PowerOf(prediction, 0));
  EXPECT_EQ(EnergyPerToken(prediction, 0), Joules{0.5});
  prediction.seconds = {2};
  EXPECT_EQ(PowerOf(prediction, 0), Watts{5});
  prediction.description.input.image_size = 224;
  EXPECT_FALSE(EnergyPerToken(prediction, 0));
}

}  // namespace
}  // namespace beryl
