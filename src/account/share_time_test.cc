#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "account/account.h"
#include "account/reference_testing.h"

namespace beryl::account {
namespace {

TEST(ShareTime, SumsToTheTimeSomethingRan) {
  constexpr int64_t kSecond = 1'000'000'000;
  OpTraceMaker maker;
  // a from 0 to 2 s on one device, b from 1 to 3 s on another; one meter for both, and one more.
  maker.trace().ops.push_back(
      {Nanos{0}, Nanos{2 * kSecond}, maker.Kind("a"), kNoLane, kNoStep, maker.Device("CPU:0")});
  maker.trace().ops.push_back({Nanos{kSecond}, Nanos{3 * kSecond}, maker.Kind("b"), kNoLane,
                               kNoStep, maker.Device("GPU:0")});
  const PowerTrace power = MakePower({MakeChannel("CPU:0", {0, 3 * kSecond}, {70, 70}),
                                      MakeChannel("GPU:0", {0, 4 * kSecond}, {200, 250})});
  const auto shared = ShareTime(power, maker.trace(), {});
  ASSERT_TRUE(shared.has_value()) << shared.error().message;
  ASSERT_EQ(shared->shares.size(), 2U);
  EXPECT_NEAR(shared->shares[0].energy.value, 1.5, 1e-9);  // the second in which both ran is halved
  EXPECT_NEAR(shared->shares[1].energy.value, 1.5, 1e-9);
  EXPECT_NEAR(shared->channels[0].idle.value, 1, 1e-9);
}

}  // namespace
}  // namespace beryl::account
