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

// "0" of "CPU:0", "0:die1" of "CORE:0:die1".
std::string_view NumberOf(std::string_view name) {
  name = BareDevice(name);
  const size_t colon = name.find(':');
  return colon == std::string_view::npos ? std::string_view() : name.substr(colon + 1);
}

// A part of a package says so by its number if by nothing else.
bool IsPartByName(const PowerChannel& part, const PowerChannel& package) {
  return part.scope == ChannelScope::kCore && package.scope == ChannelScope::kPackage &&
         part.meter.within.empty() && NumberOf(part.name) == NumberOf(package.name) &&
         MachineOf(part.name) == MachineOf(package.name);
}

bool IsMeasured(const PowerChannel& channel) { return channel.meter.origin == Origin::kMeasured; }

// What is planned for one machine: nothing of one stands before anything of another.
class Planner {
 public:
  Planner(const std::vector<PowerChannel>& channels, const std::vector<bool>& told,
          std::string_view machine, DevicePlan& plan)
      : channels_(channels), told_(told), machine_(machine), plan_(plan) {}

  void Run() {
    std::vector<size_t> devices;
    for (size_t i = 0; i < channels_.size(); ++i) {
      if (IsHere(i) && MayBeDevice(channels_[i]) && !IsPartOfADevice(channels_, i)) {
        devices.push_back(i);
      }
    }
    std::vector<size_t> outermost;
    for (int distance = 0; distance < 3 && outermost.empty(); ++distance) {
      outermost = ContainersAt(distance);
    }
    const bool measured = std::any_of(devices.begin(), devices.end(), [&](size_t i) {
      return told_[i] && IsMeasured(channels_[i]);
    });
    if (!measured && !outermost.empty() &&
        (devices.empty() || IsMeasured(channels_[outermost.front()]))) {
      PutInPlace(outermost, devices);
    } else if (measured) {
      PutBoardInPlace(devices);
      SayWhereTheCpusAre(devices, outermost);
    }
    plan_.devices.insert(plan_.devices.end(), devices.begin(), devices.end());
    plan_.container.insert(plan_.container.end(), outermost.begin(), outermost.end());
  }

 private:
  bool IsHere(size_t i) const { return MachineOf(channels_[i].name) == machine_; }

  // Those that may be added up: meters at several plugs. Any others may read the same place twice.
  std::vector<size_t> ContainersAt(int distance) {
    std::vector<size_t> all;
    for (size_t i = 0; i < channels_.size(); ++i) {
      if (IsHere(i) && IsContainer(channels_[i]) && told_[i] &&
          DistanceToPlug(channels_[i]) == distance) {
        all.push_back(i);
      }
    }
    auto of_meter = [&](size_t i) { return channels_[i].meter.source == "meter"; };
    std::stable_partition(all.begin(), all.end(),
                          [&](size_t i) { return IsMeasured(channels_[i]); });
    const auto rest = std::stable_partition(all.begin(), all.end(), of_meter);
    const auto meters = std::max<std::ptrdiff_t>(rest - all.begin(), 1);
    if (static_cast<std::ptrdiff_t>(all.size()) <= meters) return all;
    const std::vector<size_t> others(all.begin() + meters, all.end());
    all.resize(static_cast<size_t>(meters));
    std::string note = fmt::format("{} may read what {} reads, and is not added to it",
                                   NamesOf(channels_, others), NamesOf(channels_, all));
    // Both the outermost and the board are asked for, and may be the same.
    if (std::find(plan_.notes.begin(), plan_.notes.end(), note) == plan_.notes.end()) {
      plan_.notes.push_back(std::move(note));
    }
    return all;
  }

  // A meter of the whole is worth more than a guess at its parts.
  void PutInPlace(const std::vector<size_t>& containers, std::vector<size_t>& devices) {
    std::vector<size_t> behind;
    std::vector<size_t> beside = containers;
    for (const size_t device : devices) {
      const bool before = std::any_of(containers.begin(), containers.end(), [&](size_t i) {
        return StandsBefore(channels_[i], channels_[device]);
      });
      (before ? behind : beside).push_back(device);
    }
    devices = std::move(beside);
    std::sort(devices.begin(), devices.end());
    if (behind.empty()) return;
    plan_.notes.push_back(fmt::format(
        "{} was measured and nothing behind it: it stands for all of that, and {} is not added to "
        "it",
        NamesOf(channels_, containers), NamesOf(channels_, behind)));
  }

