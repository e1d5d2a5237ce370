#include <cmath>

#include <fmt/format.h>

#include "analyze/analyze_testing.h"
#include "base/matchers_for_test.h"

namespace beryl::analyze {
namespace {

TEST(LogLikeCountsTest, Counts) {
  EXPECT_THAT(LogLikeCounts(0), ElementsAre());
  EXPECT_THAT(LogLikeCounts(3), ElementsAre(1, 2, 3));
  EXPECT_THAT(LogLikeCounts(40), ElementsAre(1, 2, 3, 4, 5, 8, 10, 16, 20, 32, 40));
  EXPECT_LT(LogLikeCounts(UINT64_MAX).size(), 100U);
}

Footprint Shares(TraceMaker& maker, double a, double b) {
  maker.footprint() = {};
  maker.Share(maker.Kind("net/A"), a);
  maker.Share(maker.Kind("net/B"), b);
  maker.Share(maker.Kind("net/C"), 20);
  ChannelAccount& account = maker.footprint().channels[0];
  account.window_end = Nanos{1'000'000'000};
  account.readings = 11;
  return maker.footprint();
}

TEST(SparseTest, ByHand) {
  TraceMaker maker;
  const std::vector<Footprint> thinned = {Shares(maker, 30, 50), Shares(maker, 40, 40),
                                          Shares(maker, 60, 120)};
  const auto points = Sparse(maker.trace(), thinned, {1, 2, 4}, Fold(Build(maker.trace())));
  ASSERT_EQ(points.size(), 3U);
  EXPECT_NEAR(points[0].pearson, 1, 1e-12);
  EXPECT_EQ(points[0].moved, 0);
  EXPECT_DOUBLE_EQ(points[0].period_ms, 100);
  EXPECT_EQ(points[1].every, 2U);
  EXPECT_NEAR(points[1].moved, 0.1, 1e-12) << "10 J of 100 went from B to A";
  EXPECT_NEAR(points[1].total_change, 0, 1e-12);
  // Deviations -3.33, 16.67, -13.33 and 6.67, 6.67, -13.33.
  EXPECT_NEAR(points[1].pearson, 266.667 / std::sqrt(466.667 * 266.667), 1e-4);
  EXPECT_NEAR(points[2].total_change, 1, 1e-12);
  EXPECT_NEAR(points[2].moved, 0.1, 1e-12) << "0.3, 0.5, 0.2 against 0.3, 0.6, 0.1";
}

TEST(SparseTest, NoEnergyIsNoPrecision) {
  TraceMaker maker;
  maker.Unmetered(maker.Kind("net/A"), "GPU:0");
  const Footprint nothing = maker.footprint();
  const auto points = Sparse(maker.trace(), {nothing, nothing}, {1, 2}, Fold(Build(maker.trace())));
  EXPECT_THAT(points[1].pearson, IsNan());
  EXPECT_THAT(points[1].moved, IsNan());
}

TraceMaker Steps(const std::vector<std::vector<double>>& steps) {
  TraceMaker maker;
  for (uint32_t step = 0; step < steps.size(); ++step) {
    maker.trace().steps.push_back({fmt::format("s{}", step), {}, {}});
    for (size_t op = 0; op < steps[step].size(); ++op) {
      maker.Share(maker.Kind(fmt::format("net/op{}x", op)), steps[step][op], "CPU:0", step);
    }
  }
  return maker;
}

TEST(PrecisionTest, OverTheStepsOfOneRun) {
  TraceMaker maker = Steps({{10, 20, 30}, {30, 20, 10}, {10, 20, 31}});
  const TraceTree folded = Fold(Build(maker.trace()));
  const Precision found =
      MeasurePrecision({{"run", &maker.trace(), &maker.footprint(), &folded}}, {});
  EXPECT_EQ(found.sample, "step");
  ASSERT_EQ(found.widening.size(), 3U);
  EXPECT_GT(found.widening[0].pearson, 0.9);
  EXPECT_THAT(found.widening[1].pearson, IsNan()) << "40, 40, 40 has no variance";
  EXPECT_NEAR(found.widening[2].pearson, 1, 1e-12);
  EXPECT_EQ(found.widening[2].moved, 0);
  EXPECT_THAT(found.stability.runs, ElementsAre("s0", "s1", "s2"));
  EXPECT_NEAR(found.stability.energy_pearson[1], -1, 1e-12);
  EXPECT_EQ(found.verdicts.back().kind, NoteKind::kSamplesDisagree);
  EXPECT_EQ(found.verdicts.back().subject, "step");
}

TEST(PrecisionTest, ManyStepsAreGrouped) {
  std::vector<std::vector<double>> steps;
  for (int i = 0; i < 100; ++i) steps.push_back({10.0 + i % 3, 20, 30});
  TraceMaker maker = Steps(steps);
  const TraceTree folded = Fold(Build(maker.trace()));
  const Precision found =
      MeasurePrecision({{"run", &maker.trace(), &maker.footprint(), &folded}}, {});
  EXPECT_EQ(found.stability.runs.size(), 12U);
  EXPECT_EQ(found.stability.runs.front(), "s0…s7");
  EXPECT_EQ(found.stability.runs.back(), "s91…s99");
  EXPECT_EQ(found.widening.back().samples, 100U);
  EXPECT_NEAR(found.widening.back().pearson, 1, 1e-12);
  EXPECT_EQ(found.verdicts.back().kind, NoteKind::kSamplesAgree);
}

TEST(PrecisionTest, OverRuns) {
  std::vector<TraceMaker> makers;
  makers.push_back(Steps({{10, 20, 30}}));
  makers.push_back(Steps({{11, 20, 30}}));
  std::vector<TraceTree> folded;
  std::vector<RunToCompare> runs;
  folded.reserve(2);
  for (TraceMaker& maker : makers) {
    folded.push_back(Fold(Build(maker.trace())));
    runs.push_back(
        {fmt::format("r{}", runs.size()), &maker.trace(), &maker.footprint(), &folded.back()});
  }
  const Precision found = MeasurePrecision(
      runs, {{{1, 4, 1, 1, 0, 0}, {2, 8, 0.9, 0.9, 0.01, 0.1}},
             {{1, 4, 1, 1, 0, 0}, {2, 8, 0.7, 0.7, 0.02, -0.2}, {3, 12, 0.5, 0.5, 0.3, 0}}});
  EXPECT_EQ(found.sample, "run");
  ASSERT_EQ(found.sparsing.size(), 3U);
  EXPECT_NEAR(found.sparsing[1].pearson, 0.8, 1e-12);
  EXPECT_NEAR(found.sparsing[1].lowest, 0.7, 1e-12);
  EXPECT_NEAR(found.sparsing[1].moved, 0.015, 1e-12);
  EXPECT_NEAR(found.sparsing[1].total_change, -0.2, 1e-12);
  EXPECT_NEAR(found.sparsing[2].pearson, 0.5, 1e-12) << "only one run reaches so far";
  EXPECT_EQ(found.widening.size(), 2U);
  EXPECT_EQ(found.verdicts[0].kind, NoteKind::kRateDoesNotMatter);
  EXPECT_THAT(PlainText(found.verdicts[0]), StartsWith("rate_does_not_matter times=2 "));
}

TEST(PrecisionTest, OneRunOfOneStep) {
  TraceMaker maker = Steps({{1, 2}});
  const TraceTree folded = Fold(Build(maker.trace()));
  const Precision found =
      MeasurePrecision({{"run", &maker.trace(), &maker.footprint(), &folded}}, {});
  EXPECT_EQ(found.sample, "");
  EXPECT_TRUE(found.widening.empty());
  EXPECT_TRUE(found.stability.runs.empty());
  EXPECT_EQ(PlainText(found.verdicts.back()), "nothing_to_repeat");
}

}  // namespace
}  // namespace beryl::analyze
