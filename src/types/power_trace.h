// PowerTrace: what the meters read, channel by channel.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/units.h"
#include "types/op_trace.h"

namespace beryl {

// Whose power a channel reads. Told by the channel's name: `CPU:0`, `DRAM:0`, `GPU:1`, `wall`,
// `psys`; with several machines `node2/CPU:0`.
enum class ChannelScope : uint8_t {
  kPackage,  // CPU:n, a processor package
  kDram,     // DRAM:n, not contained in a package
  kCore,     // CORE:n and UNCORE:n, contained in a package
  kGpu,      // GPU:n
  kBoard,    // psys: packages, memory and what is soldered beside them
  kWall,     // wall: everything behind the plug
  kOther,    // anything else
};
ChannelScope ScopeOfName(std::string_view name);

enum class ChannelKind : uint8_t {
  kPowerGauge,     // values are watts at that moment
  kEnergyCounter,  // values are joules since the first reading, wraps undone
};

struct PowerChannel {
  std::string name;
  ChannelScope scope = ChannelScope::kOther;
  ChannelKind kind = ChannelKind::kPowerGauge;
  // Strictly increasing; as many values as times.
  std::vector<Nanos> times;
  std::vector<double> values;
  // Indices i for which nothing is known between readings i-1 and i (a counter that was reset).
  std::vector<size_t> gaps;
  uint64_t wraps = 0;
};

struct PowerTrace {
  std::string clock = "epoch";
  std::vector<PowerChannel> channels;
  ImportReport report;
};

}  // namespace beryl
