// Turns the readings of one channel, as they arrive, into the content of a PowerChannel.
//
// For a counter only its steps are kept: the energy of a step was used since the previous step.
// Readings in between repeat the same count, and would suggest that nothing was used and then
// everything at once. The time between its steps tells how much of the first step was used before
// the first reading.
//
// Wraps are undone. Where the energy cannot be determined, there is a gap with a reason:
//   the counter went down without a wrap: it was reset;
//   so much time passed that it may have wrapped more than once;
//   it stood still for long and then continued without catching up;
//   it could not be read, and did not keep counting.
// For a gauge, readings that differ from the previous one are kept, and one per second. A gauge
// that is silent for much longer than usual is gone until it is read again.
#pragma once

#include <cstdint>
#include <optional>

#include "base/units.h"
#include "sources/power_source.h"
#include "types/power_trace.h"

namespace beryl::sources {

class ChannelRecord {
 public:
  // `channel` has no readings. `period` is the intended time between readings.
  ChannelRecord(PowerChannel channel, Nanos period);

  void Add(Nanos time, const MeterReading& reading);
  // Energy that a so far idle counter counts from now on was used from `time` on.
  void StartFrom(Nanos time);
  // No more readings will come: closes what is open.
  void Finish(Nanos end);
  // The readings since the last call, with the channel's name and traits.
  PowerChannel Take();

  // Since the first reading; nothing if there is none yet.
  std::optional<Joules> energy() const;
  // Over the last step.
  std::optional<Watts> power() const { return power_; }
  // Whether the energy used until `time` is known, or will not become known by waiting until `now`.
  bool HasReached(Nanos time, Nanos now) const;

 private:
  void Lose();
  void AddCount(Nanos time, uint64_t count);
  void AddPower(Nanos time, Watts power);
  void Begin(Nanos time, uint64_t count);
  void Keep(Nanos time, double value);
  void Gap(GapReason why);
  // The counts from the last reading to a lower one; nothing if it was reset.
  std::optional<uint64_t> AcrossWrap(uint64_t count, Seconds elapsed) const;
  std::optional<GapReason> WhyUnknown(uint64_t step, Seconds elapsed) const;
  bool StoodStill() const;
  // The mean so far; nothing if too little was seen.
  std::optional<Watts> UsualPower() const;
  // The usual time between steps, or between readings of a gauge, as specified or as observed.
  // The meter's own statement; nothing if there is none.
  std::optional<Seconds> PromisedStep() const;
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
  uint64_t counted_ = 0;  // counts since the start, wraps undone
  double known_counts_ = 0;
  Seconds known_time_;
  uint64_t known_steps_ = 0;
  Watts last_power_;
  Joules held_;  // for a gauge, with each reading held until the next
  std::optional<Watts> power_;
};

}  // namespace beryl::sources
