// How often comparisons of simulated runs raise a false alarm, and how often they find a change.
// bench/compare_bench.cc prints the curves.
#include "analyze/simulated_runs_testing.h"
#include "base/matchers_for_test.h"

namespace beryl::analyze {
namespace {

constexpr size_t kPairs = 60;
// 5 %, and what chance adds to it with so few pairs.
constexpr double kRarely = 0.1;
// Enough that chance adds nothing worth mentioning: alarms are at most 5 % themselves.
constexpr size_t kManyPairs = 200;
constexpr double kPromised = 0.05;
constexpr SimulatedProgram kSmall = {.operations = 12, .steps = 40};

class FewPairsTest : public testing::TestWithParam<size_t> {};

TEST_P(FewPairsTest, AlarmsAreRare) {
  const SimulatedRates rates = SimulatePairs(kSmall, {}, GetParam(), kPairs, 42 + GetParam());
  EXPECT_LE(rates.Rate(rates.gates_failed_at_0), kRarely);
  EXPECT_LE(rates.Rate(rates.gates_failed_at_5), 0.01);
  EXPECT_LE(rates.FalseDiscovery(), kRarely);
}

// What is promised, for a run a side and for several.
TEST(WithoutDifferenceTest, AlarmsOfManyPairsAreWithinThePromise) {
  for (const size_t runs : {size_t{1}, size_t{3}}) {
    const SimulatedRates rates = SimulatePairs(kSmall, {}, runs, kManyPairs, 420 + runs);
    EXPECT_LE(rates.Rate(rates.gates_failed_at_0), kPromised) << runs;
    EXPECT_LE(rates.Rate(rates.gates_failed_at_5), kPromised) << runs;
    EXPECT_LE(rates.FalseDiscovery(), kPromised) << runs;
  }
}

INSTANTIATE_TEST_SUITE_P(RunsASide, FewPairsTest, testing::Values(1, 2, 3, 6));

TEST(WithADifferenceTest, FivePercentAreFoundBySixRunsASide) {
  const SimulatedRates rates = SimulatePairs(kSmall, {0.05}, 6, kPairs, 7);
  EXPECT_GE(rates.Rate(rates.told), 0.8);
  EXPECT_GE(rates.Rate(rates.gates_failed_at_0), 0.8);
  EXPECT_LE(rates.Rate(rates.gates_failed_at_5), kRarely) << "5 % is not more than 5 %";
  const SimulatedRates twice = SimulatePairs(kSmall, {0.1}, 6, kPairs, 8);
  EXPECT_GE(twice.Rate(twice.gates_failed_at_5), 0.8);
}

TEST(WithADifferenceTest, LinesThatChangedAreFoundAndOthersAreNot) {
  const SimulatedRates rates = SimulatePairs(kSmall, {0.1, 3}, 6, kPairs, 9);
  EXPECT_GE(static_cast<double>(rates.found_lines), 0.8 * static_cast<double>(rates.changed_lines));
  EXPECT_LE(rates.FalseDiscovery(), kRarely);
}

// The share of pairs of recordings of one program that are certain to differ. Recordings deviate by
// 1 %, their rounds by half of that.
double AlarmsOfRecordings(bool runs_are_rounds) {
  constexpr size_t kRounds = 5;
  std::mt19937_64 random(17);
  std::normal_distribution<double> normal;
  size_t alarms = 0;
  for (size_t pair = 0; pair < kManyPairs; ++pair) {
    std::vector<SimulatedRun> rounds(2 * kRounds);
    std::vector<RunToCompare> refs;
    double of_recording = 0;
    for (size_t i = 0; i < rounds.size(); ++i) {
      SimulatedRun& round = rounds[i];
      if (i % kRounds == 0) of_recording = std::exp(0.01 * normal(random));
      round.maker.Share(round.maker.Kind("CPU"),
                        100 * of_recording * std::exp(0.005 * normal(random)), "CPU:0");
      round.folded = Fold(tree::Build(round.maker.trace()));
      refs.push_back(
          {fmt::format("r{}", i), &round.maker.trace(), &round.maker.footprint(), &round.folded});
    }
    CompareOptions options;
    options.sides = {kRounds, kRounds};
    options.runs_are_rounds = runs_are_rounds;
    alarms += analyze::Compare(refs, options).verdicts[0].certain ? 1 : 0;
  }
  return static_cast<double>(alarms) / kManyPairs;
}

TEST(WithoutDifferenceTest, RoundsOfTwoRecordingsRaiseNoMoreAlarmsThanRuns) {
  EXPECT_GT(AlarmsOfRecordings(false), 0.3) << "taken for runs, they do";
  EXPECT_LE(AlarmsOfRecordings(true), 0.07) << "5 %, and what chance adds";
}

// The bound of the old rule, which took steps for independent: it must fail here, or the
// simulation shows nothing.
TEST(SimulationTest, StepsTakenForIndependentWouldRaiseFalseAlarms) {
  std::mt19937_64 random(11);
  size_t alarms = 0;
  for (size_t i = 0; i < kPairs; ++i) {
    SimulatedPair pair = SimulatePair(kSmall, {}, 1, random);
    const Comparison found = pair.Compare({});
    const RunTotal& a = found.totals[0];
    const RunTotal& b = found.totals[1];
    const double error = std::hypot(a.deviation->value, b.deviation->value) /
                         std::sqrt(static_cast<double>(a.steps));
    alarms += std::fabs((*b.attributed - *a.attributed).value) > 1.98 * error ? 1 : 0;
  }
  EXPECT_GT(alarms, kPairs / 3);
}

}  // namespace
}  // namespace beryl::analyze
