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

}  // namespace
}  // namespace beryl
