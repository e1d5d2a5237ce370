// PowerTrace: the readings of the meters, by channel.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "types/gap_reason.h"
#include "types/op_trace.h"
#include "types/origin.h"

namespace beryl {

// Far above what any machine draws: a reading of more is none.
inline constexpr Watts kMostPower{1e9};

// What a channel measures, from the channel's name: `CPU:0`, `DRAM:0`, `GPU:1`, `wall`, `psys`,
// `battery`; with several machines `node2/CPU:0`.
enum class ChannelScope : uint8_t {
  kPackage,  // CPU:n, a processor package
  kDram,     // DRAM:n, not contained in a package
  kCore,     // CORE:n and UNCORE:n, contained in a package
  kGpu,      // GPU:n
  kBoard,    // psys: packages, memory and other parts of the board
  kWall,     // wall, battery: everything behind the plug
  kOther,    // anything else
};
ChannelScope ScopeOfName(std::string_view name);
std::string_view ScopeName(ChannelScope scope);  // "package", ...
// A board or a plug: the channels of its parts read some of its energy too. See
// types/containment.h.
bool IsContainer(ChannelScope scope);

enum class ChannelKind : uint8_t {
  kPowerGauge,     // values are watts at that moment
  kEnergyCounter,  // values are joules since the first reading, without wraps
};

// A meter's properties. All unknown for readings from a file without them.
struct MeterTraits {
  std::string source;  // "rapl-powercap"; empty: unknown
  std::string
      reads;  // which counter or sensor: "intel-rapl:0/energy_uj", "energy counter of NVIDIA A100"
  Origin origin = Origin::kMeasured;
  std::string unit;      // of one count of the meter: "uJ", "mJ", "mW"
  double per_count = 1;  // joules or watts per count; its resolution
  // The count at which it restarts from zero, never 0; nothing: it never does, or unknown.
  std::optional<uint64_t> wrap;
  std::optional<double> update_period_us;  // observed, not specified
  std::optional<double> error;             // relative half-width
  std::string within;         // the channel that contains it, if the meter itself knows
  std::optional<bool> moves;  // whether a counter was seen to move; nothing: not checked
  // How long before it was taken a reading describes: half the window of a trailing average. 0: no
  // delay, or unknown.
  Seconds lag;
};

// Nothing is known between a reading and its predecessor.
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
  // Strictly increasing; one value for each time.
  std::vector<Nanos> times;
  std::vector<double> values;
  std::vector<PowerGap> gaps;  // in order
  uint64_t wraps = 0;
};

// The sources of the channels, without duplicates: "rapl-powercap", "nvml".
std::vector<std::string> MetersOf(const std::vector<PowerChannel>& channels);

// Whether any energy is known: two readings without a gap between them.
bool TellsAnything(const PowerChannel& channel);

// The name of the estimate for a channel whose counter has not moved yet. The estimate is within
// that channel, and counts only if the counter never moves.
std::string EstimateName(std::string_view channel);

struct PowerTrace {
  std::string clock = "epoch";
  std::vector<PowerChannel> channels;
  ImportReport report;
};

// If a counter moved, removes its estimate. If it never moved, puts the estimate in its place and
// keeps the counter beside it, as `CPU:0:counter` within `CPU:0`. Returns the channels that are now
// estimates.
std::vector<std::string> SettleEstimates(PowerTrace& power);

}  // namespace beryl
