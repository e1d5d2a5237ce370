#include "types/power_trace.h"

#include <gtest/gtest.h>

namespace beryl {
namespace {

TEST(PowerTraceTest, AChannelsNameTellsItsScope) {
  EXPECT_EQ(ScopeOfName("CPU:0"), ChannelScope::kPackage);
  EXPECT_EQ(ScopeOfName("CPU:12"), ChannelScope::kPackage);
  EXPECT_EQ(ScopeOfName("DRAM:0"), ChannelScope::kDram);
  EXPECT_EQ(ScopeOfName("CORE:0"), ChannelScope::kCore);
  EXPECT_EQ(ScopeOfName("UNCORE:1"), ChannelScope::kCore);
  EXPECT_EQ(ScopeOfName("GPU:1"), ChannelScope::kGpu);
  EXPECT_EQ(ScopeOfName("psys"), ChannelScope::kBoard);
  EXPECT_EQ(ScopeOfName("psys:0"), ChannelScope::kBoard);
  EXPECT_EQ(ScopeOfName("wall"), ChannelScope::kWall);
  EXPECT_EQ(ScopeOfName("wall:rack"), ChannelScope::kWall);
  EXPECT_EQ(ScopeOfName("wallpaper"), ChannelScope::kOther);
  EXPECT_EQ(ScopeOfName("CPU"), ChannelScope::kOther);
  EXPECT_EQ(ScopeOfName(""), ChannelScope::kOther);
}

PowerTrace CounterWithEstimate(std::vector<double> values, std::vector<PowerGap> gaps) {
  PowerTrace power;
  PowerChannel counter;
  counter.name = "CPU:0";
  counter.meter.within = "psys";
  for (size_t i = 0; i < values.size(); ++i) {
    counter.times.push_back(Nanos{static_cast<int64_t>(i)});
  }
  counter.values = std::move(values);
  counter.gaps = std::move(gaps);
  PowerChannel estimate;
  estimate.name = EstimateName("CPU:0");
  estimate.meter.within = "CPU:0";
  estimate.meter.origin = Origin::kEstimated;
  power.channels = {estimate, counter};
  return power;
}

TEST(SettleEstimates, ACounterThatMovedNeedsNone) {
  PowerTrace power = CounterWithEstimate({0, 1, 1}, {{2}});
  EXPECT_TRUE(SettleEstimates(power).empty());
  ASSERT_EQ(power.channels.size(), 1U);
  EXPECT_EQ(power.channels[0].name, "CPU:0");
  EXPECT_EQ(power.channels[0].meter.origin, Origin::kMeasured);
}

TEST(SettleEstimates, ACounterThatNeverMovedIsReplaced) {
  for (const bool has_readings : {true, false}) {
    PowerTrace power =
        has_readings ? CounterWithEstimate({0, 0}, {{1}}) : CounterWithEstimate({}, {});
    EXPECT_EQ(SettleEstimates(power), std::vector<std::string>{"CPU:0"});
    ASSERT_EQ(power.channels.size(), 2U);
    EXPECT_EQ(power.channels[0].name, "CPU:0:counter");
    EXPECT_EQ(power.channels[0].meter.within, "CPU:0");
    EXPECT_EQ(power.channels[0].meter.origin, Origin::kMeasured);
    EXPECT_EQ(power.channels[1].name, "CPU:0");
    EXPECT_EQ(power.channels[1].meter.within, "psys");
    EXPECT_EQ(power.channels[1].meter.origin, Origin::kEstimated);
  }
}

}  // namespace
}  // namespace beryl
