#include "flows/analyse_run.h"

#include "base/matchers_for_test.h"
#include "flows/compare_runs.h"
#include "flows/run_files.h"

namespace beryl::flows {
namespace {

const RunFiles kTwoSteps = {
    {},
    {"tests/golden/tensorflow-two-steps/ops.json", "tests/golden/tensorflow-two-steps/ops2.json"},
    {"tests/golden/tensorflow-two-steps/power.csv"}};

class AnalyseRunTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto run = AccountRunOf(kTwoSteps, options_);
    ASSERT_TRUE(run) << run.error().message;
    run_ = *std::move(run);
    report_ = MakeReport(run_, options_);
  }

  std::string DiagramProblem(const DiagramRequest& request) const {
    const auto made = DiagramsOf(run_, report_, request);
    return made ? "" : made.error().message;
  }
  std::string TimelineProblem(const TimelineRequest& request) const {
    const auto made = TimelineOf(run_, report_, request);
    return made ? "" : made.error().message;
  }

  RunOptions options_;
  AccountedRun run_;
  AccountReport report_;
};

TEST_F(AnalyseRunTest, RanksEachLayerOrAllOfThemTogether) {
  const auto each = RankRun(run_, {.kind = OperationRanking::Kind::kTef});
  const auto folded = RankRun(run_, {.kind = OperationRanking::Kind::kStef});
  EXPECT_GT(each.rows.size(), folded.rows.size());
}

TEST_F(AnalyseRunTest, DiagramsGoDownFromTheNode) {
  const auto whole = DiagramsOf(run_, report_, {.depth = 2});
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->size(), 2U);
  // A layer that is folded can still be asked for.
  EXPECT_EQ(DiagramProblem({.node = "layer_0"}), "");
  EXPECT_THAT(DiagramProblem({.node = "encodr"}),
              HasSubstr("node 'encodr': no such node; similar"));
  EXPECT_THAT(DiagramProblem({.node = "**", .fold = false}), HasSubstr("name fewer"));
}

TEST_F(AnalyseRunTest, TimelinesAreOfTheRunOrTheMeanOfSteps) {
  EXPECT_EQ(TimelineProblem({.slices = 10}), "");
  EXPECT_EQ(TimelineProblem({.mean = true, .slices = 10}), "");
  EXPECT_THAT(TimelineProblem({.node = "no such"}), HasSubstr("no such node"));
}

TEST(ParsePeriods, SortsThemAndBeginsWithAllReadings) {
  EXPECT_THAT(*ParsePeriods(""), IsEmpty());
  EXPECT_THAT(*ParsePeriods("8,2,4,2"), ElementsAre(1, 2, 4, 8));
  for (const char* text : {"0", "1.5", "x", "2,", "1e12"}) EXPECT_FALSE(ParsePeriods(text)) << text;
}

TEST(CompareRuns, OneSetOfTracesIsOneRun) {
  const auto precision = MeasurePrecision(kTwoSteps, {"run"}, {}, {1, 2});
  ASSERT_TRUE(precision) << precision.error().message;
  EXPECT_EQ(precision->runs.size(), 1U);
  EXPECT_FALSE(precision->provenance.sources.empty());
  const auto comparison = CompareRuns(kTwoSteps, {{"run"}}, {}, {});
  ASSERT_TRUE(comparison) << comparison.error().message;
  EXPECT_EQ(comparison->runs.size(), 1U);
  EXPECT_TRUE(KeepsGates(*comparison));
}

}  // namespace
}  // namespace beryl::flows
