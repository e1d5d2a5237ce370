#include "flows/demo_run.h"

#include "base/matchers_for_test.h"

namespace beryl::flows {
namespace {

TEST(AccountDemo, IsARunOfThreeStepsWhoseEnergyAddsUp) {
  const auto report = AccountDemo();
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_FALSE(report->folded.tree.nodes.empty());
  ASSERT_FALSE(report->channels.empty());
  for (const ChannelAccount& channel : report->channels) {
    EXPECT_LT(channel.ClosureError(), 1e-9) << channel.channel;
  }
}

}  // namespace
}  // namespace beryl::flows
