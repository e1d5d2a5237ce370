#include <cmath>
#include <numeric>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "account/account.h"
#include "account/recording_testing.h"

namespace beryl::account {
namespace {

using ::testing::Contains;
using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

PowerTrace Trace(std::vector<PowerChannel> channels) {
  PowerTrace power;
  power.channels = std::move(channels);
  return power;
}

double Known(double x) { return std::isnan(x) ? 0 : x; }

void ExpectLaw(const Measurement& measured) {
  for (size_t i = 0; i < measured.devices.size(); ++i) {
    const DeviceEnergy& device = measured.devices[i];
    const EnergySplit& split = device.split;
    if (std::isnan(split.ours_j)) continue;
    const double scale = 1e-9 * std::max(1.0, std::abs(device.energy_j));
    EXPECT_NEAR(
        Known(split.ours_j) + Known(split.others_j) + Known(split.recorder_j) + Known(split.idle_j),
        device.energy_j, scale);
    for (const double part : {split.ours_j, split.others_j, split.recorder_j, split.idle_j}) {
      EXPECT_GE(Known(part), 0);
    }
    EXPECT_LE(split.ours_j, device.energy_j + scale);
    double ours = 0;
    double recorder = 0;
    for (const ProcessEnergy& process : measured.processes) {
      (process.owner == TaskOwner::kWatched ? ours : recorder) += Known(process.energy_j[i]);
    }
    if (ScopeOfName(device.device) == ChannelScope::kGpu) continue;
    EXPECT_NEAR(ours, split.ours_j, scale);
    EXPECT_NEAR(recorder, split.recorder_j, scale);
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
  EXPECT_NEAR(measured.devices[0].energy_j, 50, 1e-9);
  EXPECT_NEAR(measured.devices[0].mean_w, 50, 1e-9);
  // In the first window the tasks are seen to move from CPU 0, where all began.
  EXPECT_NEAR(measured.devices[0].split.ours_j, 50, 1e-6);
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
  EXPECT_NEAR(busy.ours_j, 20, 1e-9);
  EXPECT_NEAR(busy.others_j, 20, 1e-9);
  EXPECT_NEAR(busy.idle_j, 0, 1e-9);
  const EnergySplit capacity =
      Measure(power, test.recording(), {SplitRule::kCapacity, 10}).devices[0].split;
  EXPECT_NEAR(capacity.ours_j, 5, 1e-9);
  EXPECT_NEAR(capacity.others_j, 5, 1e-9);
  EXPECT_NEAR(capacity.idle_j, 30, 1e-9);
}

TEST(MeasureTest, WhileNothingRunsEnergyIsIdle) {
  TestRecording test({0});
  for (int64_t at = 0; at <= 1000; at += 100) test.Sample(at);
  const PowerTrace power = Trace({TestCounter("CPU:0", std::vector<double>(250, 10.0))});
  const Measurement measured = Measure(power, test.recording(), {});
  EXPECT_NEAR(measured.devices[0].split.idle_j, 10, 1e-9);
  EXPECT_TRUE(std::isnan(measured.devices[0].split.ours_j));  // nothing was watched
}

// What contains a device and what it contains is shown, never added.
TEST(MeasureTest, NothingIsCountedTwice) {
  PowerChannel core = TestCounter("CORE:0", std::vector<double>(250, 30.0));
  core.meter.within = "CPU:0";
  PowerChannel package = TestCounter("CPU:0", std::vector<double>(250, 50.0));
  package.meter.within = "psys";
  const PowerTrace power = Trace({TestCounter("psys", std::vector<double>(250, 80.0)), core,
                                  package, TestCounter("DRAM:0", std::vector<double>(250, 5.0))});
  const Measurement measured = Measure(power, {}, {});
  ASSERT_EQ(measured.devices.size(), 2U);
  EXPECT_EQ(measured.devices[0].device, "CPU:0");
  EXPECT_THAT(measured.devices[0].channels, ElementsAre("psys", "CORE:0", "CPU:0"));
  EXPECT_EQ(measured.devices[1].device, "DRAM:0");
  EXPECT_EQ(measured.channels.size(), 4U);
  EXPECT_EQ(measured.whole.channel, "psys");
  EXPECT_NEAR(measured.whole.energy_j, 80, 1e-9);
  EXPECT_NEAR(measured.whole.devices_j, 55, 1e-9);
  EXPECT_NEAR(measured.whole.rest_j, 25, 1e-9);
  EXPECT_TRUE(std::isnan(measured.devices[0].split.ours_j));
  EXPECT_THAT(measured.notes, Contains(HasSubstr("who used the CPUs was not recorded")));
}

TEST(MeasureTest, TheWallIsADeviceOnlyIfNothingBehindItWasMeasured) {
  PowerChannel guess = TestCounter("CPU:0", std::vector<double>(250, 50.0));
  guess.meter.origin = Origin::kEstimated;
  guess.meter.error = 0.5;
  const PowerChannel wall = TestCounter("wall", std::vector<double>(250, 100.0));
  const Measurement only_guess = Measure(Trace({guess}), {}, {});
  EXPECT_EQ(only_guess.devices.at(0).origin, Origin::kEstimated);
  EXPECT_NEAR(only_guess.devices[0].low_j, 25, 1e-9);
  EXPECT_NEAR(only_guess.devices[0].high_j, 75, 1e-9);
  const Measurement with_wall = Measure(Trace({guess, wall}), {}, {});
  ASSERT_EQ(with_wall.devices.size(), 1U);
  EXPECT_EQ(with_wall.devices[0].device, "wall");
  EXPECT_THAT(with_wall.notes, Contains(HasSubstr("wall was measured and nothing behind it")));
  const Measurement with_gpu =
      Measure(Trace({guess, wall, TestCounter("GPU:0", std::vector<double>(250, 30.0))}), {}, {});
  EXPECT_EQ(with_gpu.devices.size(), 2U);
  EXPECT_EQ(with_gpu.whole.channel, "wall");
  EXPECT_NEAR(with_gpu.whole.rest_j, 20, 1e-9);
}

TEST(MeasureTest, AGapIsNamedAndNotFilled) {
  PowerChannel counter = TestCounter("CPU:0", std::vector<double>(250, 50.0));
  counter.times.erase(counter.times.begin() + 100, counter.times.begin() + 150);
  counter.values.erase(counter.values.begin() + 100, counter.values.begin() + 150);
  counter.gaps = {100};
  counter.gap_reasons = {"the counter stood still"};
  Recording recording;
  recording.start = Nanos{kTestStart};
  recording.end = Nanos{kTestStart + 1000 * kMilli};
  recording.windows = {{"round 1", Nanos{kTestStart}, Nanos{kTestStart + 300 * kMilli}},
                       {"round 2", Nanos{kTestStart + 300 * kMilli}, recording.end}};
  const Measurement measured = Measure(Trace({counter}), recording, {});
  const DeviceEnergy& device = measured.devices.at(0);
  EXPECT_NEAR(device.seconds, 0.796, 1e-9);
  EXPECT_NEAR(device.energy_j, 50 * 0.796, 1e-9);
  EXPECT_NEAR(device.mean_w, 50, 1e-9);
  ASSERT_EQ(device.gaps.size(), 1U);
  EXPECT_NEAR(device.gaps[0].start_s, 0.396, 1e-9);
  EXPECT_NEAR(device.gaps[0].seconds, 0.204, 1e-9);
  EXPECT_THAT(measured.notes, Contains(HasSubstr("CPU:0: nothing is known for 204 ms of 1.00 s")));
  EXPECT_TRUE(std::isnan(device.slices_w[60]));
  EXPECT_NEAR(measured.windows[0].energy_j, 15, 1e-9);
  EXPECT_TRUE(std::isnan(measured.windows[1].energy_j));
  EXPECT_EQ(measured.energy_j.rounds, 1U);
  EXPECT_EQ(measured.seconds_s.rounds, 2U);
}

TEST(MeasureTest, BeforeTheFirstAndAfterTheLastReadingNothingIsInvented) {
  Recording recording;
  recording.start = Nanos{kTestStart - 500 * kMilli};
  recording.end = Nanos{kTestStart + 2000 * kMilli};
  const Measurement measured =
      Measure(Trace({TestCounter("CPU:0", std::vector<double>(250, 50.0))}), recording, {});
  EXPECT_NEAR(measured.seconds, 2.5, 1e-9);
  EXPECT_NEAR(measured.devices[0].energy_j, 50, 1e-9);
  EXPECT_NEAR(measured.devices[0].seconds, 1, 1e-9);
  ASSERT_EQ(measured.devices[0].gaps.size(), 2U);
  EXPECT_EQ(measured.devices[0].gaps[0].reason, "before the first reading");
  EXPECT_NEAR(measured.devices[0].gaps[1].start_s, 1.5, 1e-9);
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
    EXPECT_TRUE(std::isnan(measured.devices[device].energy_j));
    EXPECT_TRUE(std::isnan(measured.devices[device].mean_w));
    EXPECT_FALSE(measured.devices[device].gaps.empty());
  }
  EXPECT_THAT(measured.notes, Contains("GPU:0: nothing is known: the meter told nothing"));
  EXPECT_THAT(measured.notes, Contains("DRAM:0: nothing is known: the counter never moved"));
}

TEST(MeasureTest, AGpuIsToldApartByWhoUsedIt) {
  Recording recording;
  recording.start = Nanos{kTestStart};
  recording.end = Nanos{kTestStart + 1000 * kMilli};
  for (int64_t at = 0; at <= 1000; at += 100) {
    recording.features.times.push_back(Nanos{kTestStart + at * kMilli});
  }
  recording.features.columns = {{"gpu_util", "GPU:0", std::vector<double>(11, 80.0)},
                                {"gpu_ours", "GPU:0", std::vector<double>(11, 0.25)}};
  const PowerTrace power = Trace({TestCounter("GPU:0", std::vector<double>(250, 100.0)),
                                  TestCounter("GPU:1", std::vector<double>(250, 100.0))});
  const Measurement measured = Measure(power, recording, {});
  EXPECT_NEAR(measured.devices[0].split.ours_j, 25, 1e-9);
  EXPECT_NEAR(measured.devices[0].split.others_j, 75, 1e-9);
  EXPECT_TRUE(std::isnan(measured.devices[0].split.recorder_j));
  EXPECT_TRUE(std::isnan(measured.devices[1].split.ours_j));
  EXPECT_THAT(measured.notes, Contains(HasSubstr("GPU:1: whose its work was is not known")));
  ASSERT_EQ(measured.features.size(), 3U);
  EXPECT_EQ(measured.features[0].name, "gpu_util");
  EXPECT_NEAR(measured.features[0].mean, 80, 1e-9);
  EXPECT_EQ(measured.features[2].name, "gpu_energy");
  EXPECT_NEAR(measured.features[2].mean, 200, 1e-9);
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
  EXPECT_EQ(measured.energy_j.rounds, 2U);
  EXPECT_NEAR(measured.energy_j.mean, 3, 1e-9);
  EXPECT_NEAR(measured.energy_j.deviation, std::sqrt(2), 1e-9);
  EXPECT_NEAR(measured.seconds_s.mean, 0.3, 1e-9);
  EXPECT_EQ(measured.windows[2].runs, 0U);
  EXPECT_NEAR(measured.features[0].mean, 0.3, 1e-9) << "latency";
  recording.windows[1].runs = 2;
  recording.windows[2].runs = 4;
  const Measurement of_runs =
      Measure(Trace({TestCounter("CPU:0", std::vector<double>(250, 10.0))}), recording, {});
  EXPECT_EQ(of_runs.windows[2].runs, 4U);
  EXPECT_NEAR(of_runs.features[0].mean, 0.1, 1e-9) << "of a run of the command";
}

TEST(MeasureTest, AKilledRecorderIsMeasuredUpToItsLastReading) {
  Recording recording;
  recording.start = Nanos{kTestStart};
  const Measurement measured =
      Measure(Trace({TestCounter("CPU:0", std::vector<double>(250, 10.0))}), recording, {});
  EXPECT_NEAR(measured.seconds, 1, 1e-9);
  EXPECT_THAT(measured.devices[0].gaps, IsEmpty());
}

TEST(MeasureTest, NothingAtAllIsNothingKnown) {
  const Measurement measured = Measure({}, {}, {});
  EXPECT_EQ(measured.seconds, 0);
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
      if (dice(3) == 0) channel.gaps = {static_cast<size_t>(1 + dice(200)), 400};
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
