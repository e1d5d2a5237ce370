#include "sources/sampler_orders.h"

#include <chrono>

namespace beryl::sources {
namespace {

constexpr std::chrono::milliseconds kLongestWait{100};

// On CLOCK_MONOTONIC, which is the steady clock here.
std::chrono::steady_clock::time_point TimePoint(int64_t monotonic_ns) {
  return std::chrono::steady_clock::time_point(std::chrono::nanoseconds(monotonic_ns));
}

}  // namespace

void SamplerOrders::Add(const Order& order) {
  const std::lock_guard lock(mutex_);
  orders_.push_back(order);
  is_wanted_ = true;
  wanted_.notify_one();
}

void SamplerOrders::Wake() {
  const std::lock_guard lock(mutex_);
  is_wanted_ = true;
  wanted_.notify_one();
}

void SamplerOrders::WaitForReading() {
  std::unique_lock lock(mutex_);
  const uint64_t mine = ++reads_wanted_;
  is_wanted_ = true;
  wanted_.notify_one();
  done_.wait_for(lock, kLongestWait, [&] { return reads_done_ >= mine; });
}

void SamplerOrders::SleepUntil(int64_t monotonic_ns) {
  std::unique_lock lock(mutex_);
  wanted_.wait_until(lock, TimePoint(monotonic_ns), [&] { return is_wanted_.load(); });
}

bool SamplerOrders::Take(std::vector<Order>& orders) {
  if (!is_wanted_.load(std::memory_order_relaxed)) return false;
  const std::lock_guard lock(mutex_);
  is_wanted_ = false;
  reads_taken_ = reads_wanted_;
  orders.clear();
  orders.swap(orders_);
  return true;
}

void SamplerOrders::Done() {
  const std::lock_guard lock(mutex_);
  reads_done_ = reads_taken_;
  done_.notify_all();
}

}  // namespace beryl::sources
