// Batches for one client. A slow client loses old batches and gets their number; nobody ever waits
// for it.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/units.h"
#include "types/live_power.h"
#include "types/power_trace.h"

namespace beryl::server {

struct LiveBatch {
  Nanos time;
  std::vector<LiveChannel> channels;
  PowerTrace readings;  // since the previous batch
  std::vector<LiveDevice> devices;
  uint64_t missed_ticks = 0;
  uint64_t lost_batches = 0;   // since the previous batch
  uint64_t lost_readings = 0;  // too many for this batch
  bool last = false;
};

// Memory that the readings take.
inline size_t BytesOf(const PowerTrace& readings) {
  size_t bytes = 0;
  for (const PowerChannel& channel : readings.channels) {
    bytes += channel.times.size() * (sizeof(Nanos) + sizeof(double));
  }
  return bytes;
}

// Thread-safe.
class BatchQueue {
 public:
  // The maximal bytes of waiting readings, whatever the number of batches.
  static constexpr size_t kMostBytes = size_t{4} << 20;

  explicit BatchQueue(size_t capacity) : capacity_(capacity) {}

  // Calls `wake`, without a lock, when there is something to take. `wake` must keep alive what it
  // needs: a call in progress may outlast Detach.
  void Attach(std::function<void()> wake) {
    const std::lock_guard lock(mutex_);
    wake_ = std::move(wake);
  }
  // The client is gone: drops everything from now on.
  void Detach() {
    const std::lock_guard lock(mutex_);
    wake_ = nullptr;
    detached_ = true;
    waiting_.clear();
    bytes_ = 0;
  }
  bool is_detached() const {
    const std::lock_guard lock(mutex_);
    return detached_;
  }

  void Push(LiveBatch batch) {
    std::function<void()> wake;
    {
      const std::lock_guard lock(mutex_);
      if (detached_) return;
      bytes_ += BytesOf(batch.readings);
      waiting_.push_back(std::move(batch));
      // Drops old batches first: the last one says that it is over.
      while (waiting_.size() > 1 && (waiting_.size() > capacity_ || bytes_ > kMostBytes)) {
        ++lost_;
        bytes_ -= BytesOf(waiting_.front().readings);
        waiting_.pop_front();
      }
      wake = wake_;
    }
    if (wake) wake();
  }

  std::optional<LiveBatch> Take() {
    const std::lock_guard lock(mutex_);
    if (waiting_.empty()) return std::nullopt;
    LiveBatch batch = std::move(waiting_.front());
    waiting_.pop_front();
    bytes_ -= BytesOf(batch.readings);
    batch.lost_batches = std::exchange(lost_, 0);
    return batch;
  }

 private:
  const size_t capacity_;
  mutable std::mutex mutex_;
  std::function<void()> wake_;
  std::deque<LiveBatch> waiting_;
  size_t bytes_ = 0;  // of the readings of those
  uint64_t lost_ = 0;
  bool detached_ = false;
};

}  // namespace beryl::server
