// Footprint: a run's energy, shared out.
//
// The law, for every channel: attributed + idle + unattributed = total, where total is the integral
// of the channel's power over its window (less what the channel contains and others account for).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "types/note.h"
#include "types/op_trace.h"
#include "types/power_trace.h"

namespace beryl {

// One channel's books.
struct ChannelAccount {
  std::string channel;
  Origin origin = Origin::kMeasured;
  std::string policy;  // how power between readings was taken: "hold", "linear", "exact"
  std::string feeds;   // whose operations its energy may go to, in words
  std::vector<uint16_t> fed_devices;  // the same, as indices into OpTrace::devices, sorted
  std::string within;                 // the channel that contains this one; empty: none
  Joules total;
  Joules attributed;    // sum of the shares
  Joules idle;          // while no operation ran
  Joules unattributed;  // that no operation may claim
  // Of `idle`: before the first operation and after the last.
  Joules outside_trace;
  // total = measured - contained, for a channel that contains others.
  Joules measured;
  Joules contained;
  // With an idle-power split: of `attributed` and `idle`, what the device would have drawn doing
  // nothing.
  std::optional<Joules> static_part;
  Nanos window_start;
  Nanos window_end;
  uint64_t readings = 0;
  // Operation time of the devices it feeds that lies outside its window, where energy is not known.
  Nanos uncovered;

  // What is left of the law, relative to the total: floating-point dust.
  double ClosureError() const;
};

// The energy that runs of one kind took from one channel in one step.
struct EnergyShare {
  uint32_t kind = 0;  // index into OpTrace::kinds
  uint32_t step = kNoStep;
  uint16_t channel = 0;  // index into Footprint::channels
  Joules energy;
  Joules static_part;
  Nanos busy;     // time at work where the channel's power is known
  Nanos unknown;  // time at work where it is not; it has no part in `energy`
  uint64_t count = 0;

  // Whether power was known for any of its time; if not, `energy` is not zero but unknown.
  bool IsKnown() const { return busy.value > 0 || unknown.value == 0; }
};

// Operations that ran on a device no channel feeds: their energy is not known.
struct UnmeteredOps {
  uint32_t kind = 0;
  uint16_t device = 0;  // index into OpTrace::devices
  Nanos busy;
  uint64_t count = 0;
};

struct Footprint {
  std::vector<ChannelAccount> channels;
  std::vector<EnergyShare> shares;
  std::vector<UnmeteredOps> unmetered;
  // Things a reader has to know to trust the numbers, in sentences.
  std::vector<Note> notes;
  // What was added to the operation trace's times, and why.
  Nanos clock_offset;
  std::string clock_reason;
};

}  // namespace beryl
