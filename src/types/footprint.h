// Footprint: a run's energy, attributed to its operations.
//
// The law, for every channel: attributed + idle + unattributed = total, where total is the integral
// of the channel's power over its window (minus the energy of channels within it that have balances
// of their own).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "types/note.h"
#include "types/op_trace.h"
#include "types/power_trace.h"
#include "types/time_window.h"

namespace beryl {

// The balance of one channel.
struct ChannelAccount {
  std::string channel;
  Origin origin = Origin::kMeasured;
  std::string policy;                 // power assumed between readings: "hold", "linear", "exact"
  std::string feeds;                  // whose operations may get its energy, in words
  std::vector<uint16_t> fed_devices;  // the same, as indices into OpTrace::devices, sorted
  std::string within;                 // the channel that contains this one; empty: none
  Joules total;
  Joules attributed;    // sum of the shares
  Joules idle;          // while no operation ran
  Joules unattributed;  // energy that no operation may claim
  // Part of `idle`: before the first operation and after the last.
  Joules outside_trace;
  // total = measured - contained, for a channel that contains others.
  Joules measured;
  Joules contained;
  // With an idle-power split: the parts of `attributed` and `idle` that the device would also have
  // drawn when idle.
  std::optional<Joules> static_part;
  Nanos window_start;  // from its first reading to its last, as far as they are in the run's window
  Nanos window_end;
  uint64_t readings = 0;
  // Operation time on the fed devices outside of its window, for which energy is unknown.
  Nanos uncovered;

  // The remainder of the law, relative to the total: rounding errors.
  double ClosureError() const;
};

// The energy that operations of one kind took from one channel in one step.
struct EnergyShare {
  uint32_t kind = 0;  // index into OpTrace::kinds
  uint32_t step = kNoStep;
  uint16_t channel = 0;  // index into Footprint::channels
  Joules energy;
  Joules static_part;
  Nanos busy;     // time at work where the channel's power is known
  Nanos unknown;  // time at work where it is unknown; not part of `energy`
  uint64_t count = 0;

  // Whether power was known for any of its time; if not, `energy` is unknown, not zero.
  bool IsKnown() const { return busy.value > 0 || unknown.value == 0; }
};

// Operations on a device that no channel feeds: their energy is unknown.
struct UnmeteredOps {
  uint32_t kind = 0;
  uint16_t device = 0;  // index into OpTrace::devices
  Nanos busy;
  uint64_t count = 0;
};

struct Footprint {
  std::optional<TimeWindow> window;  // nothing: the whole run
  size_t whole_steps = 0;            // how many of OpTrace::steps lie in it from start to end
  std::vector<ChannelAccount> channels;
  std::vector<EnergyShare> shares;
  std::vector<UnmeteredOps> unmetered;
  // What a reader must know to trust the numbers.
  std::vector<Note> notes;
  // The shift of the operation trace's times, and its reason.
  Nanos clock_offset;
  std::string clock_reason;
};

// Steps with known energy, sorted.
std::vector<uint32_t> KnownSteps(const Footprint& footprint);

// Seconds at work by channel, and in total: counted once where several meters read the same device.
using BusyByChannel = std::map<uint32_t, double>;
Seconds TimeAtWork(const BusyByChannel& busy, const Footprint& footprint);

}  // namespace beryl
