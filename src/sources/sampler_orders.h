// Requests from other threads to the sampling thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <vector>

#include "sources/processes.h"

namespace beryl::sources {

class SamplerOrders {
 public:
  struct Order {
    WatchId watch = 0;
    int32_t pid = 0;  // 0: stop watching it
    bool only_children = false;
    Watcher watcher = {};
  };

  // Any thread but the sampling one.
  void Add(const Order& order);
  // Wakes the sampling thread early.
  void Wake();
  // Requests a reading and waits for it, at most 100 ms.
  void WaitForReading();

  // Sampling thread only: sleeps until `monotonic_ns`, or until there is a request.
  void SleepUntil(int64_t monotonic_ns);
  // Whether there is a request. If so, `orders` receives the orders since the last call; call Done
  // once they are carried out and everything was read.
  bool Take(std::vector<Order>& orders);
  void Done();

 private:
  std::mutex mutex_;
  std::condition_variable wanted_;       // by mutex_: there is a request before the next tick
  std::condition_variable done_;         // by mutex_: reads_done_ has grown
  std::vector<Order> orders_;            // by mutex_
  uint64_t reads_wanted_ = 0;            // by mutex_
  uint64_t reads_done_ = 0;              // by mutex_
  std::atomic<bool> is_wanted_ = false;  // written by mutex_
  uint64_t reads_taken_ = 0;             // sampling thread only
};

}  // namespace beryl::sources
