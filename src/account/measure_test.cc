#include <cmath>
#include <random>

#include "account/account.h"
#include "account/recording_testing.h"
#include "base/matchers_for_test.h"
#include "types/note_testing.h"
#include "types/unknown.h"

namespace beryl::account {
namespace {

Joules Known(const std::optional<Joules>& energy) { return energy.value_or(Joules{}); }

void ExpectLaw(const Measurement& measured) {
  for (size_t i = 0; i < measured.devices.size(); ++i) {
    const DeviceEnergy& device = measured.devices[i];
    const EnergySplit& split = device.split;
    if (!split.ours) continue;
    ASSERT_TRUE(device.energy);
    const double scale = 1e-9 * std::max(1.0, std::abs(device.energy->value));
    const Joules sum =
        Known(split.ours) + Known(split.others) + Known(split.recorder) + Known(split.idle);
    EXPECT_NEAR(sum.value, device.energy->value, scale);
    for (const auto& part : {split.ours, split.others, split.recorder, split.idle}) {
      EXPECT_GE(Known(part), Joules{});
    }
    EXPECT_LE(*split.ours, *device.energy + Joules{scale});
    double ours = 0;
    double recorder = 0;
    for (const ProcessEnergy& process : measured.processes) {
      (process.owner == TaskOwner::kWatched ? ours : recorder) +=
          Known(IfKnown<Joules>(process.energy_j[i])).value;
    }
    if (ScopeOfName(device.device) == ChannelScope::kGpu) continue;
    EXPECT_NEAR(ours, ValueOrNan(split.ours), scale);
    EXPECT_NEAR(recorder, Known(split.recorder).value, scale);
  }
}

// Four CPUs of one socket, all ours: the released code makes 200 W of it.
TEST(MeasureTest, FourBusyCpusOfAFiftyWattSocketAreFiftyWatts) {
  TestRecording test({0, 0, 0, 0});
  std::vector<uint32_t> tasks;
  for (int i = 0; i < 4; ++i) tasks.push_back(test.AddTask(7));
  test.Sample(0);
  for (int64_t at = 20; at <= 1000; at += 20) {
    for (uint16_t cpu = 0; cpu < 4; ++cpu) {
      test.Run(tasks[cpu], cpu, 20);
      test.Busy(cpu, 20);
    }
    test.Sample(at);
  }
  const PowerTrace power = Trace({TestCounter("CPU:0", std::vector<double>(250, 50.0))});
  const Measurement measured = Measure(power, test.recording(), {});
  ASSERT_EQ(measured.devices.size(), 1U);
  EXPECT_NEAR(ValueOrNan(measured.devices[0].energy), 50, 1e-9);
  EXPECT_NEAR(ValueOrNan(measured.devices[0].mean_power), 50, 1e-9);
  // In the first window the tasks are seen to move from CPU 0, where all began.
  EXPECT_NEAR(ValueOrNan(measured.devices[0].split.ours), 50, 1e-6);
  ExpectLaw(measured);
}

TEST(MeasureTest, TheTwoRulesDifferInWhoPaysForIdleCpus) {
  TestRecording test({0, 0, 0, 0});
  const uint32_t task = test.AddTask(7);
  test.Sample(0);
  for (int64_t at = 100; at <= 1000; at += 100) {
    test.Run(task, 0, 50);
    test.Busy(0, 50);
    test.Busy(1, 50);
    test.Sample(at);
  }
  const PowerTrace power = Trace({TestCounter("CPU:0", std::vector<double>(250, 40.0))});
  const EnergySplit busy = Measure(power, test.recording(), {}).devices[0].split;
  EXPECT_NEAR(ValueOrNan(busy.ours), 20, 1e-9);
  EXPECT_NEAR(ValueOrNan(busy.others), 20, 1e-9);
  EXPECT_NEAR(ValueOrNan(busy.idle), 0, 1e-9);
  const EnergySplit capacity =
      Measure(power, test.recording(), {SplitRule::kCapacity, 10}).devices[0].split;
  EXPECT_NEAR(ValueOrNan(capacity.ours), 5, 1e-9);
  EXPECT_NEAR(ValueOrNan(capacity.others), 5, 1e-9);
  EXPECT_NEAR(ValueOrNan(capacity.idle), 30, 1e-9);
}

TEST(MeasureTest, WhileNothingRunsEnergyIsIdle) {
  TestRecording test({0});
  for (int64_t at = 0; at <= 1000; at += 100) test.Sample(at);
  const PowerTrace power = Trace({TestCounter("CPU:0", std::vector<double>(250, 10.0))});
  const Measurement measured = Measure(power, test.recording(), {});
  EXPECT_NEAR(ValueOrNan(measured.devices[0].split.idle), 10, 1e-9);
  EXPECT_FALSE(measured.devices[0].split.ours);  // nothing was watched
}

TEST(MeasureTest, AGapIsNamedAndNotFilled) {
  PowerChannel counter = TestCounter("CPU:0", std::vector<double>(250, 50.0));
  counter.times.erase(counter.times.begin() + 100, counter.times.begin() + 150);
  counter.values.erase(counter.values.begin() + 100, counter.values.begin() + 150);
  counter.gaps = {{100, GapReason::kCounterStoodStill}};
  Recording recording;
  recording.start = Nanos{kTestStart};
  recording.end = Nanos{kTestStart + 1000 * kMilli};
  recording.windows = {{"round 1", Nanos{kTestStart}, Nanos{kTestStart + 300 * kMilli}},
                       {"round 2", Nanos{kTestStart + 300 * kMilli}, recording.end}};
  const Measurement measured = Measure(Trace({counter}), recording, {});
  const DeviceEnergy& device = measured.devices.at(0);
  EXPECT_NEAR(device.known_time.value, 0.796, 1e-9);
  EXPECT_NEAR(ValueOrNan(device.energy), 50 * 0.796, 1e-9);
  EXPECT_NEAR(ValueOrNan(device.mean_power), 50, 1e-9);
  ASSERT_EQ(device.gaps.size(), 1U);
  EXPECT_NEAR(device.gaps[0].start.value, 0.396, 1e-9);
  EXPECT_NEAR(device.gaps[0].duration.value, 0.204, 1e-9);
  EXPECT_THAT(Plain(measured.notes), Contains(AllOf(HasSubstr("partly_known CPU:0"),
                                                    HasSubstr("why=counter_stood_still"))));
  EXPECT_TRUE(std::isnan(device.slices_w[60]));
  EXPECT_NEAR(ValueOrNan(measured.windows[0].energy), 15, 1e-9);
  EXPECT_FALSE(measured.windows[1].energy);
  EXPECT_EQ(measured.round_energy.rounds, 1U);
  EXPECT_EQ(measured.round_time.rounds, 2U);
}

TEST(MeasureTest, BeforeTheFirstAndAfterTheLastReadingNothingIsInvented) {
  Recording recording;
  recording.start = Nanos{kTestStart - 500 * kMilli};
  recording.end = Nanos{kTestStart + 2000 * kMilli};
  const Measurement measured =
      Measure(Trace({TestCounter("CPU:0", std::vector<double>(250, 50.0))}), recording, {});
  EXPECT_NEAR(measured.duration.value, 2.5, 1e-9);
  EXPECT_NEAR(ValueOrNan(measured.devices[0].energy), 50, 1e-9);
  EXPECT_NEAR(measured.devices[0].known_time.value, 1, 1e-9);
  ASSERT_EQ(measured.devices[0].gaps.size(), 2U);
  EXPECT_EQ(measured.devices[0].gaps[0].why, GapReason::kBeforeFirstReading);
  EXPECT_NEAR(measured.devices[0].gaps[1].start.value, 1.5, 1e-9);
}

TEST(MeasureTest, AMeterThatToldNothingIsNotZero) {
  PowerChannel silent = TestCounter("GPU:0", {});
  silent.times.clear();
  silent.values.clear();
  const PowerChannel frozen = TestCounter("DRAM:0", std::vector<double>(250, 0.0));
  const Measurement measured = Measure(
      Trace({TestCounter("CPU:0", std::vector<double>(250, 50.0)), silent, frozen}), {}, {});
  ASSERT_EQ(measured.devices.size(), 3U);
  for (const size_t device : {1, 2}) {
    EXPECT_FALSE(measured.devices[device].energy);
    EXPECT_FALSE(measured.devices[device].mean_power);
    EXPECT_FALSE(measured.devices[device].gaps.empty());
  }
  EXPECT_THAT(Plain(measured.notes), Contains("nothing_known GPU:0 why=meter_told_nothing"));
  EXPECT_THAT(Plain(measured.notes), Contains("nothing_known DRAM:0 why=counter_never_moved"));
}

// One watched task, and features every 100 ms, whose columns are still to come.
Recording OneSecondWithFeatures() {
  Recording recording;
  recording.start = Nanos{kTestStart};
  recording.end = Nanos{kTestStart + 1000 * kMilli};
  recording.activity.tasks = {{7, 7, "ours", TaskOwner::kWatched}};
  for (int64_t at = 0; at <= 1000; at += 100) {
    recording.features.times.push_back(Nanos{kTestStart + at * kMilli});
  }
  return recording;
}

TEST(MeasureTest, AGpuIsToldApartByWhoUsedIt) {
  Recording recording = OneSecondWithFeatures();
  recording.features.columns = {{"gpu_util", "GPU:0", std::vector<double>(11, 80.0)},
                                {"gpu_ours", "GPU:0", std::vector<double>(11, 0.25)}};
  const PowerTrace power = Trace({TestCounter("GPU:0", std::vector<double>(250, 100.0)),
                                  TestCounter("GPU:1", std::vector<double>(250, 100.0))});
  const Measurement measured = Measure(power, recording, {});
  EXPECT_NEAR(ValueOrNan(measured.devices[0].split.ours), 25, 1e-9);
  EXPECT_NEAR(ValueOrNan(measured.devices[0].split.others), 75, 1e-9);
  EXPECT_FALSE(measured.devices[0].split.recorder);
  EXPECT_FALSE(measured.devices[1].split.ours);
  EXPECT_THAT(Plain(measured.notes), Contains(HasSubstr("gpu_use_not_known GPU:1")));
  recording.activity.tasks.clear();
  recording.windows = {{"a", recording.start, recording.end}};
  const Measurement of_machine = Measure(power, recording, {});
  EXPECT_FALSE(of_machine.devices[0].split.ours) << "nothing was watched";
  EXPECT_FALSE(of_machine.windows[0].ours);
  EXPECT_NEAR(ValueOrNan(of_machine.devices[0].split.others), 100, 1e-9);
  ASSERT_EQ(measured.features.size(), 3U);
  EXPECT_EQ(measured.features[0].name, "gpu_util");
  EXPECT_NEAR(*measured.features[0].mean, 80, 1e-9);
  EXPECT_EQ(measured.features[2].name, "gpu_energy");
  EXPECT_NEAR(*measured.features[2].mean, 200, 1e-9);
}

// A driver says who used a GPU since it was asked before.
TEST(MeasureTest, WhoUsedAGpuIsSaidAfterwards) {
  Recording recording = OneSecondWithFeatures();
  recording.features.columns = {{"gpu_ours", "GPU:0", {0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1}}};
  const PowerTrace power = Trace({TestCounter("GPU:0", std::vector<double>(250, 100.0))});
  EXPECT_NEAR(ValueOrNan(Measure(power, recording, {}).devices[0].split.ours), 50, 1e-9);
}

TEST(MeasureTest, RoundsHaveAMeanAndADeviation) {
  Recording recording;
  recording.start = Nanos{kTestStart};
  recording.end = Nanos{kTestStart + 1000 * kMilli};
  auto window = [](std::string name, int64_t from, int64_t to, bool warm_up) {
    return RunWindow{std::move(name), Nanos{kTestStart + from * kMilli},
                     Nanos{kTestStart + to * kMilli}, warm_up};
  };
  recording.windows = {window("round 0", 0, 200, true), window("round 1", 200, 400, false),
                       window("round 2", 400, 800, false), window("cool-down", 800, 1000, false)};
  const Measurement measured =
      Measure(Trace({TestCounter("CPU:0", std::vector<double>(250, 10.0))}), recording, {});
  EXPECT_EQ(measured.round_energy.rounds, 2U);
  EXPECT_NEAR(ValueOrNan(measured.round_energy.mean), 3, 1e-9);
  EXPECT_NEAR(ValueOrNan(measured.round_energy.deviation), std::sqrt(2), 1e-9);
  EXPECT_NEAR(ValueOrNan(measured.round_time.mean), 0.3, 1e-9);
  EXPECT_EQ(measured.windows[2].runs, 0U);
  EXPECT_NEAR(*measured.features[0].mean, 0.3, 1e-9) << "latency";
  recording.windows[1].runs = 2;
  recording.windows[2].runs = 4;
  const Measurement of_runs =
      Measure(Trace({TestCounter("CPU:0", std::vector<double>(250, 10.0))}), recording, {});
  EXPECT_EQ(of_runs.windows[2].runs, 4U);
  EXPECT_NEAR(*of_runs.features[0].mean, 0.1, 1e-9) << "of a run of the command";
  EXPECT_EQ(of_runs.run.energy_of, EnergyOf::kMachine) << "nothing was watched";
  EXPECT_NEAR(ValueOrNan(of_runs.run.energy.mean), 1, 1e-9);
  EXPECT_NEAR(ValueOrNan(of_runs.run.energy.deviation), 0, 1e-9) << "the rounds differ by length";
  EXPECT_NEAR(ValueOrNan(of_runs.run.time.mean), 0.1, 1e-9);
}

TEST(MeasureTest, ARunOfTheCommandIsWhatItUsedAndNotWhatOthersDid) {
  TestRecording test({0});
  const uint32_t ours = test.AddTask(7);
  test.Sample(0);
  // Others take 0 % of the CPU in round 1 and half of it in round 2.
  for (int64_t at = 100; at <= 1000; at += 100) {
    test.Run(ours, 0, at <= 500 ? 100 : 50);
    test.Busy(0, 100);
    test.Sample(at);
  }
  Recording& recording = test.recording();
  for (const int64_t from : {0, 500}) {
    recording.windows.push_back({from == 0 ? "round 1" : "round 2",
                                 Nanos{kTestStart + from * kMilli},
                                 Nanos{kTestStart + (from + 500) * kMilli}, false, 5});
  }
  const Measurement measured =
      Measure(Trace({TestCounter("CPU:0", std::vector<double>(250, 10.0))}), recording, {});
  EXPECT_EQ(measured.run.energy_of, EnergyOf::kOurs);
  EXPECT_EQ(measured.run.energy.rounds, 2U);
  EXPECT_NEAR(ValueOrNan(measured.run.energy.mean), (1.0 + 0.5) / 2, 1e-6);
  EXPECT_NEAR(ValueOrNan(measured.run.energy.deviation), 0.5 / std::sqrt(2), 1e-6);
  EXPECT_NEAR(ValueOrNan(measured.run.time.mean), 0.1, 1e-9);
  EXPECT_NEAR(ValueOrNan(measured.round_energy.mean), 5, 1e-6) << "of the machine";
}

TEST(MeasureTest, OursHasTheErrorOfTheMeterAndEnergyWhoseUsersAreUnknown) {
  TestRecording test({0});
  const uint32_t ours = test.AddTask(7);
  test.RunASecond(ours, 100, 50, 100);
  PowerChannel counter = TestCounter("CPU:0", std::vector<double>(250, 10.0));
  const Measurement exact = Measure(Trace({counter}), test.recording(), {});
  EXPECT_FALSE(exact.total.ours_low) << "a meter without a known error";
  counter.meter.error = 0.2;
  const Measurement rough = Measure(Trace({counter}), test.recording(), {});
  EXPECT_NEAR(ValueOrNan(rough.total.ours), 5, 1e-6);
  EXPECT_NEAR(ValueOrNan(rough.total.ours_low), 4, 1e-6);
  EXPECT_NEAR(ValueOrNan(rough.total.ours_high), 6, 1e-6);
  // CPU times end a second before the recording does.
  counter = TestCounter("CPU:0", std::vector<double>(500, 10.0));
  test.recording().end = Nanos{kTestStart + 2000 * kMilli};
  const Measurement unseen = Measure(Trace({counter}), test.recording(), {});
  EXPECT_GT(ValueOrNan(unseen.total.ours_high), ValueOrNan(unseen.total.ours) + 7)
      << "what was used unseen may be ours";
  EXPECT_NEAR(ValueOrNan(unseen.total.ours_low), ValueOrNan(unseen.total.ours), 1e-9);
}

TEST(MeasureTest, OursLiesBetweenBothRulesOfASplit) {
  TestRecording test({0, 0});
  const uint32_t ours = test.AddTask(7);
  test.RunASecond(ours, 100, 100, 100);  // beside an idle CPU
  PowerChannel counter = TestCounter("CPU:0", std::vector<double>(250, 10.0));
  for (const SplitRule rule : {SplitRule::kBusy, SplitRule::kCapacity}) {
    const Measurement measured = Measure(Trace({counter}), test.recording(), {rule, 10});
    EXPECT_NEAR(ValueOrNan(measured.total.ours), rule == SplitRule::kBusy ? 10 : 5, 1e-6);
    EXPECT_NEAR(ValueOrNan(measured.total.ours_low), 5, 1e-6);
    EXPECT_NEAR(ValueOrNan(measured.total.ours_high), 10, 1e-6);
  }
  counter.meter.error = 0.1;
  const Measurement rough = Measure(Trace({counter}), test.recording(), {});
  EXPECT_NEAR(ValueOrNan(rough.total.ours_low), 4.5, 1e-6);
  EXPECT_NEAR(ValueOrNan(rough.total.ours_high), 11, 1e-6);
}

// On an idle machine a recorder is nearly all that runs, and still adds next to nothing.
TEST(MeasureTest, OverheadIsByTheTimeThatTheCpusHave) {
  TestRecording test({0, 0});
  const uint32_t recorder = test.AddTask(9, TaskOwner::kRecorder);
  test.RunASecond(recorder, 100, 2, 2);
  const PowerTrace power = Trace({TestCounter("CPU:0", std::vector<double>(250, 10.0))});
  for (const SplitRule rule : {SplitRule::kBusy, SplitRule::kCapacity}) {
    EXPECT_NEAR(Measure(power, test.recording(), {rule, 10}).overhead->value, 0.1, 1e-9);
  }
  EXPECT_NEAR(Measure(power, test.recording(), {}).devices[0].split.recorder->value, 10, 1e-6);
}

TEST(MeasureTest, ARecorderThatWasNotSeenIsNotZero) {
  TestRecording test({0});
  const uint32_t task = test.AddTask(7);
  test.RunASecond(task, 1000, 500, 500);
  const Measurement measured =
      Measure(Trace({TestCounter("CPU:0", std::vector<double>(250, 10.0))}), test.recording(), {});
  EXPECT_FALSE(measured.devices[0].split.recorder);
  EXPECT_FALSE(measured.overhead);
  EXPECT_NEAR(ValueOrNan(measured.devices[0].split.ours), 10, 1e-9);
  EXPECT_EQ(measured.devices[0].rest, Joules{}) << "not a little less";
}

// Two packages by their meters, one by what the machine says of its CPUs.
TEST(MeasureTest, CpuTimeIsNotGivenToTwoPackages) {
  TestRecording test({0});
  const uint32_t task = test.AddTask(7);
  test.RunASecond(task, 1000, 500, 500);
  const std::vector<double> watts(250, 10.0);
  const Measurement two = Measure(Trace({TestCounter("CPU:0", watts), TestCounter("CPU:1", watts)}),
                                  test.recording(), {});
  EXPECT_NEAR(ValueOrNan(two.devices[0].split.ours), 10, 1e-9);
  EXPECT_FALSE(two.devices[1].split.ours);
  const Measurement one = Measure(Trace({TestCounter("CPU:3", watts)}), test.recording(), {});
  EXPECT_NEAR(ValueOrNan(one.devices[0].split.ours), 10, 1e-9) << "it can only be that one";
  const Measurement dies =
      Measure(Trace({TestCounter("CPU:0:die0", watts), TestCounter("CPU:0:die1", watts)}),
              test.recording(), {});
  EXPECT_NEAR(ValueOrNan(dies.devices[1].split.ours), 10, 1e-9);
}

TEST(MeasureTest, FeaturesAreOfTheRoundsAndByTime) {
  Recording recording;
  recording.start = Nanos{kTestStart};
  recording.end = Nanos{kTestStart + 1000 * kMilli};
  for (const int64_t at : {0, 100, 400, 500, 600, 1000}) {
    recording.features.times.push_back(Nanos{kTestStart + at * kMilli});
  }
  recording.features.columns = {{"cpu_util", "", {kUnknown, 10, 20, 60, 30, 90}}};
  const PowerTrace power = Trace({TestCounter("GPU:0", std::vector<double>(250, 100.0))});
  const Measurement whole = Measure(power, recording, {});
  EXPECT_NEAR(*whole.features[0].mean, (10 + 3 * 20 + 60 + 30 + 4 * 90) / 10.0, 1e-9);
  EXPECT_NEAR(*whole.features[2].mean, 100, 1e-9) << "gpu_energy";
  auto window = [](std::string name, int64_t from, int64_t to, bool warm_up, uint32_t runs) {
    return RunWindow{std::move(name), Nanos{kTestStart + from * kMilli},
                     Nanos{kTestStart + to * kMilli}, warm_up, runs};
  };
  recording.windows = {window("warm-up", 0, 400, true, 1), window("round 1", 400, 500, false, 2),
                       window("round 2", 500, 600, false, 2)};
  const Measurement rounds = Measure(power, recording, {});
  EXPECT_NEAR(*rounds.features[0].mean, 45, 1e-9);
  EXPECT_NEAR(*rounds.features[1].mean, 0.05, 1e-9) << "latency";
  EXPECT_NEAR(*rounds.features[2].mean, 5, 1e-9) << "gpu_energy of a run";
}

TEST(MeasureTest, ACounterThatMovedLaterMoves) {
  PowerChannel counter = TestCounter("CPU:0", std::vector<double>(250, 10.0));
  counter.meter.moves = false;
  EXPECT_EQ(Measure(Trace({counter}), {}, {}).channels[0].meter.moves, true);
  PowerChannel still = TestCounter("CPU:0", std::vector<double>(250, 0.0));
  still.meter.moves = false;
  EXPECT_EQ(Measure(Trace({still}), {}, {}).channels[0].meter.moves, false);
}

TEST(MeasureTest, ACounterThatAnEstimateStandsInForIsShownAndNoDevice) {
  PowerChannel still = TestCounter("CPU:0", {0.0});
  still.gaps = {{1, GapReason::kCounterStoodStill}};
  PowerChannel guess = TestCounter(EstimateName("CPU:0"), std::vector<double>(250, 10.0));
  guess.meter.within = "CPU:0";
  guess.meter.origin = Origin::kEstimated;
  PowerTrace power = Trace({still, guess});
  SettleEstimates(power);
  const Measurement measured = Measure(power, {}, {});
  ASSERT_EQ(measured.devices.size(), 1U);
  EXPECT_EQ(measured.devices[0].device, "CPU:0");
  EXPECT_EQ(measured.devices[0].origin, Origin::kEstimated);
  ASSERT_EQ(measured.channels.size(), 2U);
  EXPECT_EQ(measured.channels[1].name, "CPU:0:counter");
  EXPECT_FALSE(measured.channels[1].energy);
}

// Meters are read a little before the start and after the end, so that both lie within a step.
TEST(MeasureTest, OnlyWhatLiesInTheRecordingCounts) {
  Recording recording;
  recording.period = Nanos{4 * kMilli};
  recording.start = Nanos{kTestStart + 250 * kMilli};
  recording.end = Nanos{kTestStart + 850 * kMilli};
  const Measurement measured =
      Measure(Trace({TestCounter("CPU:0", {10, 20, 30, 40, 50}, 200)}), recording, {});
  EXPECT_NEAR(measured.duration.value, 0.6, 1e-12);
  EXPECT_NEAR(measured.devices[0].known_time.value, 0.6, 1e-12);
  EXPECT_NEAR(ValueOrNan(measured.devices[0].energy), 20 * 0.15 + 30 * 0.2 + 40 * 0.2 + 50 * 0.05,
              1e-9);
  EXPECT_THAT(measured.devices[0].gaps, IsEmpty());
}

// A gap at the ends is reported, however slow the meter is.
TEST(MeasureTest, AnEndThatASlowMeterDoesNotTellIsSaid) {
  Recording recording;
  recording.period = Nanos{4 * kMilli};
  recording.start = Nanos{kTestStart};
  recording.end = Nanos{kTestStart + 3100 * kMilli};
  PowerChannel slow = TestCounter("GPU:0", {10, 20, 30}, 1000);
  slow.meter.update_period_us = 1e6;
  const Measurement measured = Measure(Trace({slow}), recording, {});
  ASSERT_EQ(measured.devices[0].gaps.size(), 1U);
  EXPECT_NEAR(measured.devices[0].gaps[0].duration.value, 0.1, 1e-9);
  EXPECT_THAT(measured.total.missing, ElementsAre("GPU:0 for 100 ms"));
}

TEST(MeasureTest, AKilledRecorderIsMeasuredUpToItsLastReading) {
  Recording recording;
  recording.start = Nanos{kTestStart};
  const Measurement measured =
      Measure(Trace({TestCounter("CPU:0", std::vector<double>(250, 10.0))}), recording, {});
  EXPECT_NEAR(measured.duration.value, 1, 1e-9);
  EXPECT_THAT(measured.devices[0].gaps, IsEmpty());
}

TEST(MeasureTest, NothingAtAllIsNothingKnown) {
  const Measurement measured = Measure({}, {}, {});
  EXPECT_EQ(measured.duration, Seconds{});
  EXPECT_THAT(measured.devices, IsEmpty());
}

// Random runs with gaps, births, migrations and frozen counters keep the law, by either rule.
TEST(MeasureTest, PartsMakeTheWhole) {
  std::mt19937_64 random(11);
  for (int round = 0; round < 100; ++round) {
    TestRecording test({0, 0, 1, 1});
    const auto dice = [&](uint64_t sides) { return static_cast<int64_t>(random() % sides); };
    std::vector<uint32_t> tasks;
    for (int64_t at = dice(900); at < 2000; at += 5 + dice(40)) {
      if (tasks.empty() || dice(6) == 0) {
        tasks.push_back(test.AddTask(static_cast<int32_t>(dice(3)),
                                     dice(4) == 0 ? TaskOwner::kRecorder : TaskOwner::kWatched));
      }
      for (const uint32_t task : tasks) {
        if (dice(2) == 0) test.Run(task, static_cast<uint16_t>(dice(4)), dice(50));
      }
      for (size_t cpu = 0; cpu < 4; ++cpu) test.Busy(cpu, dice(4) * 10);
      test.Sample(at);
    }
    PowerTrace power;
    for (const char* name : {"CPU:0", "CPU:1", "DRAM:0", "GPU:0", "psys"}) {
      std::vector<double> watts(500);
      for (double& watt : watts) watt = static_cast<double>(dice(5) == 0 ? 0 : dice(100));
      PowerChannel channel = TestCounter(name, watts);
      if (dice(3) == 0) channel.gaps = {{static_cast<size_t>(1 + dice(200))}, {400}};
      if (dice(8) == 0) channel.kind = ChannelKind::kPowerGauge;
      power.channels.push_back(std::move(channel));
    }
    test.recording().end = Nanos{kTestStart + 2000 * kMilli};
    for (const SplitRule rule : {SplitRule::kBusy, SplitRule::kCapacity}) {
      const Measurement measured = Measure(power, test.recording(), {rule, 50});
      EXPECT_EQ(measured.devices.size(), 4U);
      ExpectLaw(measured);
    }
  }
}

}  // namespace
}  // namespace beryl::account
