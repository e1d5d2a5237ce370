// A histogram of how late ticks were: precise enough for percentiles, without allocation.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>

namespace beryl::sources {

// One thread adds, any thread reads.
class Lateness {
 public:
  void Add(int64_t ns) {
    const auto late = static_cast<uint64_t>(ns < 0 ? 0 : ns);
    classes_[ClassOf(late)].fetch_add(1, std::memory_order_relaxed);
    if (late > max_.load(std::memory_order_relaxed)) max_.store(late, std::memory_order_relaxed);
  }

  // The lateness in nanoseconds that a `share` of all ticks stays below.
  double Percentile(double share) const {
    uint64_t all = 0;
    for (const auto& count : classes_) all += count.load(std::memory_order_relaxed);
    auto left = static_cast<uint64_t>(static_cast<double>(all) * share);
    for (size_t i = 0; i < classes_.size(); ++i) {
      const uint64_t here = classes_[i].load(std::memory_order_relaxed);
      if (left < here) return UpperEnd(i);
      left -= here;
    }
    return static_cast<double>(max_.load(std::memory_order_relaxed));
  }
  double max() const { return static_cast<double>(max_.load(std::memory_order_relaxed)); }

 private:
  // Eight classes per doubling.
  static size_t ClassOf(uint64_t ns) {
    if (ns < 8) return ns;
    const auto log = static_cast<size_t>(std::bit_width(ns)) - 1;
    return (log - 2) * 8 + ((ns >> (log - 3)) & 7);
  }
  static double UpperEnd(size_t i) {
    if (i < 8) return static_cast<double>(i + 1);
    const size_t log = i / 8 + 2;
    return static_cast<double>((8 + i % 8 + 1) << (log - 3));
  }

  std::array<std::atomic<uint64_t>, 64 * 8> classes_{};
  std::atomic<uint64_t> max_ = 0;
};

}  // namespace beryl::sources
