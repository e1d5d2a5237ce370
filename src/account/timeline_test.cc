#include <cmath>

#include "account/account.h"
#include "account/reference_testing.h"
#include "base/matchers_for_test.h"

namespace beryl::account {
namespace {

AccountOptions WithPolicy(Policy policy) {
  AccountOptions options;
  options.policy = policy;
  return options;
}

// Means are over slices of whole nanoseconds that fill the timeline.
double Integrate(const Timeline& timeline, const Timeline::Channel& channel) {
  const auto slices = static_cast<int64_t>(channel.mean_w.size());
  double sum = 0;
  for (int64_t i = 0; i < slices; ++i) {
    const int64_t from = timeline.duration.value * i / slices;
    const int64_t to = timeline.duration.value * (i + 1) / slices;
    const double mean = channel.mean_w[static_cast<size_t>(i)];
    if (!std::isnan(mean)) sum += mean * static_cast<double>(to - from) * 1e-9;
  }
  return sum;
}

TEST(TimelineTest, MeansIntegrateToTheEnergyOfTheWindow) {
  std::vector<int64_t> times;
  std::vector<double> values;
  for (int64_t i = 0; i < 50; ++i) {
    times.push_back(1000 + i * 37 + (i % 3));
    values.push_back(static_cast<double>((i * 7919) % 100));
  }
  const PowerTrace power = MakePower({MakeChannel("CPU:0", times, values)});
  OpTraceMaker ops;
  ops.Add("A", 1000, times.back());
  for (const Policy policy : {Policy::kHold, Policy::kLinear}) {
    // 7 and 100 do not divide the duration: nothing may be lost at the end.
    for (const size_t slices : {1, 7, 100, 1000}) {
      const Timeline timeline = MakeTimeline(power, ops, WithPolicy(policy), {}, slices);
      EXPECT_EQ(timeline.start.value, 1000);
      EXPECT_EQ(timeline.duration.value, times.back() - 1000);
      const auto expected = static_cast<double>(
          IntegrateSlowly(power.channels[0], policy, Nanos{1000}, Nanos{times.back()}));
      EXPECT_NEAR(Integrate(timeline, timeline.channels[0]), expected, 1e-12 * expected) << slices;
    }
  }
}

TEST(TimelineTest, UnknownPowerIsNotANumber) {
  const PowerTrace power = MakePower(
      {MakeChannel("CPU:0", {0, 25, 50, 100}, {0, 1, 2, 3}, ChannelKind::kEnergyCounter, {2}),
       MakeChannel("GPU:0", {50, 75}, {4, 4}), MakeChannel("GPU:1", {10}, {4})});
  OpTraceMaker ops;
  ops.Add("A", 0, 100);
  const Timeline timeline = MakeTimeline(power, ops, {}, {}, 4);
  ASSERT_EQ(timeline.channels.size(), 3U);
  const Timeline::Channel& cpu = timeline.channels[0];
  EXPECT_FALSE(std::isnan(cpu.mean_w[0]));
  EXPECT_THAT(cpu.mean_w[1], IsNan());
  EXPECT_THAT(cpu.min_w[1], IsNan());
  EXPECT_THAT(cpu.max_w[1], IsNan());
  EXPECT_FALSE(std::isnan(cpu.mean_w[2]));
  EXPECT_THAT(timeline.channels[1].mean_w, ElementsAre(IsNan(), IsNan(), 4, IsNan()));
  EXPECT_THAT(timeline.channels[1].max_w, ElementsAre(IsNan(), IsNan(), 4, IsNan()));
  EXPECT_THAT(timeline.channels[2].mean_w, Each(IsNan()));
}

TEST(TimelineTest, LowestAndHighestAreThoseInsideTheSlice) {
  const PowerTrace power = MakePower({MakeChannel("CPU:0", {0, 100}, {0, 100})});
  OpTraceMaker ops;
  ops.Add("A", 0, 100);
  const Timeline line = MakeTimeline(power, ops, WithPolicy(Policy::kLinear), {}, 4);
  EXPECT_THAT(line.channels[0].mean_w, ElementsAre(12.5, 37.5, 62.5, 87.5));
  EXPECT_THAT(line.channels[0].min_w, ElementsAre(0, 25, 50, 75));
  EXPECT_THAT(line.channels[0].max_w, ElementsAre(25, 50, 75, 100));

  const PowerTrace held = MakePower({MakeChannel("CPU:0", {0, 30, 60, 100}, {1, 5, 3, 9})});
  const Timeline steps = MakeTimeline(held, ops, {}, {}, 2);
  EXPECT_THAT(steps.channels[0].min_w, ElementsAre(1, 3));
  EXPECT_THAT(steps.channels[0].max_w, ElementsAre(5, 5));
}

TEST(TimelineTest, ShowsTheRunAndALittleAroundIt) {
  const PowerTrace power = MakePower({MakeChannel("CPU:0", {0, 1'000'000}, {1, 1})});
  OpTraceMaker ops;
  ops.Add("A", 100, 300);
  const Timeline timeline = MakeTimeline(power, ops, {}, Nanos{500'000}, 10);
  EXPECT_EQ(timeline.start.value, 500'090);
  EXPECT_EQ(timeline.duration.value, 220);
}

TEST(TimelineTest, StepsAreOnThePowerClock) {
  const PowerTrace power = MakePower({MakeChannel("CPU:0", {1000, 2000}, {1, 1})});
  OpTraceMaker ops;
  ops.Add("A", 0, 300);
  ops.trace().steps = {{"step 0", Nanos{0}, Nanos{300}}};
  const Timeline timeline = MakeTimeline(power, ops, {}, Nanos{1000}, 10);
  EXPECT_EQ(timeline.steps[0].start.value, 1000);
  EXPECT_EQ(timeline.steps[0].end.value, 1300);
}

TEST(TimelineTest, ActivityIsTheShareOfEachPhase) {
  const PowerTrace power = MakePower({MakeChannel("CPU:0", {0, 100}, {1, 1})});
  OpTraceMaker ops;
  ops.Add("forward", 0, 50);
  ops.Add("backward", 25, 50);
  ops.trace().kinds[1].phase = Phase::kBackward;
  ops.Add("forward", 75, 100);
  const Timeline timeline = MakeTimeline(power, ops, {}, {}, 4);
  EXPECT_THAT(timeline.activity[0],
              ElementsAre(DoubleNear(1, 1e-12), DoubleNear(0.5, 1e-12), 0, DoubleNear(1, 1e-12)));
  EXPECT_THAT(timeline.activity[1], ElementsAre(0, DoubleNear(0.5, 1e-12), 0, 0));
  EXPECT_THAT(timeline.activity[2], Each(0));
}

TEST(TimelineTest, EmptyAndTinyRunsAreDrawnWithoutTrouble) {
  const PowerTrace power = MakePower({MakeChannel("CPU:0", {0, 3}, {1, 1})});
  EXPECT_EQ(MakeTimeline(power, OpTrace(), {}, {}, 10).channels[0].mean_w.size(), 10U);
  OpTraceMaker ops;
  ops.Add("A", 1, 1);
  EXPECT_EQ(MakeTimeline(power, ops, {}, {}, 10).channels[0].mean_w.size(), 10U);
}

TEST(TimelineTest, OfNestedCallsOnlyTheInnermostCounts) {
  const PowerTrace power = MakePower({MakeChannel("CPU:0", {0, 100}, {1, 1})});
  OpTraceMaker ops;
  ops.Add("outer", 0, 100, "CPU:0", 1);
  ops.Add("inner", 25, 75, "CPU:0", 1);
  ops.Add("innermost", 50, 75, "CPU:0", 1);
  ops.trace().kinds[1].phase = Phase::kBackward;
  ops.trace().kinds[2].phase = Phase::kOptimizer;
  // The order of the trace does not matter as long as callers come before what they call.
  for (int turn = 0; turn < 2; ++turn) {
    const Timeline timeline = MakeTimeline(power, ops, {}, {}, 4);
    EXPECT_THAT(timeline.activity[0], ElementsAre(1, 0, 0, 1));
    EXPECT_THAT(timeline.activity[1], ElementsAre(0, 1, 0, 0));
    EXPECT_THAT(timeline.activity[2], ElementsAre(0, 0, 1, 0));
    ops.Add("late", -5, -1, "CPU:0", 2);
  }
}

Footprint FootprintFeeding(std::vector<std::vector<uint16_t>> devices) {
  Footprint footprint;
  for (auto& fed : devices) footprint.channels.emplace_back().fed_devices = std::move(fed);
  return footprint;
}

TEST(TimelineTest, AChannelShowsTheLayersOfWhatItFeeds) {
  const PowerTrace power =
      MakePower({MakeChannel("CPU:0", {0, 100}, {1, 1}), MakeChannel("GPU:0", {0, 100}, {1, 1}),
                 MakeChannel("wall", {0, 100}, {1, 1})});
  OpTraceMaker ops;
  ops.Add("first", 0, 50, "CPU:0");
  ops.Add("second", 25, 75, "GPU:0");
  ops.Add("neither", 75, 100, "GPU:0");
  TimelineOptions wanted;
  wanted.slices = 4;
  wanted.layers = {"bert", {"layer_0", "layer_1"}, {0, 1, kNoLayer}};
  const Timeline timeline = MakeTimeline(power, ops, {}, FootprintFeeding({{0}, {1}, {}}), wanted);
  EXPECT_THAT(timeline.channels[0].layers[0], ElementsAre(1, 1, 0, 0));
  EXPECT_THAT(timeline.channels[0].layers[1], Each(0));
  EXPECT_THAT(timeline.channels[1].layers[1], ElementsAre(0, 1, 1, 0));
  EXPECT_THAT(timeline.channels[1].other, ElementsAre(0, 0, 0, 1));
  EXPECT_THAT(timeline.channels[2].layers[0], ElementsAre(1, 0.5, 0, 0)) << "the plug feeds all";
}

TEST(TimelineTest, TheMeanIsOverStepsAtTheSameElapsedTime) {
  const PowerTrace power =
      MakePower({MakeChannel("CPU:0", {0, 50, 100, 150, 200, 300}, {10, 20, 30, 40, 99, 99})});
  OpTraceMaker ops;
  ops.Add("A", 0, 50, "CPU:0", kNoLane, 0);
  ops.Add("B", 100, 200, "CPU:0", kNoLane, 1);
  ops.trace().steps = {{"0", Nanos{0}, Nanos{100}}, {"1", Nanos{100}, Nanos{200}}};
  TimelineOptions wanted;
  wanted.slices = 2;
  wanted.mean = true;
  wanted.layers = {"all", {"A"}, {0, kNoLayer}};
  const Timeline timeline = MakeTimeline(power, ops, {}, FootprintFeeding({{0}}), wanted);
  EXPECT_EQ(timeline.averaged, 2U);
  EXPECT_EQ(timeline.duration.value, 100);
  EXPECT_THAT(timeline.channels[0].mean_w, ElementsAre(DoubleNear(20, 1e-9), DoubleNear(30, 1e-9)));
  EXPECT_THAT(timeline.channels[0].min_w, ElementsAre(10, 20));
  EXPECT_THAT(timeline.channels[0].max_w, ElementsAre(30, 40));
  EXPECT_THAT(timeline.channels[0].layers[0], ElementsAre(0.5, 0));
  EXPECT_THAT(timeline.channels[0].other, ElementsAre(0.5, 1));

  wanted.mean = false;
  AccountOptions second;
  second.window = {{Nanos{100}, Nanos{200}, Nanos{0}}};
  const Timeline step = MakeTimeline(power, ops, second, FootprintFeeding({{0}}), wanted);
  EXPECT_EQ(step.start.value, 100);
  EXPECT_THAT(step.channels[0].mean_w, ElementsAre(DoubleNear(30, 1e-9), DoubleNear(40, 1e-9)));
}

TEST(TimelineTest, OfStepsOfDifferentLengthTheMeanIsOverThoseThatLast) {
  const PowerTrace power = MakePower({MakeChannel("CPU:0", {0, 50, 100, 200}, {10, 30, 50, 50})});
  OpTraceMaker ops;
  ops.Add("A", 0, 150);
  ops.trace().steps = {{"0", Nanos{0}, Nanos{100}}, {"1", Nanos{100}, Nanos{150}}};
  TimelineOptions wanted;
  wanted.slices = 2;
  wanted.mean = true;
  const Timeline timeline = MakeTimeline(power, ops, {}, FootprintFeeding({{0}}), wanted);
  EXPECT_THAT(timeline.channels[0].mean_w, ElementsAre(DoubleNear(30, 1e-9), DoubleNear(30, 1e-9)));
}

}  // namespace
}  // namespace beryl::account
