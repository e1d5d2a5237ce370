#include "server/worker.h"

#include <atomic>
#include <mutex>

#include <gtest/gtest.h>

namespace beryl::server {
namespace {

TEST(Worker, OneUserDoesNotTakeAllPlacesAndRootHasOne) {
  Worker worker;
  std::mutex busy;
  std::unique_lock hold(busy);
  std::atomic<int> done = 0;
  std::atomic<bool> begun = false;
  const auto work = [&](bool wanted) {
    begun = true;
    const std::lock_guard lock(busy);
    if (wanted) ++done;
  };
  ASSERT_TRUE(worker.Do(1, work));
  while (!begun) {
  }
  int taken = 0;
  for (int i = 0; i < 100; ++i) taken += worker.Do(1000, work);
  EXPECT_EQ(taken, 8);
  for (uint32_t uid = 1001; uid < 1100; ++uid) taken += worker.Do(uid, work);
  EXPECT_EQ(taken, 64);
  EXPECT_FALSE(worker.Do(2000, work));
  EXPECT_TRUE(worker.Do(0, work));
  hold.unlock();
  while (done < taken + 2) {
  }
}

}  // namespace
}  // namespace beryl::server
