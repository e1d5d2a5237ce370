// Reads all power sources, slow ones less often.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/units.h"
#include "sources/discover.h"
#include "types/note.h"

namespace beryl::sources {

// The longest period at which no counter wraps unseen: each is read twice before it could.
Nanos LongestPeriod(const std::vector<PowerChannel>& channels);

// Not thread-safe. Reading allocates nothing.
class PowerReader {
 public:
  explicit PowerReader(Discovery& discovery);

  // One reading for each channel of the discovery, from every source. `now_ns` on CLOCK_MONOTONIC
  // is the time that the readings will be said to be of.
  std::span<const MeterReading> ReadAll(Nanos period, int64_t now_ns) {
    return Read(period, now_ns, true);
  }
  // Reads the sources that are due, with ticks a `period` apart; the others return kRetry.
  std::span<const MeterReading> ReadTick(Nanos period, int64_t now_ns);

  // What was read less often than requested, and why.
  std::vector<Note> notes(Nanos period) const;

 private:
  // How often to read a source, given its cost.
  struct Plan {
    size_t first_channel = 0;
    size_t channels = 0;
    uint32_t every = 1;
    uint32_t reads = 0;
    int64_t least_cost_ns = INT64_MAX;
    int64_t known_cost_ns = 0;
  };
  std::span<const MeterReading> Read(Nanos period, int64_t now_ns, bool all);

  Discovery& discovery_;
  std::vector<MeterReading> readings_;
  std::vector<Plan> plans_;
  uint64_t tick_ = 0;
};

}  // namespace beryl::sources
