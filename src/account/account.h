// Attributes the energy of a power trace to the operations of an operation trace.
//
// Concepts. A *channel* is one meter's readings. A *feed* says which devices' operations may get a
// channel's energy; it is printed with every result. An *instance* is one execution of an
// operation. At each instant, the power of a channel is divided equally among the instances at work
// on the devices it feeds.
//
// Operation. One pass over all operations of a feed, in order of time, keeps a running integral of
// power divided by the number of instances at work. An instance's share is the difference of that
// integral between its start and its end. So the cost is that of sorting, whatever the sampling
// rate.
//
// The law holds for every channel and is checked at the end: shares + idle + unattributed = total.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "types/exported_run.h"
#include "types/footprint.h"
#include "types/measurement.h"
#include "types/op_trace.h"
#include "types/power_trace.h"
#include "types/recording.h"
#include "types/time_window.h"
#include "types/timeline.h"

namespace beryl::account {

// The power assumed between two readings of a gauge. For an energy counter, the energy between two
// readings is known and is always what is attributed.
enum class Policy {
  kAuto,    // hold for gauges, exact for counters
  kHold,    // the last reading holds until the next
  kLinear,  // a straight line from reading to reading
  kExact,   // counters as they are; a gauge is held, with a note
};

struct AccountOptions {
  Policy policy = Policy::kAuto;
  // How to map the operation trace onto the power trace's clock; at most one of these.
  std::optional<Nanos> clock_offset;  // added to operation times
  bool align_starts = false;
  std::vector<ClockAnchor>
      anchors;  // equal times on both clocks: local = operations, epoch = power
  // Power that a channel's device draws when idle; its energy is reported as the static part.
  std::map<std::string, Watts> idle_power;
  // Overrides which devices a channel feeds: device names, "all" or "none".
  std::map<std::string, std::vector<std::string>> feeds;
  // Account only this part of the run: clocks are fitted by all of it, and then all else is as if
  // there had been nothing outside. The window has some time of the run in it. Windows that follow
  // one another add up to the whole. Nothing: all of it.
  std::optional<TimeWindow> window;
  int threads = 1;
};

// When seconds of a run begin to count: its recording, or else its first reading.
Nanos StartOfRun(const PowerTrace& power, const Recording& recording);
// The window that the options describe, cut to the run: from the earliest start of operations,
// readings or the recording to the latest end. `from` and `to` are on the power trace's clock,
// `steps` are the first and the last of OpTrace::steps. Fails if nothing is left.
struct WindowChoice {
  std::optional<Nanos> from;
  std::optional<Nanos> to;
  std::optional<std::pair<size_t, size_t>> steps;
};
Result<TimeWindow> FindWindow(const PowerTrace& power, const OpTrace& ops,
                              const Recording& recording, const AccountOptions& options,
                              const WindowChoice& choice);
// Leaves out the operations that are wholly outside of `options.window`.
void LeaveOutside(const PowerTrace& power, const AccountOptions& options, OpTrace& ops);

// Fails if the two traces do not overlap in time, or if an option names an unknown channel or
// device.
Result<Footprint> Account(const PowerTrace& power, const OpTrace& ops,
                          const AccountOptions& options);

// The same run with only every n-th power reading, for each n of `every` (the first is 1), in one
// pass: same clock, same feeds, same window. A gauge loses readings; a counter only loses when the
// energy between two remaining readings was used. Shares are by kind, not by step.
Result<std::vector<Footprint>> AccountThinned(const PowerTrace& power, const OpTrace& ops,
                                              const AccountOptions& options,
                                              const std::vector<uint32_t>& every);

// Attributes time the way energy is attributed: the footprint of one watt that feeds all operations
// while meters were read. Its joules are seconds of wall time and add up to it, however many
// operations ran at once.
Result<Footprint> ShareTime(const PowerTrace& power, const OpTrace& ops,
                            const AccountOptions& options);

// What each channel's readings tell: the energy between each and the next. `within` is left empty.
std::vector<ReadEnergy> ReadEnergies(const PowerTrace& power, const AccountOptions& options);

// How a package's energy is split by CPU time.
enum class SplitRule {
  kBusy,      // among the tasks that ran, in proportion to their time; idle only while nothing runs
  kCapacity,  // an idle CPU keeps its part of the time, as idle energy
};

struct MeasureOptions {
  SplitRule split = SplitRule::kBusy;
  size_t slices = 120;  // of the power over time, for drawing
  // Measure only this part of the recording; of its named windows, those wholly within. Nothing:
  // all of it.
  std::optional<TimeWindow> window = {};
};

// Evaluates a recording: the energy of every device and who used it. `recording` may be from a
// recorder that was killed.
Measurement Measure(const PowerTrace& power, const Recording& recording,
                    const MeasureOptions& options);

// Whether any task of the watched processes was seen; otherwise nothing is known to be ours.
bool IsAnythingWatched(const Recording& recording);

struct OurPower : PowerTrace {
  std::vector<std::string> ours;  // the channels of which only our part is left
};

// The channels of `power` with only the energy of the watched processes: their part by CPU time of
// packages, memory, and of the whole machine if it is the only device; their part of GPUs where it
// is known. A channel that cannot be split stays as it is, with a note. If nothing was watched, all
// energy counts.
OurPower Virtualize(const PowerTrace& power, const Recording& recording, SplitRule rule,
                    std::vector<Note>& notes);

// The largest sensible n: it leaves the fastest channel eight readings.
uint64_t SparsestPeriod(const PowerTrace& power);

// Power and activity in `slices` equal slices over `options.window`, or over the run and a margin
// around it, for drawing.
// `clock_offset` is the Footprint's.
Timeline MakeTimeline(const PowerTrace& power, const OpTrace& ops, const AccountOptions& options,
                      Nanos clock_offset, size_t slices);

// The same with more options. `footprint` is the run's: its clock, and what each channel feeds.
struct TimelineOptions {
  size_t slices = 600;
  bool mean = false;  // over the steps in the window, aligned at their starts
  LayerGroups layers;
};
Timeline MakeTimeline(const PowerTrace& power, const OpTrace& ops, const AccountOptions& options,
                      const Footprint& footprint, const TimelineOptions& wanted);

}  // namespace beryl::account
