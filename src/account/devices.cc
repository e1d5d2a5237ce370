#include "account/devices.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace beryl::account {
namespace {

bool IsMeasured(const PowerChannel& channel) { return channel.meter.origin == Origin::kMeasured; }

// The number of each channel's machine. Machines count as one if one contains a part of another, as
// a rack does.
std::vector<size_t> MachinesOf(const std::vector<PowerChannel>& channels,
                               const Containment& containment) {
  std::map<std::string_view, size_t> numbers;
  std::vector<size_t> machines;
  machines.reserve(channels.size());
  for (const PowerChannel& channel : channels) {
    machines.push_back(numbers.emplace(MachineOf(channel.name), numbers.size()).first->second);
  }
  for (size_t i = 0; i < channels.size(); ++i) {
    for (const size_t outer : containment.Within(i)) {
      if (machines[outer] == machines[i]) continue;
      std::replace(machines.begin(), machines.end(), size_t{machines[i]}, size_t{machines[outer]});
    }
  }
  return machines;
}

// The plan for one machine, whose channels are `here`.
class Planner {
 public:
  Planner(const std::vector<PowerChannel>& channels, const std::vector<bool>& has_energy,
          const Containment& containment, std::vector<size_t> here, DevicePlan& plan)
      : channels_(channels),
        has_energy_(has_energy),
        containment_(containment),
        here_(std::move(here)),
        plan_(plan) {}

  void Run() {
    std::vector<size_t> devices;
    std::copy_if(here_.begin(), here_.end(), std::back_inserter(devices),
                 [&](size_t i) { return MayBeDevice(i) && !IsPartOfADevice(i); });
    std::vector<size_t> outermost;
    std::copy_if(here_.begin(), here_.end(), std::back_inserter(outermost), [&](size_t i) {
      return has_energy_[i] && containment_.IsContainer(i) && containment_.Within(i).empty();
    });
    const bool measured = std::any_of(devices.begin(), devices.end(), [&](size_t i) {
      return has_energy_[i] && IsMeasured(channels_[i]);
    });
    const bool is_whole_measured = std::all_of(outermost.begin(), outermost.end(),
                                               [&](size_t i) { return IsMeasured(channels_[i]); });
    if (!measured && !outermost.empty() && (devices.empty() || is_whole_measured)) {
      PutInPlace(outermost, devices);
    } else if (measured) {
      PutBoardInPlace(devices);
      SayWhereTheCpusAre(devices, outermost);
    }
    plan_.devices.insert(plan_.devices.end(), devices.begin(), devices.end());
    plan_.container.insert(plan_.container.end(), outermost.begin(), outermost.end());
    const std::vector<size_t> silent = SilentBeside(outermost);
    plan_.silent.insert(plan_.silent.end(), silent.begin(), silent.end());
  }

 private:
  bool MayBeDevice(size_t channel) const {
    return !containment_.IsContainer(channel) && channels_[channel].scope != ChannelScope::kCore;
  }

  bool IsPartOfADevice(size_t channel) const {
    return std::any_of(here_.begin(), here_.end(), [&](size_t other) {
      return MayBeDevice(other) && containment_.Contains(other, channel);
    });
  }

  std::vector<size_t> SilentBeside(const std::vector<size_t>& containers) const {
    std::set<size_t> silent;
    for (const size_t container : containers) {
      for (const size_t i : containment_.SilentBeside(container)) silent.insert(i);
    }
    return {silent.begin(), silent.end()};
  }

  bool IsInOneOf(const std::vector<size_t>& containers, size_t channel) const {
    return std::any_of(containers.begin(), containers.end(),
                       [&](size_t i) { return containment_.Contains(i, channel); });
  }

  // A meter of the whole is better than an estimate of its parts. If a plug is silent, report it as
  // missing.
  void PutInPlace(const std::vector<size_t>& containers, std::vector<size_t>& devices) {
    std::vector<size_t> inside;
    std::vector<size_t> beside = SilentBeside(containers);
    beside.insert(beside.end(), containers.begin(), containers.end());
    for (const size_t device : devices) {
      (IsInOneOf(containers, device) ? inside : beside).push_back(device);
    }
    devices = std::move(beside);
    std::sort(devices.begin(), devices.end());
    if (inside.empty()) return;
    plan_.notes.push_back(
        {NoteKind::kContainerStandsIn, containment_.Names(containers), {NamesOf(inside)}});
  }

