// Who used the energy: lays an operation trace over a power trace and shares the joules out.
//
// Concepts. A *channel* is one meter's readings. A *feed* says which devices' operations a
// channel's energy may go to; it is printed with every result. An *instance* is one run of an
// operation. At each instant the power of a channel is shared equally among the instances at work
// on the devices it feeds.
//
// Operation. All operations of a feed are swept in order of time, once, with a running integral of
// power divided by the number of instances at work: an instance's share is the difference of that
// integral between its start and its end. So the cost is that of sorting, whatever the sampling
// rate.
//
// The law holds for every channel and is checked on the way out: shares + idle + unattributed =
// total.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "types/footprint.h"
#include "types/measurement.h"
#include "types/op_trace.h"
#include "types/power_trace.h"
#include "types/recording.h"
#include "types/timeline.h"

namespace beryl::account {

// What power is taken to be between two readings of a gauge. For an energy counter the energy
// between two readings is known and is always what is shared out.
enum class Policy {
  kAuto,    // hold for gauges, exact for counters
  kHold,    // the last reading holds until the next
  kLinear,  // a straight line from reading to reading
  kExact,   // counters as they are; a gauge is held, and that is noted
};

struct AccountOptions {
  Policy policy = Policy::kAuto;
  // How to put the operation trace onto the power trace's clock; at most one of these.
  std::optional<Nanos> clock_offset;  // added to operation times
  bool align_starts = false;
  std::vector<ClockAnchor>
      anchors;  // the same moment on both clocks: local = operations, epoch = power
  // Power that a channel's device draws doing nothing; its energy is told apart as the static part.
  std::map<std::string, Watts> idle_power;
  // Overrides which devices a channel feeds: device names, "all" or "none".
  std::map<std::string, std::vector<std::string>> feeds;
  int threads = 1;
};

// Fails when the two traces do not overlap in time, or when an option names a channel or device
// that is not there.
Result<Footprint> Account(const PowerTrace& power, const OpTrace& ops,
                          const AccountOptions& options);

// The same run with every n-th power reading only, for each n of `every`, whose first is 1, in one
// sweep: same clock, same feeds, same window. Of a gauge some readings are lost; of a counter only
// where between two readings that are left the energy was used. Shares are by kind, not by step.
Result<std::vector<Footprint>> AccountThinned(const PowerTrace& power, const OpTrace& ops,
                                              const AccountOptions& options,
                                              const std::vector<uint32_t>& every);

// Time shared out as energy is: the footprint of one watt that is fed to all operations for as long
// as meters were read. Its joules are seconds of wall time, and sum to it, however many operations
// ran at once.
Result<Footprint> ShareTime(const PowerTrace& power, const OpTrace& ops,
                            const AccountOptions& options);

// How a package's energy is told apart by CPU time.
enum class SplitRule {
  kBusy,      // among those that ran, in proportion to their time; idle only while nothing runs
  kCapacity,  // a CPU that idles keeps its part of the time, and that is idle energy
};

struct MeasureOptions {
  SplitRule split = SplitRule::kBusy;
  size_t slices = 120;  // of the power over time, for drawing
};

// What a recording comes to: the energy of every device, and whose it was. `recording` may be of a
// recorder that was killed.
Measurement Measure(const PowerTrace& power, const Recording& recording,
                    const MeasureOptions& options);

// Whether any task of the watched processes was seen: else nothing is known to be ours.
bool IsAnythingWatched(const Recording& recording);

// The channels of `power` with the energy of the watched processes only: of packages, memory and
// the whole machine if it is the one device their part by CPU time, of GPUs theirs where it is
// known. What cannot be told apart stays as it is, and a note says so. If nothing was watched that
// is all of it.
PowerTrace Virtualize(const PowerTrace& power, const Recording& recording, SplitRule rule,
                      std::vector<Note>& notes);

// How sparsely it makes sense to go: the largest n that leaves the fastest channel eight readings.
uint64_t SparsestPeriod(const PowerTrace& power);

// Power and activity in `slices` equal slices over the run and a little around it, for drawing.
// `clock_offset` is the Footprint's.
Timeline MakeTimeline(const PowerTrace& power, const OpTrace& ops, const AccountOptions& options,
                      Nanos clock_offset, size_t slices);

// The same with more to choose. `footprint` is the run's: its clock, and what each channel feeds.
struct TimelineOptions {
  size_t slices = 600;
  std::optional<size_t> step;  // only this one of OpTrace::steps, which has to be there
  bool mean = false;           // over the steps, at the same time since the start of each
  LayerGroups layers;
};
Timeline MakeTimeline(const PowerTrace& power, const OpTrace& ops, const AccountOptions& options,
                      const Footprint& footprint, const TimelineOptions& wanted);

}  // namespace beryl::account
