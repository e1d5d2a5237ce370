#include "analyze/analyze.h"
#include "analyze/analyze_testing.h"
#include "base/matchers_for_test.h"

namespace beryl::analyze {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

OperationRanking RankAs(TraceMaker& maker, const RankingOptions& options) {
  const TraceTree built = Build(maker.trace());
  const bool apart = options.kind == OperationRanking::Kind::kTef;
  return Rank(maker.trace(), maker.footprint(), apart ? built : Fold(built), options);
}

std::vector<std::string> NamesOf(const OperationTable& rows) {
  std::vector<std::string> names;
  for (const OperationRow& row : rows) names.push_back(row.name);
  return names;
}

TEST(RankingTest, DevicesAreAddedUpAndKeptApartBeside) {
  TraceMaker maker;
  maker.trace().devices = {"CPU:0"};
  const uint32_t small = maker.Kind("a/MatMul");
  const uint32_t large = maker.Kind("b/MatMul");
  maker.Share(small, 6, "CPU:0");
  maker.Share(large, 4, "CPU:0");
  maker.Share(large, 3, "DRAM:0");
  for (ChannelAccount& channel : maker.footprint().channels) channel.fed_devices = {0};
  maker.trace().ops = {{{}, {}, large}, {{}, {}, small}, {{}, {}, small}};

  const OperationRanking ranking = RankAs(maker, {});
  EXPECT_THAT(NamesOf(ranking.rows), ElementsAre("b/MatMul", "a/MatMul"));
  EXPECT_THAT(ranking.rows[0].energy, Optional(Joules{7.0}));
  EXPECT_EQ(ranking.rows[0].device, "CPU:0, DRAM:0");
  EXPECT_EQ(ranking.rows[0].count, 1U) << "two meters saw one run";
  EXPECT_EQ(ranking.rows[0].time, Seconds{1});
  EXPECT_THAT(ranking.rows[0].power, Optional(Watts{7.0}));
  EXPECT_EQ(ranking.rows[1].count, 2U);
  EXPECT_THAT(ranking.total, Optional(Joules{13.0}));
  EXPECT_THAT(NamesOf(ranking.by_device), ElementsAre("b/MatMul", "b/MatMul", "a/MatMul"));
  EXPECT_EQ(ranking.by_device[1].device, "DRAM:0");
}

TEST(RankingTest, TimeOnTwoDevicesAddsUpAndAMeterOfBothCountsOnce) {
  TraceMaker maker;
  maker.trace().devices = {"GPU:0", "GPU:1"};
  const uint32_t kind = maker.Kind("a/MatMul");
  maker.Share(kind, 100, "GPU:0", kNoStep, kSecond);
  maker.Share(kind, 200, "GPU:1", kNoStep, 2 * kSecond);
  maker.Share(kind, 60, "wall", kNoStep, 3 * kSecond);
  maker.footprint().channels[0].fed_devices = {0};
  maker.footprint().channels[1].fed_devices = {1};
  maker.footprint().channels[2].fed_devices = {0, 1};
  const OperationRanking ranking = RankAs(maker, {});
  ASSERT_EQ(ranking.rows.size(), 1U);
  EXPECT_DOUBLE_EQ(ranking.rows[0].time.value, 3);
  EXPECT_THAT(ranking.rows[0].power, Optional(Watts{120.0}));
}

TEST(RankingTest, PhasesAreProjections) {
  TraceMaker maker;
  maker.Share(maker.Kind("a/MatMul"), 1);
  maker.Share(maker.Kind("a/MatMul", Phase::kBackward), 2);
  double sum = 0;
  for (const Phase phase : {Phase::kForward, Phase::kBackward, Phase::kOptimizer}) {
    const OperationRanking ranking = RankAs(maker, {.phase = phase, .min_share = 0});
    sum += ranking.total.value_or(Joules{}).value;
    for (const OperationRow& row : ranking.rows) EXPECT_EQ(row.phase, phase);
  }
  EXPECT_DOUBLE_EQ(sum, RankAs(maker, {}).total->value);
  EXPECT_FALSE(RankAs(maker, {.phase = Phase::kOptimizer}).total);
}

TEST(RankingTest, LikeLayersAreAddedUpInAStef) {
  TraceMaker maker;
  maker.Share(maker.Kind("bert/layer_0/dense/MatMul"), 5);
  maker.Share(maker.Kind("bert/layer_1/dense/MatMul"), 3);
  const OperationRanking ranking = RankAs(maker, {.kind = OperationRanking::Kind::kStef});
  EXPECT_THAT(NamesOf(ranking.rows), ElementsAre("bert/layer_*/dense/MatMul"));
  EXPECT_THAT(ranking.rows[0].energy, Optional(Joules{8.0}));
  EXPECT_EQ(ranking.rows[0].layers, 2U);
}

TEST(RankingTest, AnStpfIsByPowerWithItsDeviationAndLeavesOutTheUnknown) {
  TraceMaker maker;
  const uint32_t hot = maker.Kind("hot/MatMul");
  const uint32_t long_one = maker.Kind("long/MatMul");
  maker.Share(hot, 9, "CPU:0", 0, kSecond / 10);
  maker.Share(hot, 11, "CPU:0", 1, kSecond / 10);
  maker.Share(long_one, 50, "CPU:0", 0, 5 * kSecond);
  maker.Share(long_one, 50, "CPU:0", 1, 5 * kSecond);
  maker.Unmetered(maker.Kind("dark/MatMul"), "GPU:0");
  const OperationRanking ranking = RankAs(maker, {.kind = OperationRanking::Kind::kStpf});
  EXPECT_THAT(NamesOf(ranking.rows), ElementsAre("hot/MatMul", "long/MatMul"));
  EXPECT_DOUBLE_EQ(ValueOrNan(ranking.rows[0].power), 100);
  EXPECT_NEAR(ValueOrNan(ranking.rows[0].deviation_step_power), 14.142, 1e-3);
  EXPECT_DOUBLE_EQ(ValueOrNan(ranking.rows[1].deviation_step_power), 0);

  const OperationRanking large =
      RankAs(maker, {.kind = OperationRanking::Kind::kStpf, .min_share = 0.5});
  EXPECT_THAT(NamesOf(large.rows), ElementsAre("long/MatMul"));
  EXPECT_THAT(NamesOf(large.by_device), ElementsAre("long/MatMul"));
  EXPECT_THAT(large.total, Optional(Joules{120.0})) << "of all names, shown or not";
}

TEST(RankingTest, WhatHasNoMeterIsARowOfItsOwnAndLast) {
  TraceMaker maker;
  const uint32_t kind = maker.Kind("a/MatMul");
  maker.Share(kind, 1);
  maker.Unmetered(kind, "GPU:0");
  const OperationRanking ranking = RankAs(maker, {});
  ASSERT_EQ(ranking.rows.size(), 2U);
  EXPECT_FALSE(ranking.rows[1].energy);
  EXPECT_EQ(ranking.by_device.size(), 2U);
}

TEST(RankingTest, ARunWithoutOperationsHasNothingToRank) {
  TraceMaker maker;
  const OperationRanking ranking = RankAs(maker, {});
  EXPECT_TRUE(ranking.rows.empty());
  EXPECT_FALSE(ranking.total);
}

}  // namespace
}  // namespace beryl::analyze
