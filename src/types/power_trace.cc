#include "types/power_trace.h"

#include <algorithm>
#include <array>
#include <utility>

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
  constexpr std::array<std::string_view, 7> kNames = {"package", "dram", "core", "gpu",
                                                      "board",   "wall", "other"};
  return kNames[static_cast<size_t>(scope)];
}

bool IsContainer(ChannelScope scope) {
  return scope == ChannelScope::kBoard || scope == ChannelScope::kWall;
}

// Makes every stretch in which a counter stood still a gap.
std::vector<std::string> MetersOf(const std::vector<PowerChannel>& channels) {
  std::vector<std::string> meters;
  for (const PowerChannel& channel : channels) {
    const std::string& source = channel.meter.source;
    const bool known = std::find(meters.begin(), meters.end(), source) != meters.end();
    if (!source.empty() && !known) meters.push_back(source);
  }
  return meters;
}

bool TellsAnything(const PowerChannel& channel) {
  return channel.times.size() > 1 + channel.gaps.size();
}

std::string EstimateName(std::string_view channel) { return std::string(channel) + ":estimate"; }

std::vector<std::string> SettleEstimates(PowerTrace& power) {
  std::vector<std::string> estimated;
  std::vector<PowerChannel>& channels = power.channels;
  for (size_t i = 0; i < channels.size();) {
    const std::string& name = channels[i].meter.within;
    const auto counter =
        std::find_if(channels.begin(), channels.end(),
                     [&](const PowerChannel& channel) { return channel.name == name; });
    if (name.empty() || counter == channels.end() || channels[i].name != EstimateName(name)) {
      ++i;
      continue;
    }
    if (TellsAnything(*counter)) {
      channels.erase(channels.begin() + static_cast<std::ptrdiff_t>(i));
      i = 0;
      continue;
    }
    std::string device = counter->name;
    channels[i].meter.within = counter->meter.within;
    counter->name = device + ":counter";
    counter->meter.within = device;
    channels[i].name = device;
    std::swap(*counter, channels[i]);
    estimated.push_back(std::move(device));
    i = 0;
  }
  return estimated;
}

}  // namespace beryl
