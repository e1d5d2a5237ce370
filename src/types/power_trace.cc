#include "types/power_trace.h"

namespace beryl {

ChannelScope ScopeOfName(std::string_view name) {
  name = BareDevice(name);
  if (name.starts_with("CPU:")) return ChannelScope::kPackage;
  if (name.starts_with("DRAM:")) return ChannelScope::kDram;
  if (name.starts_with("CORE:") || name.starts_with("UNCORE:")) return ChannelScope::kCore;
  if (name.starts_with("GPU:")) return ChannelScope::kGpu;
  if (name == "psys" || name.starts_with("psys:")) return ChannelScope::kBoard;
  if (name == "wall" || name.starts_with("wall:")) return ChannelScope::kWall;
  return ChannelScope::kOther;
}

}  // namespace beryl
