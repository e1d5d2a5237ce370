// Readings for users who must not see the machine's processors too closely. The energy counters of
// processors (RAPL), read often and finely, tell what others compute: keys, for one
// (CVE-2020-8694).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/units.h"
#include "sources/power_source.h"
#include "types/power_trace.h"

namespace beryl::server {

// Whose sessions get coarse readings. Root's never do.
enum class CoarseFor { kNobody, kMachineSessions, kAllSessions };

// One for all sessions: who starts several, or one after another, gets the same readings again.
class CoarseReadings {
 public:
  // `step`: a multiple of a counter's own, and at least this.
  CoarseReadings(const std::vector<PowerChannel>& channels, Nanos period, Joules step);

  // Whether there is a counter to be careful with.
  bool is_needed() const { return is_needed_; }
  Nanos period() const { return period_; }
  Joules step() const { return step_; }
  // The channels with the resolution that they have here.
  const std::vector<PowerChannel>& channels() const { return channels_; }
  // Whether there is a coarse reading at this time; if so, it is in readings().
  bool Take(Nanos time, std::span<const sources::MeterReading> readings);
  std::span<const sources::MeterReading> readings() const { return readings_; }

 private:
  const Nanos period_;
  const Joules step_;
  bool is_needed_ = false;
  std::vector<PowerChannel> channels_;
  std::vector<uint64_t> divisors_;  // by channel
  std::vector<sources::MeterReading> readings_;
  Nanos next_;
};

}  // namespace beryl::server
