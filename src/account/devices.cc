#include "account/devices.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace beryl::account {
namespace {

bool IsContainer(const PowerChannel& channel) {
  return channel.scope == ChannelScope::kBoard || channel.scope == ChannelScope::kWall;
}

bool MayBeDevice(const PowerChannel& channel) {
  return !IsContainer(channel) && channel.scope != ChannelScope::kCore;
}

// The nearer to the plug, the less.
int DistanceToPlug(const PowerChannel& channel) {
  if (channel.scope == ChannelScope::kBoard) return 2;
  return BareDevice(channel.name) == "battery" ? 1 : 0;
}

std::optional<size_t> Find(const std::vector<PowerChannel>& channels, const std::string& name) {
  for (size_t i = 0; i < channels.size(); ++i) {
    if (channels[i].name == name) return i;
  }
  return std::nullopt;
}

// Whether `outer` stands somewhere in what `inner` says it is contained in.
bool IsWithin(const std::vector<PowerChannel>& channels, size_t inner, size_t outer) {
  std::string name = channels[inner].meter.within;
  for (size_t steps = 0; steps <= channels.size() && !name.empty(); ++steps) {
    if (name == channels[outer].name) return true;
    const auto next = Find(channels, name);
    if (!next) return false;
    name = channels[*next].meter.within;
  }
  return false;
}

bool IsPartOfADevice(const std::vector<PowerChannel>& channels, size_t channel) {
  for (size_t other = 0; other < channels.size(); ++other) {
    if (other != channel && MayBeDevice(channels[other]) && IsWithin(channels, channel, other) &&
        !IsWithin(channels, other, channel)) {
      return true;
    }
  }
  return false;
}

std::string NamesOf(const std::vector<PowerChannel>& channels, const std::vector<size_t>& some) {
  std::vector<std::string> names;
  names.reserve(some.size());
  for (const size_t channel : some) names.push_back(channels[channel].name);
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string NumberOf(std::string_view name) {
  const size_t colon = name.rfind(':');
  return colon == std::string_view::npos ? std::string() : std::string(name.substr(colon + 1));
}

// A part of a package says so by its number if by nothing else.
bool IsPartByName(const PowerChannel& part, const PowerChannel& package) {
  return part.scope == ChannelScope::kCore && package.scope == ChannelScope::kPackage &&
         part.meter.within.empty() && NumberOf(part.name) == NumberOf(package.name) &&
         MachineOf(part.name) == MachineOf(package.name);
}

}  // namespace

DevicePlan PlanDevices(const std::vector<PowerChannel>& channels, const std::vector<bool>& told) {
  DevicePlan plan;
  bool measured = false;
  int nearest = 3;
  for (size_t i = 0; i < channels.size(); ++i) {
    if (MayBeDevice(channels[i]) && !IsPartOfADevice(channels, i)) {
      plan.devices.push_back(i);
      measured = measured || (told[i] && channels[i].meter.origin == Origin::kMeasured);
    }
    if (IsContainer(channels[i]) && told[i]) {
      nearest = std::min(nearest, DistanceToPlug(channels[i]));
    }
  }
  bool measured_whole = false;
  for (size_t i = 0; i < channels.size(); ++i) {
    if (!IsContainer(channels[i]) || !told[i] || DistanceToPlug(channels[i]) != nearest) continue;
    plan.container.push_back(i);
    measured_whole = measured_whole || channels[i].meter.origin == Origin::kMeasured;
  }
  const bool only_whole = !plan.container.empty() && (plan.devices.empty() || measured_whole);
  if (!measured && only_whole) {
    if (!plan.devices.empty()) {
      plan.notes.push_back(fmt::format(
          "{} was measured and nothing behind it: it stands for the whole machine, and {} is not "
          "added to it",
          NamesOf(channels, plan.container), NamesOf(channels, plan.devices)));
    }
    plan.devices = plan.container;
  }
  if (!plan.devices.empty()) return plan;
  // Something was watched, even if it told nothing, or only parts of a package were.
  for (size_t i = 0; i < channels.size(); ++i) plan.devices.push_back(i);
  return plan;
}

std::vector<std::string> RelatedTo(const std::vector<PowerChannel>& channels, size_t device) {
  std::vector<std::string> related;
  for (size_t i = 0; i < channels.size(); ++i) {
    const bool whole = IsContainer(channels[i]) && !IsContainer(channels[device]) &&
                       MachineOf(channels[i].name) == MachineOf(channels[device].name);
    const bool all = IsContainer(channels[device]) && i != device;
    if (i == device || whole || all || IsWithin(channels, i, device) ||
        IsWithin(channels, device, i) || IsPartByName(channels[i], channels[device])) {
      related.push_back(channels[i].name);
    }
  }
  return related;
}

}  // namespace beryl::account