  // psys does not stand before what is plugged in, so that it may be a device beside a GPU.
  void PutBoardInPlace(std::vector<size_t>& devices) {
    const std::vector<size_t> board = ContainersAt(2);
    if (board.empty() || !IsMeasured(channels_[board.front()])) return;
    for (const size_t device : devices) {
      if (told_[device] && IsMeasured(channels_[device]) &&
          StandsBefore(channels_[board.front()], channels_[device])) {
        return;
      }
    }
    PutInPlace(board, devices);
  }

  void SayWhereTheCpusAre(const std::vector<size_t>& devices,
                          const std::vector<size_t>& outermost) {
    if (outermost.empty()) return;
    for (const size_t i : devices) {
      const PowerChannel& channel = channels_[i];
      const bool rail =
          channel.scope == ChannelScope::kOther && channel.name.find("CPU") != std::string::npos;
      if (channel.scope == ChannelScope::kPackage || IsContainer(channel) || rail) return;
    }
    const std::string names = NamesOf(channels_, outermost);
    plan_.missing.push_back(fmt::format("the CPUs, which only {} reads", names));
    plan_.notes.push_back(fmt::format(
        "no meter reads the CPUs but {}, which is not added to what is behind it", names));
  }

  const std::vector<PowerChannel>& channels_;
  const std::vector<bool>& told_;
  std::string_view machine_;
  DevicePlan& plan_;
};

}  // namespace

DevicePlan PlanDevices(const std::vector<PowerChannel>& channels, const std::vector<bool>& told) {
  DevicePlan plan;
  std::vector<std::string_view> machines;
  for (const PowerChannel& channel : channels) {
    const std::string_view machine = MachineOf(channel.name);
    if (std::find(machines.begin(), machines.end(), machine) != machines.end()) continue;
    machines.push_back(machine);
    Planner(channels, told, machine, plan).Run();
  }
  std::sort(plan.devices.begin(), plan.devices.end());
  if (!plan.devices.empty()) return plan;
  // Something was watched, even if it told nothing, or only parts of a package were.
  for (size_t i = 0; i < channels.size(); ++i) plan.devices.push_back(i);
  return plan;
}

bool IsOnlyOne(const std::vector<PowerChannel>& channels, size_t channel) {
  auto kind_of = [](std::string_view name) { return name.substr(0, name.find(':')); };
  for (size_t i = 0; i < channels.size(); ++i) {
    if (i == channel || kind_of(channels[i].name) != kind_of(channels[channel].name)) continue;
    if (!IsWithin(channels, i, channel)) return false;
  }
  return true;
}

bool StandsBefore(const PowerChannel& container, const PowerChannel& device) {
  if (MachineOf(container.name) != MachineOf(device.name)) return false;
  if (container.scope == ChannelScope::kWall || device.meter.within == container.name) return true;
  // What a board tells of itself beside its total is in that total.
  const bool rail = device.scope == ChannelScope::kOther && !device.meter.source.empty() &&
                    device.meter.source == container.meter.source;
  return rail || device.scope == ChannelScope::kPackage || device.scope == ChannelScope::kDram;
}

std::vector<std::string> RelatedTo(const std::vector<PowerChannel>& channels, size_t device) {
  std::vector<std::string> related;
  for (size_t i = 0; i < channels.size(); ++i) {
    const bool whole = IsContainer(channels[i]) && !IsContainer(channels[device]) &&
                       StandsBefore(channels[i], channels[device]);
    const bool all = IsContainer(channels[device]) && i != device;
    if (i == device || whole || all || IsWithin(channels, i, device) ||
        IsWithin(channels, device, i) || IsPartByName(channels[i], channels[device])) {
      related.push_back(channels[i].name);
    }
  }
  return related;
}

}  // namespace beryl::account
