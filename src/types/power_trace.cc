#include "types/power_trace.h"

namespace beryl {

ChannelScope ScopeOfName(std::string_view name) {
  name = BareDevice(name);
  if (name.starts_with("CPU:")) return ChannelScope::kPackage;
  if (name.starts_with("DRAM:")) return ChannelScope::kDram;
  if (name.starts_with("CORE:") || name.starts_with("UNCORE:")) return ChannelScope::kCore;
  if (name.starts_with("GPU:")) return ChannelScope::kGpu;
  if (name == "psys" || name.starts_with("psys:")) return ChannelScope::kBoard;
  if (name == "wall" || name.starts_with("wall:") || name == "battery") return ChannelScope::kWall;
  return ChannelScope::kOther;
}

std::string_view ScopeName(ChannelScope scope) {
  switch (scope) {
    case ChannelScope::kPackage:
      return "package";
    case ChannelScope::kDram:
      return "dram";
    case ChannelScope::kCore:
      return "core";
    case ChannelScope::kGpu:
      return "gpu";
    case ChannelScope::kBoard:
      return "board";
    case ChannelScope::kWall:
      return "wall";
    case ChannelScope::kOther:
      break;
  }
  return "other";
}

std::string_view OriginName(Origin origin) {
  return origin == Origin::kMeasured ? "measured" : "estimated";
}

}  // namespace beryl
