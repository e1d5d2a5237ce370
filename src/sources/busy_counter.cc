#include "sources/busy_counter.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace beryl::sources {

uint64_t BusyCounter::Read(int64_t now_ns, int64_t busy_ns) {
  if (!std::exchange(started_, true)) {
    step_at_ns_ = now_ns;
    told_ns_ = busy_ns;
  }
  waiting_ns_ += std::max<int64_t>(0, busy_ns - told_ns_);
  told_ns_ = std::max(told_ns_, busy_ns);
  const int64_t step_ns = now_ns - step_at_ns_;
  if (step_ns >= kTicksAStep * tick_ns_) {
    const auto most = static_cast<int64_t>(curve_.cpus * static_cast<double>(step_ns));
    const int64_t counted = std::min(waiting_ns_, most);
    waiting_ns_ -= counted;
    counted_ns_ += counted;
    passed_ns_ += step_ns;
    step_at_ns_ = now_ns;
  }
  const Joules energy = curve_.idle * Nanos{passed_ns_} + curve_.of_a_cpu * Nanos{counted_ns_};
  return static_cast<uint64_t>(std::llround(energy.value * 1e6));
}

}  // namespace beryl::sources
