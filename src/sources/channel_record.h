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

  // Since the first reading; nothing: there is none yet.
  std::optional<Joules> energy() const;
  // Over the last step.
  std::optional<Watts> power() const { return power_; }
  // Whether what was used until `time` is known, or will not be known by waiting until `now`.
  bool HasReached(Nanos time, Nanos now) const;

 private:
  void Lose();
  void AddCount(Nanos time, uint64_t count);
  void AddPower(Nanos time, Watts power);
  void Begin(Nanos time, uint64_t count);
  void Keep(Nanos time, double value);
  void Gap(GapReason why);
  // The counts from the last reading to a lower one; nothing: it was reset.
  std::optional<uint64_t> AcrossWrap(uint64_t count, Seconds elapsed) const;
  std::optional<GapReason> WhyUnknown(uint64_t step, Seconds elapsed) const;
  bool StoodStill() const;
  // In the mean so far; nothing: too little was seen.
  std::optional<Watts> UsualPower() const;
  // How far apart steps, or readings of a gauge, usually are, as promised or as seen.
  std::optional<Seconds> UsualStep() const;
  std::optional<Seconds> UsualSpacing() const;

  PowerChannel channel_;
  const Seconds period_;
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
  Seconds known_time_;
  uint64_t known_steps_ = 0;
  Watts last_power_;
  Joules held_;  // of a gauge, each reading held until the next
  std::optional<Watts> power_;
};

}  // namespace beryl::sources
