// How sure a change is, and what gates make of it.
#include <algorithm>
#include <cmath>
#include <random>

#include <fmt/format.h>

#include "analyze/compare_testing.h"
#include "base/matchers_for_test.h"

namespace beryl::analyze {
namespace {

GateVerdict Gate(std::vector<MadeRun>& runs, double limit, const std::string& pattern = "",
                 std::vector<size_t> sides = {}) {
  CompareOptions options;
  options.gates = {{pattern, limit}};
  options.sides = std::move(sides);
  return CompareRuns(runs, options).gates.back();
}

// Runs of one step, by their energy.
std::vector<MadeRun> RunsOf(const std::vector<double>& energies) {
  std::vector<MadeRun> runs;
  for (const double energy : energies) {
    runs.push_back(Make(fmt::format("r{}", runs.size()), {{"net/A", {energy}}}));
  }
  return runs;
}

// Steps about `mean`, each independent of the others.
std::vector<double> StepsAbout(double mean, size_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> noise(mean, mean / 20);
  std::vector<double> steps;
  for (size_t i = 0; i < count; ++i) steps.push_back(noise(random));
  return steps;
}

TEST(GateTest, OnlyARiseWhoseLowerEndIsAboveTheLimitFails) {
  auto runs = RunsOf({100, 101, 99, 111, 110, 109});
  const GateVerdict tight = Gate(runs, 0.05, "", {3, 3});
  EXPECT_FALSE(tight.passed);
  EXPECT_TRUE(tight.certain);
  EXPECT_NEAR(*tight.change.change, 0.1, 1e-12);
  EXPECT_GT(*tight.change.low, 0.05);
  EXPECT_EQ(tight.run, "r3 and 2 more");
  ASSERT_EQ(tight.grew.size(), 1U);
  EXPECT_EQ(tight.grew[0].path, "net/A");
  const GateVerdict near = Gate(runs, 0.09, "", {3, 3});
  EXPECT_TRUE(near.passed) << "10 % is more than 9 %, but may be chance";
  EXPECT_FALSE(near.certain);
  ASSERT_TRUE(near.more_runs);
  EXPECT_GT(*near.more_runs, 1U);
  const GateVerdict far = Gate(runs, 0.2, "", {3, 3});
  EXPECT_TRUE(far.passed);
  EXPECT_TRUE(far.certain);
  EXPECT_FALSE(far.more_runs);
  std::swap_ranges(runs.begin(), runs.begin() + 3, runs.begin() + 3);
  EXPECT_TRUE(Gate(runs, 0, "", {3, 3}).passed) << "less is never too much";
}

TEST(GateTest, OneRunASideIncludesWhatRunsAreAssumedToDiffer) {
  std::vector<MadeRun> runs;
  runs.push_back(Make("a", {{"net/A", StepsAbout(100, 200, 1)}}));
  runs.push_back(Make("b", {{"net/A", StepsAbout(107, 200, 2)}}));
  const GateVerdict gate = Gate(runs, 0.05);
  EXPECT_TRUE(gate.passed) << "7 % may be 2 %";
  EXPECT_FALSE(gate.certain);
  EXPECT_EQ(gate.change.unit, VariationUnit::kBlocks);
  EXPECT_EQ(gate.change.assumed, 0.02);
  EXPECT_NEAR(*gate.change.high - *gate.change.low, 2 * 1.96 * 1.07 * 0.02 * std::sqrt(2.0), 0.015);
  runs[1] = Make("b", {{"net/A", StepsAbout(120, 200, 2)}});
  EXPECT_FALSE(Gate(runs, 0.05).passed);
}

TEST(GateTest, AFewStepsAreHardlyEverCertain) {
  std::vector<MadeRun> runs;
  runs.push_back(Make("a", {{"net/A", {100, 101, 99}}}));
  runs.push_back(Make("b", {{"net/A", {110, 111, 109}}}));
  const GateVerdict gate = Gate(runs, 0.05);
  EXPECT_TRUE(gate.passed);
  EXPECT_FALSE(gate.certain);
  EXPECT_NEAR(gate.change.assumed, 0.06, 1e-12);
  const auto notes = CompareRuns(runs).notes;
  EXPECT_TRUE(std::any_of(notes.begin(), notes.end(),
                          [](const Note& note) { return note.kind == NoteKind::kTooFewBlocks; }));
  runs[1] = Make("b", {{"net/A", {200, 201, 199}}});
  EXPECT_FALSE(Gate(runs, 0.05).passed) << "twice as much is no chance";
}

TEST(GateTest, StepsThatDependOnEachOtherAreNotManySteps) {
  // An episode of load over half of one run: 100 steps, but two independent states.
  std::vector<double> episode = StepsAbout(100, 100, 3);
  for (size_t i = 30; i < 70; ++i) episode[i] *= 1.3;
  std::vector<MadeRun> runs;
  runs.push_back(Make("a", {{"net/A", StepsAbout(100, 100, 4)}}));
  runs.push_back(Make("b", {{"net/A", episode}}));
  const GateVerdict gate = Gate(runs, 0.05);
  EXPECT_NEAR(*gate.change.change, 0.12, 0.02);
  EXPECT_TRUE(gate.passed);
  EXPECT_FALSE(gate.certain);
}

TEST(GateTest, ADriftOfTheStepsIsToldApart) {
  std::vector<double> drifting = StepsAbout(100, 200, 5);
  for (size_t i = 0; i < drifting.size(); ++i) drifting[i] *= 1 + 0.001 * static_cast<double>(i);
  std::vector<MadeRun> runs;
  runs.push_back(Make("a", {{"net/A", StepsAbout(100, 200, 6)}}));
  runs.push_back(Make("b", {{"net/A", drifting}}));
  const Comparison found = CompareRuns(runs);
  // 20 % of drift about a mean of 1.1: as a deviation, 18 % / sqrt(3).
  EXPECT_NEAR(found.verdicts[0].change.drift, 0.18 / std::sqrt(3.0), 0.01);
  EXPECT_TRUE(std::any_of(found.notes.begin(), found.notes.end(),
                          [](const Note& note) { return note.kind == NoteKind::kStepsDrift; }));
}

Comparison UnderConditions(const RunConditions& before, const RunConditions& after,
                           double energy_after = 112) {
  auto made = RunsOf({100, energy_after});
  std::vector<RunToCompare> refs = {made[0].Ref(), made[1].Ref()};
  refs[0].conditions = before;
  refs[1].conditions = after;
  return Compare(refs, {});
}

TEST(ConditionsTest, AShortRunWithoutStepsMayLieInOneMood) {
  const auto assumed = [](double seconds) {
    std::vector<MadeRun> made(2);
    for (size_t i = 0; i < made.size(); ++i) {
      made[i].label = i == 0 ? "a" : "b";
      made[i].maker.Share(made[i].maker.Kind("net/A"), 100, "CPU:0");
    }
    std::vector<RunToCompare> refs = {made[0].Ref(), made[1].Ref()};
    for (RunToCompare& run : refs) run.conditions.duration = Seconds{seconds};
    return Compare(refs, {}).verdicts[0].change.assumed;
  };
  EXPECT_NEAR(assumed(20), 0.02, 1e-12);
  EXPECT_NEAR(assumed(1), 0.06, 1e-12);
}

TEST(ConditionsTest, EstimatesLoadClocksAndTemperaturesWidenTheInterval) {
  const auto width = [](const Comparison& found) {
    return *found.verdicts[0].change.high - *found.verdicts[0].change.low;
  };
  const Comparison plain = UnderConditions({}, {});
  EXPECT_EQ(plain.verdicts[0].change.load, 0);
  RunConditions estimated;
  estimated.estimated = true;
  EXPECT_GT(width(UnderConditions(estimated, estimated)), 2 * width(plain));

  RunConditions quiet;
  quiet.others_share = 0.02;
  RunConditions busy;
  busy.others_share = 0.32;
  const Comparison loaded = UnderConditions(quiet, busy);
  EXPECT_NEAR(loaded.verdicts[0].change.load, std::log(0.98 / 0.68) / std::sqrt(3.0), 1e-12);
  EXPECT_GT(width(loaded), width(plain));
  EXPECT_THAT(PlainText(loaded.notes.back()), HasSubstr("others_load_differs"));
  const Comparison crowded = UnderConditions(busy, busy);
  EXPECT_NEAR(crowded.verdicts[0].change.load, 0, 1e-12);
  EXPECT_NEAR(crowded.verdicts[0].change.assumed, 3 * std::hypot(0.02, 0.15 * 0.32), 1e-12)
      << "beside others, runs repeat less well, and these have one step";

  RunConditions fast;
  fast.clocks = {{"GPU:0", 2000}};
  RunConditions slow;
  slow.clocks = {{"GPU:0", 1800}};
  const Comparison throttled = UnderConditions(fast, slow);
  EXPECT_NEAR(throttled.verdicts[0].change.clock, 0.1 / std::sqrt(3.0), 1e-12);
  EXPECT_THAT(PlainText(throttled.notes.back()), HasSubstr("clocks_differ"));
  EXPECT_EQ(UnderConditions(fast, {}).verdicts[0].change.clock, 0) << "not known of both";

  RunConditions cool;
  cool.temperatures = {{"CPU", 45}, {"GPU:0", 50}};
  RunConditions warm;
  warm.temperatures = {{"CPU", 75}, {"GPU:0", 60}};
  const Comparison warmed = UnderConditions(cool, warm);
  EXPECT_NEAR(warmed.verdicts[0].change.temperature, 30 * 0.003 / std::sqrt(3.0), 1e-12);
  EXPECT_GT(width(warmed), width(plain));
  EXPECT_THAT(PlainText(warmed.notes.back()), HasSubstr("temperatures_differ"));
  EXPECT_EQ(UnderConditions(warm, warm).verdicts[0].change.temperature, 0);
}

// A program that keeps half of one of two CPUs busy, alone and beside a neighbour on a whole one:
// they share the power of an idle machine by the time that they run.
TEST(ConditionsTest, ANeighbourWhoSharesTheIdlePowerIsNoChange) {
  RunConditions alone;
  alone.others_share = 0;
  RunConditions beside;
  beside.others_share = 2.0 / 3;
  EXPECT_FALSE(UnderConditions(alone, beside, 57).verdicts[0].certain);
  EXPECT_TRUE(UnderConditions(alone, alone, 57).verdicts[0].certain);
  beside.others_share = 1;
  EXPECT_TRUE(UnderConditions(beside, beside, 57).verdicts[0].change.low);
  EXPECT_FALSE(UnderConditions(alone, beside, 57).verdicts[0].certain);
}

TEST(VerdictTest, OfGroups) {
  auto runs = RunsOf({100, 101, 99, 98, 102, 90, 91, 89});
  CompareOptions options;
  options.sides = {5, 3};
  options.side_labels = {"old", "new"};
  const Comparison found = CompareRuns(runs, options);
  ASSERT_EQ(found.verdicts.size(), 1U);
  const TotalVerdict& verdict = found.verdicts[0];
  EXPECT_EQ(verdict.before, "old");
  EXPECT_EQ(verdict.after, "new");
  EXPECT_EQ(verdict.change.unit, VariationUnit::kRuns);
  EXPECT_TRUE(verdict.certain);
  EXPECT_NEAR(*verdict.change.change, -0.1, 1e-12);
  EXPECT_LT(*verdict.change.high, 0);
  EXPECT_LT(*verdict.change.p_value, 0.001);
  EXPECT_EQ(found.differences.size(), 1U);
  EXPECT_EQ(found.similarity.runs.size(), 8U) << "matrices are over all runs";
}

TEST(VerdictTest, ASingleRunVariesAsThoseOfTheOtherSide) {
  auto runs = RunsOf({100, 104, 96, 100, 106});
  CompareOptions options;
  options.sides = {4, 1};
  const Comparison found = CompareRuns(runs, options);
  const EnergyChange& change = found.verdicts[0].change;
  EXPECT_EQ(change.unit, VariationUnit::kOneSide);
  EXPECT_EQ(change.assumed, 0);
  // A deviation of 3.27 of each run; 3 degrees of freedom.
  const double half = 3.18245 * std::sqrt(32.0 / 3) / 100 * std::sqrt(1.0 / 4 + 1);
  EXPECT_NEAR(std::log1p(*change.high) - std::log1p(*change.low), 2 * half, 1e-5);
  EXPECT_FALSE(found.verdicts[0].certain);
}

// One recording with its rounds is one sample of the load, the temperature and the scheduler's
// mood.
TEST(VerdictTest, RoundsOfOneRecordingASideAreNotCertainOfALittle) {
  CompareOptions options;
  options.sides = {4, 4};
  options.gates = {{"", 0}};
  auto near = RunsOf({100, 100.4, 99.6, 100, 102.5, 102.9, 102.1, 102.5});
  EXPECT_TRUE(CompareRuns(near, options).verdicts[0].certain) << "as if they were runs";
  options.runs_are_rounds = true;
  const Comparison found = CompareRuns(near, options);
  const TotalVerdict& verdict = found.verdicts[0];
  EXPECT_EQ(verdict.change.unit, VariationUnit::kRounds);
  EXPECT_NEAR(verdict.change.assumed, 0.01, 1e-12) << "half of that of runs";
  EXPECT_FALSE(verdict.certain);
  EXPECT_TRUE(found.gates[0].passed);
  ASSERT_TRUE(verdict.more_runs) << "recordings, not rounds";
  EXPECT_GT(*verdict.more_runs, 1U);
  EXPECT_EQ(found.notes.back().kind, NoteKind::kRunsAssumedToRepeat);
  EXPECT_FALSE(found.differences[0].found);
  auto far = RunsOf({100, 100.4, 99.6, 100, 125, 125.4, 124.6, 125});
  EXPECT_TRUE(CompareRuns(far, options).verdicts[0].certain);
}

TEST(VerdictTest, ASingleRunBesideRoundsIsARecordingToo) {
  CompareOptions options;
  options.sides = {4, 1};
  options.runs_are_rounds = true;
  auto runs = RunsOf({100, 100.4, 99.6, 100, 103});
  const TotalVerdict verdict = CompareRuns(runs, options).verdicts[0];
  EXPECT_EQ(verdict.change.unit, VariationUnit::kRounds);
  EXPECT_FALSE(verdict.certain);
}

// With as many more runs as it says, 80 of 100 comparisons are certain.
TEST(VerdictTest, TheNumberOfFurtherRunsIsWhatItTakes) {
  auto few = RunsOf({100, 103, 97, 102, 105, 99});
  CompareOptions options;
  options.sides = {3, 3};
  const TotalVerdict first = CompareRuns(few, options).verdicts[0];
  ASSERT_FALSE(first.certain);
  ASSERT_TRUE(first.more_runs);
  const size_t each = 3 + *first.more_runs;
  std::mt19937_64 random(23);
  std::normal_distribution<double> noise(0, 3);
  int certain = 0;
  constexpr int kTurns = 200;
  for (int turn = 0; turn < kTurns; ++turn) {
    std::vector<double> energies;
    for (size_t i = 0; i < 2 * each; ++i)
      energies.push_back((i < each ? 100 : 102) + noise(random));
    auto runs = RunsOf(energies);
    options.sides = {each, each};
    certain += CompareRuns(runs, options).verdicts[0].certain ? 1 : 0;
  }
  EXPECT_NEAR(certain, 0.8 * kTurns, 0.1 * kTurns);
}

std::string Reason(const GateVerdict& gate) { return gate.reason ? PlainText(*gate.reason) : ""; }

TEST(GateTest, UnknownEnergyNeverPasses) {
  std::vector<MadeRun> runs;
  runs.push_back(Make("a", {{"net/A", {100}}}));
  runs.push_back(Make("b", {}));
  EXPECT_FALSE(Gate(runs, 0.5).passed) << "no operations at all";
  runs[1].maker.Unmetered(runs[1].maker.Kind("net/A"), "GPU:0");
  const GateVerdict unmetered = Gate(runs, 0.5);
  EXPECT_FALSE(unmetered.passed);
  EXPECT_FALSE(unmetered.change.change);
  EXPECT_EQ(Reason(unmetered), "energy_not_known b");
  std::swap(runs[0], runs[1]);
  EXPECT_FALSE(Gate(runs, 0.5).passed) << "nor an unknown baseline";
}

TEST(GateTest, OtherMetersNeverPass) {
  std::vector<MadeRun> runs;
  runs.push_back(Make("a", {{"net/A", {100}}}, "GPU:0"));
  runs.push_back(Make("b", {{"net/A", {10}}}, "CPU:0"));
  const GateVerdict verdict = Gate(runs, 0.05);
  EXPECT_FALSE(verdict.passed);
  EXPECT_EQ(Reason(verdict), "other_meters a meters=GPU other=b other_meters=CPU");
  std::vector<MadeRun> other;
  other.push_back(Make("a", {{"net/A", {100}}}, "GPU:0"));
  other.push_back(Make("b", {{"net/A", {100}}}, "GPU:1"));
  EXPECT_TRUE(Gate(other, 0.05).passed) << "another GPU is still a GPU";
}

TEST(GateTest, AnotherEstimateNeverPasses) {
  const auto verdict_of = [](const RunConditions& before, const RunConditions& after) {
    auto made = RunsOf({100, 100});
    std::vector<RunToCompare> refs = {made[0].Ref(), made[1].Ref()};
    refs[0].conditions = before;
    refs[1].conditions = after;
    CompareOptions options;
    options.gates = {{"", 0.5}};
    const Comparison found = Compare(refs, options);
    EXPECT_EQ(found.gates[0].passed, !found.verdicts[0].reason);
    return Reason(found.gates[0]);
  };
  const RunConditions metered;
  RunConditions unknown;
  unknown.estimated = true;
  RunConditions low = unknown;
  low.estimates = {"11 W to 35 W"};
  RunConditions high = unknown;
  high.estimates = {"20 W to 60 W"};
  EXPECT_EQ(verdict_of(low, low), "");
  EXPECT_EQ(verdict_of(low, unknown), "");
  EXPECT_EQ(verdict_of(low, high),
            "other_meters r0 meters=CPU (estimated: 11 W to 35 W) other=r1 other_meters=CPU "
            "(estimated: 20 W to 60 W)");
  EXPECT_EQ(verdict_of(metered, unknown),
            "other_meters r0 meters=CPU other=r1 other_meters=CPU (estimated)");
}

TEST(GateTest, ReadingsThatDoNotReachNeverPass) {
  std::vector<MadeRun> runs;
  runs.push_back(Make("a", {{"net/A", {100}}}));
  runs.push_back(Make("b", {{"net/A", {50}}}));
  runs[1].maker.footprint().channels[0].uncovered = Nanos{1'000'000'000};
  const GateVerdict verdict = Gate(runs, 0.05);
  EXPECT_FALSE(verdict.passed);
  EXPECT_EQ(Reason(verdict), "operation_share_without_power b share=0.5 device=CPU:0");
}

TEST(GateTest, APartOfTheProgram) {
  std::vector<MadeRun> runs;
  runs.push_back(Make("a", {{"net/enc/A", {100}}, {"net/dec/A", {100}}}));
  runs.push_back(Make("b", {{"net/enc/A", {190}}, {"net/dec/A", {50}}}));
  EXPECT_TRUE(Gate(runs, 0.25).passed) << "on the whole";
  EXPECT_FALSE(Gate(runs, 0.25, "net/enc/**").passed);
  EXPECT_TRUE(Gate(runs, 0.05, "net/dec").passed);
  const GateVerdict typo = Gate(runs, 0.05, "net/encc");
  EXPECT_FALSE(typo.passed);
  EXPECT_THAT(Reason(typo), HasSubstr("no_path_matches net/encc near=net/enc"));
}

TEST(GateTest, WhatWasNotThereBeforeIsTooMuch) {
  std::vector<MadeRun> runs;
  runs.push_back(Make("a", {{"net/A", {100}}}));
  runs.push_back(Make("b", {{"net/A", {100}}, {"net/new/B", {1}}}));
  const GateVerdict verdict = Gate(runs, 5, "net/new");
  EXPECT_FALSE(verdict.passed);
  EXPECT_EQ(Reason(verdict), "no_energy_before");
}

TEST(ParseGateTest, Texts) {
  EXPECT_DOUBLE_EQ(ParseGate("5%")->limit, 0.05);
  EXPECT_DOUBLE_EQ(ParseGate(" 5 % ")->limit, 0.05);
  EXPECT_DOUBLE_EQ(ParseGate("0.05")->limit, 0.05);
  EXPECT_DOUBLE_EQ(ParseGate("0")->limit, 0);
  EXPECT_DOUBLE_EQ(ParseGate("150%")->limit, 1.5);
  EXPECT_EQ(ParseGate("encoder/**=10%")->pattern, "encoder/**");
  EXPECT_EQ(ParseGate("a=b=10%")->pattern, "a=b");
  for (const char* text :
       {"", "%", "-5%", "5", "five", "nan", "inf%", "=5%", "x=", "5%%", "1e999%"}) {
    const auto gate = ParseGate(text);
    ASSERT_FALSE(gate) << text;
    EXPECT_EQ(gate.error().code, ErrorCode::kMisuse);
  }
}

}  // namespace
}  // namespace beryl::analyze
