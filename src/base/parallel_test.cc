#include "base/parallel.h"

#include <atomic>
#include <new>

#include "base/matchers_for_test.h"

namespace beryl {
namespace {

TEST(InParallelTest, EveryWorkerWorks) {
  std::vector<int> calls(5);
  InParallel(5, [&](size_t worker) { ++calls[worker]; });
  EXPECT_THAT(calls, testing::Each(1));
}

// A thread that ends with an exception would end the program.
TEST(InParallelTest, WhatAWorkerThrowsReachesTheCallerAfterAllHaveEnded) {
  for (size_t thrower = 0; thrower < 3; ++thrower) {
    std::atomic<bool> stop = false;
    std::atomic<int> ended = 0;
    const auto work = [&](size_t worker) {
      if (worker == thrower) throw std::bad_alloc();
      while (!stop) std::this_thread::yield();
      ++ended;
    };
    EXPECT_THROW(InParallel(3, work, [&] { stop = true; }), std::bad_alloc);
    EXPECT_EQ(ended, 2);
  }
}

}  // namespace
}  // namespace beryl
