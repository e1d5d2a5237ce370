// PowerTrace: what the meters read, channel by channel.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "types/gap_reason.h"
#include "types/op_trace.h"
#include "types/origin.h"

namespace beryl {

// Whose power a channel reads. Told by the channel's name: `CPU:0`, `DRAM:0`, `GPU:1`, `wall`,
// `psys`, `battery`; with several machines `node2/CPU:0`.
enum class ChannelScope : uint8_t {
  kPackage,  // CPU:n, a processor package
  kDram,     // DRAM:n, not contained in a package
  kCore,     // CORE:n and UNCORE:n, contained in a package
  kGpu,      // GPU:n
  kBoard,    // psys: packages, memory and what is soldered beside them
  kWall,     // wall, battery: everything behind the plug
  kOther,    // anything else
};
ChannelScope ScopeOfName(std::string_view name);
std::string_view ScopeName(ChannelScope scope);  // "package", ...
// A board or a plug: what it reads is in the channels of its parts too. What is in which of them:
// types/containment.h.
bool IsContainer(ChannelScope scope);

enum class ChannelKind : uint8_t {
  kPowerGauge,     // values are watts at that moment
  kEnergyCounter,  // values are joules since the first reading, wraps undone
};

// What a meter says of itself. All of it is unknown for readings from a file that does not tell.
struct MeterTraits {
  std::string source;  // "rapl-powercap"; empty: not known
  std::string reads;   // what of it: "intel-rapl:0/energy_uj", "energy counter of NVIDIA A100"
  Origin origin = Origin::kMeasured;
  std::string unit;      // of a count as the meter gives it: "uJ", "mJ", "mW"
  double per_count = 1;  // joules or watts that a count stands for; its resolution
  uint64_t wrap = 0;     // the count at which it starts again from zero; 0: never, or not known
  double update_period_us = std::numeric_limits<double>::quiet_NaN();  // as seen, not as promised
  std::optional<double> error;                                         // relative half-width
  std::string within;         // the channel that contains it, where the meter itself knows
  std::optional<bool> moves;  // whether a counter was seen to move; nothing: not looked at
  // A reading describes what was that long before it was read: half the time that a trailing
  // average is taken over. 0: the moment itself, or not known.
  Seconds lag;
};

// Nothing is known between a reading and the one before it.
struct PowerGap {
  size_t reading = 0;  // index into PowerChannel::times
  GapReason why = GapReason::kNotTold;

  bool operator==(const PowerGap&) const = default;
};

struct PowerChannel {
  std::string name;
  ChannelScope scope = ChannelScope::kOther;
  ChannelKind kind = ChannelKind::kPowerGauge;
  MeterTraits meter;
  // Strictly increasing; as many values as times.
  std::vector<Nanos> times;
  std::vector<double> values;
  std::vector<PowerGap> gaps;  // in order
  uint64_t wraps = 0;
};

// The kinds of meters that channels are read by, each once: "rapl-powercap", "nvml".
std::vector<std::string> MetersOf(const std::vector<PowerChannel>& channels);

// Whether the energy of any stretch is known: two readings and no gap between them.
bool TellsAnything(const PowerChannel& channel);

// What the estimate is called that stands in for a channel whose counter has not moved yet. It is
// within that channel, and counts only if the counter never moves.
std::string EstimateName(std::string_view channel);

struct PowerTrace {
  std::string clock = "epoch";
  std::vector<PowerChannel> channels;
  ImportReport report;
};

// Where a counter moved, takes out the estimate that would have stood in for it; where it never
// did, puts the estimate in its place and keeps the counter beside it, as `CPU:0:counter` within
// `CPU:0`. Returns the channels that are estimates now.
std::vector<std::string> SettleEstimates(PowerTrace& power);

}  // namespace beryl
