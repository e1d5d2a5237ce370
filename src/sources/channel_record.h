// The readings of one channel, as they come, made into what a PowerChannel holds.
//
// Of a counter only its steps are kept: the energy of a step was used since the step before, and
// readings in between, which show the same count, would say that nothing was used and then all at
// once. How much of its first step had been used before the first reading is told by the time
// between its steps.
//
// Wraps are undone. Where energy cannot be told there is a gap with a reason:
//   the counter went down and that is no wrap: it was reset;
//   so much time passed that it may have wrapped more than once;
//   it stood still for long and went on as if nothing had been;
//   it could not be read, and the counter did not go on.
// Of a gauge those readings are kept that differ from the one before, and one a second. A gauge
// that is silent for much longer than it used to be is gone until it speaks again.
#pragma once

#include <cstdint>
#include <optional>
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
  // What a counter that has rested so far counts from now on was used from `time` on.
  void StartFrom(Nanos time);
  // There will be no more: what is open is closed.
  void Finish(Nanos end);
  // The readings since the last call, with the channel's name and traits.
  PowerChannel Take();

  // Joules since the first reading; NaN: there is none yet.
  double energy_j() const;
  // Watts over the last step; NaN: not known.
  double power_w() const { return power_w_; }
  // Whether what was used until `time` is known, or will not be known by waiting until `now`.
  bool HasReached(Nanos time, Nanos now) const;

 private:
  void Lose();
  void AddCount(Nanos time, uint64_t count);
  void AddWatts(Nanos time, double watts);
  void Begin(Nanos time, uint64_t count);
  void Keep(Nanos time, double value);
  void Gap(GapReason why);
  // The counts from the last reading to a lower one; nothing: it was reset.
  std::optional<uint64_t> AcrossWrap(uint64_t count, double seconds) const;
  std::optional<GapReason> WhyUnknown(uint64_t step, double seconds) const;
  bool StoodStill() const;
  // Joules a second in the mean so far; 0: too little was seen.
  double UsualWatts() const;
  // How far apart steps, or readings of a gauge, usually are, as promised or as seen.
  double UsualStep() const;
  double UsualSpacing() const;

  PowerChannel channel_;
  const double period_s_;
  const Nanos lag_;
  bool started_ = false;  // something was read
  bool begun_ = false;    // something was kept
  bool gone_ = false;
  bool finished_ = false;
  Nanos first_seen_;
  Nanos last_seen_;
  uint64_t readings_ = 0;  // since it was last gone
  Nanos spoke_from_;       // the first of them
  Nanos last_time_;        // of the last reading that was kept
  uint64_t last_count_ = 0;
  uint64_t counted_ = 0;  // counts since it began, wraps undone
  double known_counts_ = 0;
  double known_s_ = 0;
  uint64_t known_steps_ = 0;
  double last_watts_ = 0;
  double held_j_ = 0;  // of a gauge, each reading held until the next
  double power_w_;
};

}  // namespace beryl::sources
