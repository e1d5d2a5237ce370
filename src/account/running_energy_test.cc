#include "account/running_energy.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace beryl::account {
namespace {

constexpr int64_t kStart = 1'700'000'000'000'000'000;
constexpr int64_t kMs = 1'000'000;

Nanos At(int64_t ms) { return Nanos{kStart + ms * kMs}; }

PowerChannel Counter(const std::string& name) {
  PowerChannel channel;
  channel.name = name;
  channel.scope = ScopeOfName(name);
  channel.kind = ChannelKind::kEnergyCounter;
  channel.meter.source = "test";
  return channel;
}

// A machine of one CPU that is busy all the time, half of it with our task. The package uses 50 W,
// its counter steps every `step` ms; the GPU 200 W, every 100 ms.
class RunningEnergyTest : public testing::Test {
 protected:
  // What is read from one millisecond to another, in one piece.
  void Pass(int64_t from, int64_t to) {
    RecordingPiece piece;
    piece.power.channels = {Counter("CPU:0"), Counter("GPU:0")};
    ActivityTrace& activity = piece.recording.activity;
    activity.cpu_package = {0};
    activity.cpu_time = "schedstat";
    if (from == 0) {
      Task task;
      task.pid = task.tid = 1;
      task.owner = TaskOwner::kWatched;
      activity.tasks.push_back(task);
    }
    activity.first_reading.push_back(0);
    for (int64_t ms = from; ms < to; ++ms) {
      if (ms % step_ == 0) Put(piece.power.channels[0], ms, 50);
      if (ms % 100 == 0) Put(piece.power.channels[1], ms, 200);
      if (ms % 20 != 0) continue;
      activity.times.push_back(At(ms));
      activity.busy_ns.push_back(static_cast<uint64_t>(ms * kMs));
      activity.readings.push_back({0, 0, static_cast<uint64_t>(ms * kMs / 2)});
      activity.first_reading.push_back(activity.readings.size());
    }
    energy_.Add(piece);
    energy_.Settle();
  }
  static void Put(PowerChannel& channel, int64_t ms, double watts) {
    channel.times.push_back(At(ms));
    channel.values.push_back(watts * static_cast<double>(ms) / 1000);
  }
  static const LiveDevice& Find(const std::vector<LiveDevice>& devices, const std::string& name) {
    for (const LiveDevice& device : devices) {
      if (device.device == name) return device;
    }
    static const LiveDevice none;
    return none;
  }

  int64_t step_ = 1;
  RunningEnergy energy_{Nanos{kMs}};
};

TEST_F(RunningEnergyTest, TellsShortWindowsByTheReadingsAroundThem) {
  Pass(0, 1001);
  int64_t now = 1001;
  for (const int64_t length : {5, 20, 50, 150, 300, 1000}) {
    const uint64_t window = energy_.OpenWindow("step", At(now));
    Pass(now, now + length);
    now += length;
    EXPECT_TRUE(energy_.EndWindow(window, At(now)));
    const auto used = energy_.CloseWindow(window)->devices;
    EXPECT_NEAR(ValueOrNan(Find(used, "CPU:0").energy), 0.05 * static_cast<double>(length), 1e-6)
        << length;
    if (length < 300) continue;
    EXPECT_NEAR(ValueOrNan(Find(used, "GPU:0").energy), 0.2 * static_cast<double>(length), 1e-6)
        << length;
    EXPECT_NEAR(ValueOrNan(Find(used, "CPU:0").ours), 0.025 * static_cast<double>(length), 2)
        << length;
  }
}

TEST_F(RunningEnergyTest, SaysNothingOfAWindowThatAMeterTookNoStepIn) {
  Pass(0, 1001);
  const uint64_t window = energy_.OpenWindow("step", At(1010));
  Pass(1001, 1060);
  EXPECT_TRUE(energy_.EndWindow(window, At(1060)));
  const auto closed = energy_.CloseWindow(window);
  EXPECT_EQ(closed->name, "step");
  EXPECT_FALSE(closed->energy);  // of all devices together
  const auto& used = closed->devices;
  EXPECT_NEAR(ValueOrNan(Find(used, "CPU:0").energy), 2.5, 1e-6);
  EXPECT_EQ(Find(used, "GPU:0").device, "GPU:0");
  EXPECT_FALSE(Find(used, "GPU:0").energy);
}

TEST_F(RunningEnergyTest, WindowsThatBeginAndEndBetweenSettledStretches) {
  Pass(0, 501);
  const uint64_t first = energy_.OpenWindow("outer", At(510));
  const uint64_t second = energy_.OpenWindow("inner", At(730));
  for (int64_t ms = 501; ms < 2251; ms += 250) Pass(ms, ms + 250);
  EXPECT_TRUE(energy_.EndWindow(second, At(2490)));
  EXPECT_TRUE(energy_.EndWindow(first, At(2500)));
  Pass(2251, 2521);
  EXPECT_NEAR(ValueOrNan(Find(energy_.CloseWindow(second)->devices, "CPU:0").energy), 1.76 * 50,
              1e-6);
  const auto used = energy_.CloseWindow(first)->devices;
  EXPECT_NEAR(ValueOrNan(Find(used, "CPU:0").energy), 1.99 * 50, 1e-6);
  EXPECT_NEAR(ValueOrNan(Find(used, "CPU:0").ours), 1.99 * 25, 1);
  EXPECT_FALSE(energy_.CloseWindow(first));
  EXPECT_FALSE(energy_.EndWindow(first, At(2600)));
}

TEST_F(RunningEnergyTest, SettlesTheTailAtTheEnd) {
  Pass(0, 51);
  EXPECT_TRUE(energy_.devices().empty());
  energy_.Finish();
  EXPECT_NEAR(ValueOrNan(Find(energy_.devices(), "CPU:0").energy), 2.5, 1e-6);
  EXPECT_NEAR(ValueOrNan(Find(energy_.devices(), "CPU:0").ours), 1.25, 0.3);
}

}  // namespace
}  // namespace beryl::account
