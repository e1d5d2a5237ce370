#include "types/footprint.h"

#include <gtest/gtest.h>

namespace beryl {
namespace {

TEST(ChannelAccountTest, ClosureErrorIsWhatTheLawLeavesOverOfTheTotal) {
  ChannelAccount account;
  account.total = account.measured = Joules{100};
  account.attributed = Joules{60};
  account.idle = Joules{30};
  account.unattributed = Joules{10};
  EXPECT_EQ(account.ClosureError(), 0);
  account.idle = Joules{29};
  EXPECT_DOUBLE_EQ(account.ClosureError(), 0.01);
  account.idle = Joules{31};
  EXPECT_DOUBLE_EQ(account.ClosureError(), 0.01);
}

TEST(ChannelAccountTest, NothingMeasuredCloses) { EXPECT_EQ(ChannelAccount().ClosureError(), 0); }

// A remainder near zero is the difference of two large readings: their dust is not an error.
TEST(ChannelAccountTest, ARemainderIsJudgedByWhatWasMeasured) {
  ChannelAccount account;
  account.measured = Joules{1e6};
  account.contained = Joules{1e6};
  account.total = Joules{1e-10};
  EXPECT_LT(account.ClosureError(), 1e-15);
}

}  // namespace
}  // namespace beryl
