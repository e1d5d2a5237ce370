// The kernel's clocks in nanoseconds.
#pragma once

#include <cstdint>
#include <ctime>

namespace beryl::sources {

inline int64_t ClockNs(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace beryl::sources
