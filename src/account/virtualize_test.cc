#include <cmath>
#include <random>

#include "account/account.h"
#include "account/recording_testing.h"
#include "base/matchers_for_test.h"
#include "types/note_testing.h"

namespace beryl::account {
namespace {

double EnergyOf(const PowerChannel& channel) {
  return channel.values.back() - channel.values.front();
}

// All is ours: nothing changes. The released code's trailing window makes 62 W of 110 W, 52 ms
// after the step.
TEST(VirtualizeTest, AStepDoesNotLag) {
  TestRecording test({0});
  const uint32_t task = test.AddTask(7);
  test.RunASecond(task, 20, 20, 20);
  std::vector<double> watts(250, 10.0);
  std::fill(watts.begin() + 100, watts.end(), 110.0);
  PowerTrace power;
  power.channels = {TestCounter("CPU:0", watts)};
  std::vector<Note> notes;
  const PowerTrace ours = Virtualize(power, test.recording(), SplitRule::kBusy, notes);
  ASSERT_EQ(ours.channels[0].times, power.channels[0].times);
  for (size_t i = 1; i < ours.channels[0].values.size(); ++i) {
    EXPECT_NEAR(ours.channels[0].values[i], power.channels[0].values[i], 1e-9);
  }
  EXPECT_THAT(Plain(notes), ElementsAre("only_ours CPU:0"));
}

TEST(VirtualizeTest, WhatCannotBeToldApartStaysAsItIs) {
  TestRecording test({0});
  test.AddTask(7);
  test.Sample(0);
  test.Sample(1000);
  PowerTrace power;
  power.channels = {TestCounter("GPU:0", std::vector<double>(250, 100.0)),
                    TestCounter("wall", std::vector<double>(250, 200.0)),
                    TestCounter("CPU:0", std::vector<double>(250, 50.0))};
  std::vector<Note> notes;
  const PowerTrace ours = Virtualize(power, test.recording(), SplitRule::kBusy, notes);
  EXPECT_EQ(ours.channels[0].values, power.channels[0].values);
  EXPECT_EQ(ours.channels[1].values, power.channels[1].values);
  EXPECT_EQ(EnergyOf(ours.channels[2]), 0) << "nothing of ours ran";
  EXPECT_THAT(Plain(notes), ElementsAre("only_ours CPU:0", "not_told_apart GPU:0, wall"));
}

TEST(VirtualizeTest, IfNothingWasWatchedNothingIsTakenOut) {
  TestRecording test({0});
  test.AddTask(9, TaskOwner::kRecorder);
  test.Sample(0);
  test.Sample(1000);
  PowerTrace power;
  power.channels = {TestCounter("CPU:0", std::vector<double>(250, 50.0))};
  std::vector<Note> notes;
  EXPECT_EQ(Virtualize(power, test.recording(), SplitRule::kBusy, notes).channels[0].values,
            power.channels[0].values);
  EXPECT_THAT(Plain(notes), ElementsAre("nothing_watched"));
}

TEST(VirtualizeTest, TheWallIsToldApartWhereItIsTheOneDevice) {
  TestRecording test({0, 1});
  const uint32_t task = test.AddTask(7);
  test.Sample(0);
  test.Run(task, 0, 500);
  test.Busy(0, 500);
  test.Busy(1, 500);
  test.Sample(1000);
  PowerTrace power;
  power.channels = {TestCounter("wall", std::vector<double>(250, 100.0))};
  std::vector<Note> notes;
  const PowerTrace ours = Virtualize(power, test.recording(), SplitRule::kBusy, notes);
  EXPECT_NEAR(EnergyOf(ours.channels[0]), 50, 1e-9);
  EXPECT_THAT(Plain(notes), ElementsAre("only_ours wall"));
}

// If the users of a GPU are unknown, all of its energy stays; if they are unknown briefly, there is
// a gap.
TEST(VirtualizeTest, WhatIsNotKnownOfAGpuIsNotZero) {
  Recording recording;
  recording.start = Nanos{kTestStart};
  recording.end = Nanos{kTestStart + 20'000 * kMilli};
  recording.activity.tasks = {{7, 7, "ours", TaskOwner::kWatched}};
  for (int64_t at = 0; at <= 20'000; at += 100) {
    recording.features.times.push_back(Nanos{kTestStart + at * kMilli});
  }
  std::vector<double> known(201, 0.25);
  known[10] = std::nan("");
  recording.features.columns = {{"gpu_ours", "GPU:0", known},
                                {"gpu_ours", "GPU:1", std::vector<double>(201, std::nan(""))}};
  recording.features.columns[1].values[0] = 1;
  PowerTrace power;
  power.channels = {TestCounter("GPU:0", std::vector<double>(200, 100.0), 100),
                    TestCounter("GPU:1", std::vector<double>(200, 100.0), 100)};
  std::vector<Note> notes;
  const PowerTrace ours = Virtualize(power, recording, SplitRule::kBusy, notes);
  EXPECT_THAT(ours.channels[0].gaps, ElementsAre(PowerGap{10, GapReason::kOursNotKnown}));
  EXPECT_NEAR(EnergyOf(ours.channels[0]), 25 * 19.9, 1e-9);
  EXPECT_EQ(ours.channels[1].values, power.channels[1].values);
  EXPECT_THAT(Plain(notes), Contains(HasSubstr("ours_not_known GPU:1 share=")));
}

// What Virtualize keeps is what Measure calls ours; gauges become counters.
TEST(VirtualizeTest, AgreesWithMeasure) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 50; ++round) {
    TestRecording test({0, 0, 1, 1});
    const auto dice = [&](uint64_t sides) { return static_cast<int64_t>(random() % sides); };
    std::vector<uint32_t> tasks;
    for (int i = 0; i < 5; ++i) tasks.push_back(test.AddTask(7));
    for (int64_t at = dice(400); at < 2000; at += 5 + dice(40)) {
      for (const uint32_t task : tasks) test.Run(task, static_cast<uint16_t>(dice(4)), dice(10));
      for (size_t cpu = 0; cpu < 4; ++cpu) test.Busy(cpu, dice(3) * 10);
      test.Sample(at);
    }
    PowerTrace power;
    for (const char* name : {"CPU:0", "DRAM:1"}) {
      std::vector<double> watts(500);
      for (double& watt : watts) watt = static_cast<double>(1 + dice(100));
      PowerChannel channel = TestCounter(name, watts);
      if (dice(2) == 0) channel.gaps = {{7}, {300}};
      if (dice(2) == 0) {
        channel.kind = ChannelKind::kPowerGauge;
        channel.values.assign(501, 42.0);
      }
      power.channels.push_back(std::move(channel));
    }
    for (const SplitRule rule : {SplitRule::kBusy, SplitRule::kCapacity}) {
      test.recording().end = Nanos{kTestStart + 2000 * kMilli};
      const Measurement measured = Measure(power, test.recording(), {rule, 10});
      std::vector<Note> notes;
      const PowerTrace ours = Virtualize(power, test.recording(), rule, notes);
      for (size_t i = 0; i < 2; ++i) {
        EXPECT_EQ(ours.channels[i].kind, ChannelKind::kEnergyCounter);
        EXPECT_NEAR(EnergyOf(ours.channels[i]), ValueOrNan(measured.devices[i].split.ours), 1e-9);
      }
    }
  }
}

}  // namespace
}  // namespace beryl::account