  // psys does not include plugged-in devices, so it may be a device beside a GPU.
  void PutBoardInPlace(std::vector<size_t>& devices) {
    std::vector<size_t> boards;
    for (const size_t i : here_) {
      const bool is_board = channels_[i].scope == ChannelScope::kBoard;
      if (is_board && has_energy_[i] && IsMeasured(channels_[i])) boards.push_back(i);
    }
    std::erase_if(boards, [&, all = boards](size_t i) { return IsInOneOf(all, i); });
    const bool is_inside_measured = std::any_of(devices.begin(), devices.end(), [&](size_t i) {
      return has_energy_[i] && IsMeasured(channels_[i]) && IsInOneOf(boards, i);
    });
    if (!boards.empty() && !is_inside_measured) PutInPlace(boards, devices);
  }

  void SayWhereTheCpusAre(const std::vector<size_t>& devices,
                          const std::vector<size_t>& outermost) {
    if (outermost.empty()) return;
    for (const size_t i : devices) {
      const PowerChannel& channel = channels_[i];
      const bool rail =
          channel.scope == ChannelScope::kOther && channel.name.find("CPU") != std::string::npos;
      if (channel.scope == ChannelScope::kPackage || containment_.IsContainer(i) || rail) return;
    }
    const std::string names = containment_.Names(outermost);
    plan_.missing.push_back(fmt::format("the CPUs, which only {} reads", names));
    plan_.notes.push_back({NoteKind::kCpusOnlyInContainer, names});
  }

  std::string NamesOf(const std::vector<size_t>& some) const {
    std::vector<std::string_view> names;
    names.reserve(some.size());
    for (const size_t channel : some) names.push_back(channels_[channel].name);
    return fmt::format("{}", fmt::join(names, ", "));
  }

  const std::vector<PowerChannel>& channels_;
  const std::vector<bool>& has_energy_;
  const Containment& containment_;
  const std::vector<size_t> here_;
  DevicePlan& plan_;
};

}  // namespace

DevicePlan PlanDevices(const std::vector<PowerChannel>& channels,
                       const std::vector<bool>& has_energy, const Containment& containment) {
  DevicePlan plan;
  plan.notes = containment.notes();
  const std::vector<size_t> machines = MachinesOf(channels, containment);
  std::map<size_t, std::vector<size_t>> channels_of;
  for (size_t i = 0; i < machines.size(); ++i) channels_of[machines[i]].push_back(i);
  for (auto& [machine, here] : channels_of) {
    Planner(channels, has_energy, containment, std::move(here), plan).Run();
  }
  std::sort(plan.devices.begin(), plan.devices.end());
  if (!plan.devices.empty()) return plan;
  // Something was watched, even if it was silent, or only parts of a package were.
  for (size_t i = 0; i < channels.size(); ++i) plan.devices.push_back(i);
  return plan;
}

bool IsOnlyOne(const std::vector<PowerChannel>& channels, const Containment& containment,
               size_t channel) {
  auto kind_of = [](std::string_view name) { return name.substr(0, name.find(':')); };
  for (size_t i = 0; i < channels.size(); ++i) {
    if (i == channel || kind_of(channels[i].name) != kind_of(channels[channel].name)) continue;
    if (!containment.Contains(channel, i)) return false;
  }
  return true;
}

std::vector<std::string> RelatedTo(const std::vector<PowerChannel>& channels,
                                   const Containment& containment, size_t device) {
  std::vector<std::string> related;
  for (size_t i = 0; i < channels.size(); ++i) {
    if (i == device || containment.Contains(i, device) || containment.Contains(device, i)) {
      related.push_back(channels[i].name);
    }
  }
  return related;
}

}  // namespace beryl::account
