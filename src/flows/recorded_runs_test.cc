#include "flows/recorded_runs.h"

#include "analyze/analyze.h"
#include "base/matchers_for_test.h"

namespace beryl::flows {
namespace {

DeviceEnergy Device(const std::string& name, double ours, double others, double idle) {
  DeviceEnergy device;
  device.device = name;
  device.energy = Joules{ours + others + idle};
  device.split = {Joules{ours}, Joules{others}, Joules{0}, Joules{idle}};
  device.known_time = Seconds{10};
  return device;
}

// Two processes on a package, one of which uses the GPU.
Recorded Plain(const std::string& label, double train, double load) {
  Recorded recorded;
  recorded.label = label;
  Measurement& measured = recorded.measured;
  measured.duration = Seconds{10};
  measured.devices = {Device("CPU:0", train + load, 5, 1), Device("GPU:0", 100, 0, 20)};
  ProcessEnergy trainer;
  trainer.name = "python";
  trainer.energy_j = {train, 100};
  ProcessEnergy loader = trainer;
  loader.name = "loader";
  loader.energy_j = {load, 0};
  measured.processes = {trainer, loader};
  measured.total.energy = measured.devices[0].energy.value() + measured.devices[1].energy.value();
  measured.total.ours = Joules{train + load + 100};
  return recorded;
}

Recorded WithRounds(const std::string& label, const std::vector<double>& ours) {
  Recorded recorded = Plain(label, 50, 10);
  for (const double energy : ours) {
    WindowEnergy window;
    window.name = "round " + std::to_string(recorded.measured.windows.size() + 1);
    window.duration = Seconds{4};
    window.runs = 2;
    window.energy = Joules{2 * energy + 10};
    window.ours = Joules{2 * energy};
    recorded.measured.windows.push_back(window);
  }
  WindowEnergy warm_up = recorded.measured.windows.front();
  warm_up.warm_up = true;
  warm_up.ours = Joules{1e6};
  recorded.measured.windows.push_back(warm_up);
  return recorded;
}

Comparison CompareThem(const std::vector<Recorded>& recordings, std::vector<size_t> sides,
                       bool rounds_are_runs = true) {
  analyze::CompareOptions options;
  options.of = *WhatToCompare(recordings);
  options.sides = std::move(sides);
  const auto recorded = RunsOf(recordings, options.of, rounds_are_runs);
  std::vector<analyze::RunToCompare> runs;
  for (const auto& of_file : recorded) {
    for (const RecordedRun& run : of_file) {
      runs.push_back({run.label, &run.ops, &run.footprint, &run.folded, {}, run.missing});
    }
  }
  return analyze::Compare(runs, options);
}

TEST(RecordedRunsTest, OursByProcessAndDevice) {
  const Comparison found = CompareThem({Plain("a", 50, 10), Plain("b", 90, 10)}, {1, 1});
  EXPECT_EQ(found.of, ComparedEnergy::kOurs);
  EXPECT_FALSE(found.per_step);
  EXPECT_EQ(found.totals[0].attributed, Joules{160});
  EXPECT_EQ(found.totals[0].idle, Joules{21});
  EXPECT_EQ(found.totals[0].unattributed, Joules{5}) << "others";
  EXPECT_FALSE(found.totals[0].by_phase[0]) << "it has no phases";
  EXPECT_NEAR(*found.verdicts[0].change.change, 0.25, 1e-12);
  EXPECT_TRUE(found.verdicts[0].certain);
  ASSERT_EQ(found.differences.size(), 1U);
  EXPECT_EQ(found.differences[0].path, "python/CPU:0");
  EXPECT_NEAR(ValueOrNan(found.differences[0].difference), 40, 1e-9);
}

TEST(RecordedRunsTest, RoundsAreRunsOfTheCommand) {
  const Comparison found =
      CompareThem({WithRounds("a", {100, 101, 99}), WithRounds("b", {90, 91, 89})}, {3, 3});
  EXPECT_EQ(found.totals.size(), 6U) << "without the warm-ups";
  EXPECT_EQ(found.totals[0].run, "a: round 1");
  EXPECT_EQ(found.totals[0].attributed, Joules{100}) << "of one execution";
  EXPECT_EQ(found.totals[0].unattributed, Joules{5});
  EXPECT_EQ(found.verdicts[0].change.unit, VariationUnit::kRuns);
  EXPECT_TRUE(found.verdicts[0].certain);
  EXPECT_NEAR(*found.verdicts[0].change.change, -0.1, 1e-12);
}

// Rounds of one recording have its load and temperature in common: four of each of two recordings
// are not eight runs.
TEST(RecordedRunsTest, OfSeveralRecordingsEachIsARun) {
  const std::vector<Recorded> recordings = {
      WithRounds("a", {100, 101, 100, 101}), WithRounds("b", {104, 105, 104, 105}),
      WithRounds("c", {105, 106, 105, 106}), WithRounds("d", {109, 110, 109, 110})};
  EXPECT_TRUE(CompareThem(recordings, {8, 8}).verdicts[0].certain) << "as if they were";
  const Comparison found = CompareThem(recordings, {2, 2}, false);
  EXPECT_EQ(found.totals.size(), 4U);
  EXPECT_EQ(found.totals[0].run, "a");
  EXPECT_DOUBLE_EQ(ValueOrNan(found.totals[0].attributed), 100.5);
  EXPECT_EQ(found.totals[0].unattributed, Joules{5});
  EXPECT_EQ(found.verdicts[0].change.unit, VariationUnit::kRuns);
  EXPECT_FALSE(found.verdicts[0].certain);
  EXPECT_TRUE(found.verdicts[0].more_runs);
}

TEST(RecordedRunsTest, ARoundWithoutEnergyIsLeftOut) {
  Recorded gap = WithRounds("a", {100, 100, 100});
  gap.measured.windows[1].ours.reset();
  EXPECT_EQ(RunsOf({gap}, ComparedEnergy::kOurs, true)[0].size(), 2U);
  for (WindowEnergy& window : gap.measured.windows) window.ours.reset();
  const Comparison none = CompareThem({gap, WithRounds("b", {100, 101})}, {1, 2});
  ASSERT_TRUE(none.verdicts[0].reason) << "the whole recording is not a run of the command";
  EXPECT_EQ(PlainText(*none.verdicts[0].reason), "energy_not_known a: round 1");
}

TEST(RecordedRunsTest, APlainRecordingBesideRoundsIsOneRun) {
  const Comparison found =
      CompareThem({WithRounds("a", {150, 160, 170}), Plain("b", 50, 10)}, {3, 1});
  EXPECT_EQ(found.verdicts[0].change.unit, VariationUnit::kOneSide);
  EXPECT_NEAR(*found.verdicts[0].change.change, 0, 1e-12);
  EXPECT_FALSE(found.verdicts[0].reason) << "both are of the same devices";
}

TEST(RecordedRunsTest, TheMachineWhereNotAllIsKnownToBeOurs) {
  Recorded unsplit = Plain("b", 50, 10);
  unsplit.measured.total.all_split = false;
  unsplit.measured.devices[1].split = {};
  const Comparison found = CompareThem({Plain("a", 50, 10), unsplit}, {1, 1});
  EXPECT_EQ(found.of, ComparedEnergy::kMachine);
  EXPECT_EQ(found.totals[0].attributed, Joules{186});
  EXPECT_EQ(found.totals[1].attributed, Joules{186});
}

TEST(RecordedRunsTest, WhatWasAskedFor) {
  const std::vector<Recorded> split = {Plain("a", 50, 10), Plain("b", 50, 10)};
  EXPECT_EQ(*WhatToCompare(split, EnergyOf::kMachine), ComparedEnergy::kMachine);
  EXPECT_EQ(*WhatToCompare(split, EnergyOf::kOurs), ComparedEnergy::kOurs);
  std::vector<Recorded> unsplit = split;
  unsplit[1].measured.total.all_split = false;
  EXPECT_EQ(*WhatToCompare(unsplit), ComparedEnergy::kMachine);
  const auto refused = WhatToCompare(unsplit, EnergyOf::kOurs);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, StartsWith("b: "));
}

TEST(RecordedRunsTest, AGapLeavesTheEnergyIncomplete) {
  Recorded gap = Plain("b", 50, 10);
  gap.measured.devices[1].gaps = {{Seconds{1}, Seconds{2}}};
  const Comparison found = CompareThem({Plain("a", 50, 10), gap}, {1, 1});
  ASSERT_TRUE(found.verdicts[0].reason);
  EXPECT_EQ(PlainText(*found.verdicts[0].reason), "energy_incomplete b missing=GPU:0 for 2.00 s");
}

TEST(ConditionsOfTest, OthersClocksAndTemperatures) {
  Recorded recorded = Plain("a", 50, 10);
  recorded.measured.total.origin = Origin::kEstimated;
  recorded.measured.features = {{"c_clk", "", "MHz", 3600},
                                {"c_temp", "", "°C", 61},
                                {"g_clk", "GPU:0", "MHz", 1500},
                                {"g_clk", "GPU:1", "MHz", {}},
                                {"g_temp", "GPU:0", "°C", 70}};
  const RunConditions found = ConditionsOf(recorded.measured);
  EXPECT_TRUE(found.estimated);
  EXPECT_EQ(found.duration, Seconds{10});
  EXPECT_NEAR(*found.others_share, 5.0 / 165, 1e-12);
  EXPECT_EQ(found.clocks, (std::map<std::string, double>{{"CPU", 3600}, {"GPU:0", 1500}}));
  EXPECT_TRUE(found.temperatures.empty()) << "an estimate does not follow them";
  recorded.measured.total.origin = Origin::kMeasured;
  EXPECT_EQ(ConditionsOf(recorded.measured).temperatures,
            (std::map<std::string, double>{{"CPU", 61}, {"GPU:0", 70}}));
  EXPECT_FALSE(ConditionsOf({}).others_share);
  EXPECT_THAT(found.estimates, IsEmpty());
}

TEST(ConditionsOfTest, WhatItsEnergyIsEstimatedFrom) {
  Measurement measured;
  measured.channels.resize(2);
  measured.channels[0].meter.reads = "a counter";
  measured.channels[1].meter.origin = Origin::kEstimated;
  measured.channels[1].meter.reads = "CPU time: 11 W idle to 35 W; as the user gave it";
  EXPECT_THAT(ConditionsOf(measured).estimates, IsEmpty()) << "it is not in the sum";
  measured.total.origin = Origin::kEstimated;
  EXPECT_THAT(ConditionsOf(measured).estimates, ElementsAre("CPU time: 11 W idle to 35 W"));
}

}  // namespace
}  // namespace beryl::flows
