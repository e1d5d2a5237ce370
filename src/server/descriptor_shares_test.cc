#include "server/descriptor_shares.h"

#include <gtest/gtest.h>

namespace beryl::server {
namespace {

TEST(DescriptorShares, NoUserTakesMoreThanHalfAndSomeAreKept) {
  for (const size_t limit : {size_t{64}, size_t{256}, size_t{1024}, size_t{65536}}) {
    const DescriptorShares shares = ShareDescriptors(limit);
    const auto most = static_cast<int>(limit);
    EXPECT_LE(shares.of_user * 4 * 2, limit / 2) << limit;
    EXPECT_LE(shares.of_users, shares.of_all - 8) << limit;
    EXPECT_LE(shares.of_all, most - 8) << limit;
    EXPECT_GE(shares.of_users, most / 2) << limit;
  }
  EXPECT_EQ(ShareDescriptors(65536).of_user, 4096u);
}

}  // namespace
}  // namespace beryl::server
