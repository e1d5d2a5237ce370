// The readings of one channel, as they come, made into what a PowerChannel holds.
//
// Of a counter only its steps are kept: the energy of a step was used since the step before, and
// readings in between, which show the same count, would say that nothing was used and then all at
// once. Wraps are undone. Where energy cannot be told there is a gap with a reason:
//   the counter went down and that is no wrap: it was reset;
//   so much time passed that it may have wrapped more than once;
//   it stood still for long and went on as if nothing had been;
//   it could not be read, and the counter did not go on.
// Of a gauge those readings are kept that differ from the one before, and one a second.
#pragma once

#include <cstdint>
#include <string>

#include "base/units.h"
#include "sources/sources.h"
#include "types/power_trace.h"

namespace beryl::sources {

class ChannelRecord {
 public:
  // `channel` without readings. `period` is how far apart readings are meant to be.
  ChannelRecord(PowerChannel channel, Nanos period);

  void Add(Nanos time, const MeterReading& reading);
  // There will be no more: what is open is closed.
  void Finish(Nanos end);
  // The readings since the last call, with the channel's name and traits.
  PowerChannel Take();

  // Joules since the first reading; NaN: there is none yet.
  double energy_j() const;
  bool is_outermost() const { return channel_.meter.within.empty(); }
  // Watts over the last step; NaN: not known.
  double power_w() const { return power_w_; }

 private:
  void AddCount(Nanos time, uint64_t count);
  void AddWatts(Nanos time, double watts);
  void Keep(Nanos time, double value);
  void Gap(std::string reason);
  bool StoodStill(Nanos time) const;
  // Joules a second in the mean so far; 0: too little was seen.
  double UsualWatts() const;

  PowerChannel channel_;
  double stall_s_;
  bool started_ = false;
  bool gone_ = false;
  bool finished_ = false;
  Nanos last_time_;  // of the last reading that was kept
  Nanos last_seen_;
  uint64_t last_count_ = 0;
  uint64_t counted_ = 0;  // counts since the first reading, wraps undone
  double known_counts_ = 0;
  double known_s_ = 0;
  double last_watts_ = 0;
  double held_j_ = 0;  // of a gauge, each reading held until the next
  double power_w_;
};

}  // namespace beryl::sources
