#include "server/coarse_readings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace beryl::server {
namespace {

PowerChannel Channel(ChannelScope scope, ChannelKind kind, const char* source, double per_count) {
  PowerChannel channel;
  channel.scope = scope;
  channel.kind = kind;
  channel.meter.source = source;
  channel.meter.per_count = per_count;
  channel.meter.wrap = 1'000'000;
  return channel;
}

TEST(CoarseReadings, TakesFewAndInSteps) {
  CoarseReadings coarse(
      {Channel(ChannelScope::kPackage, ChannelKind::kEnergyCounter, "rapl-powercap", 1e-6),
       Channel(ChannelScope::kBoard, ChannelKind::kEnergyCounter, "rapl-perf", 0.03),
       Channel(ChannelScope::kGpu, ChannelKind::kEnergyCounter, "nvml", 1e-3)},
      Nanos{100}, Joules{0.1});
  EXPECT_TRUE(coarse.is_needed());
  EXPECT_NEAR(coarse.channels()[0].meter.per_count, 0.1, 1e-12);
  EXPECT_EQ(coarse.channels()[0].meter.wrap, 10u);
  EXPECT_NEAR(coarse.channels()[1].meter.per_count, 0.12, 1e-12);
  EXPECT_EQ(coarse.channels()[2].meter.per_count, 1e-3);

  using sources::MeterReading;
  using sources::ReadState;
  const MeterReading readings[] = {
      {ReadState::kOk, 299'999}, {ReadState::kOk, 7}, {ReadState::kRetry, 42}};
  int taken = 0;
  for (int64_t time = 1005; time < 2005; ++time) taken += coarse.Take(Nanos{time}, readings);
  EXPECT_EQ(taken, 11);  // at 1005 and at each hundred
  EXPECT_EQ(coarse.readings()[0].count, 2u);
  EXPECT_EQ(coarse.readings()[1].count, 1u);
  EXPECT_EQ(coarse.readings()[2].count, 42u);
  EXPECT_EQ(coarse.readings()[2].state, ReadState::kRetry);
}

TEST(CoarseReadings, AreNotNeededForWhatEverybodyKnows) {
  PowerChannel estimate =
      Channel(ChannelScope::kPackage, ChannelKind::kEnergyCounter, "estimate", 1e-6);
  estimate.meter.origin = Origin::kEstimated;
  const CoarseReadings coarse(
      {estimate, Channel(ChannelScope::kWall, ChannelKind::kPowerGauge, "battery", 1e-6)},
      Nanos{100}, Joules{0.1});
  EXPECT_FALSE(coarse.is_needed());
  EXPECT_EQ(coarse.channels()[0].meter.per_count, 1e-6);
}

}  // namespace
}  // namespace beryl::server
