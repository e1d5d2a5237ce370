#include "account/feed.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace beryl::account {
namespace {

// "1" of "DRAM:1", "0:die1" of "CORE:0:die1".
std::string NumberOf(std::string_view channel) {
  const std::string_view bare = BareDevice(channel);
  return std::string(bare.substr(bare.find(':') + 1));
}

bool IsHost(std::string_view device) { return BareDevice(device).starts_with("CPU:"); }

// A device of the machine that `channel` reads.
std::string Beside(std::string_view channel, const std::string& device) {
  const std::string_view machine = MachineOf(channel);
  return machine.empty() ? device : std::string(machine) + "/" + device;
}

// The same but for capitals: a slip in a power file.
bool IsSpelledLike(std::string_view a, std::string_view b) {
  auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](char x, char y) { return lower(x) == lower(y); });
}

bool IsContainer(ChannelScope scope) {
  return scope == ChannelScope::kBoard || scope == ChannelScope::kWall;
}

class Planner {
 public:
  Planner(const PowerTrace& power, const OpTrace& ops, const OpGlance& glance,
          const AccountOptions& options)
      : power_(power), ops_(ops), options_(options), glance_(glance) {}

  Result<FeedPlan> Run() {
    for (const auto& [channel, targets] : options_.feeds) {
      if (Find(channel) < 0) return Unknown("--feed", channel);
    }
    for (const auto& [channel, watts] : options_.idle_power) {
      if (channel != "all" && Find(channel) < 0) return Unknown("--idle-power", channel);
    }
    FeedPlan plan;
    for (const PowerChannel& channel : power_.channels) {
      auto feed = FeedOf(channel);
      if (!feed) return feed.error();
      plan.channels.push_back(std::move(*feed));
    }
    AddNotes(plan);
    return plan;
  }

 private:
  Error Unknown(const char* option, const std::string& channel) const {
    std::vector<std::string> names;
    for (const PowerChannel& known : power_.channels) names.push_back(known.name);
    return MisuseError(fmt::format("{}: the power trace has no channel '{}'; it has {}", option,
                                   channel, fmt::join(names, ", ")));
  }

  int Find(const std::string& name) const {
    for (size_t i = 0; i < power_.channels.size(); ++i) {
      if (power_.channels[i].name == name) return static_cast<int>(i);
    }
    return -1;
  }
  int FindScope(ChannelScope scope, std::string_view machine) const {
    for (size_t i = 0; i < power_.channels.size(); ++i) {
      const PowerChannel& channel = power_.channels[i];
      if (channel.scope == scope && MachineOf(channel.name) == machine) return static_cast<int>(i);
    }
    return -1;
  }

  std::vector<uint16_t> DevicesWhere(auto&& wanted) const {
    std::vector<uint16_t> devices;
    for (size_t i = 0; i < ops_.devices.size(); ++i) {
      if (glance_.devices[i].count > 0 && wanted(std::string_view(ops_.devices[i]))) {
        devices.push_back(static_cast<uint16_t>(i));
      }
    }
    return devices;
  }
  std::string Names(const std::vector<uint16_t>& devices) const {
    std::vector<std::string_view> names;
    names.reserve(devices.size());
    for (const uint16_t device : devices) names.push_back(ops_.devices[device]);
    return fmt::format("{}", fmt::join(names, ", "));
  }

  int Container(const PowerChannel& channel) const {
    const int board = FindScope(ChannelScope::kBoard, MachineOf(channel.name));
    const int wall = FindScope(ChannelScope::kWall, MachineOf(channel.name));
    const int package = Find(Beside(channel.name, "CPU:" + NumberOf(channel.name)));
    switch (channel.scope) {
      case ChannelScope::kCore:
        if (package >= 0) return package;
        [[fallthrough]];
      case ChannelScope::kPackage:
      case ChannelScope::kDram:
        return board >= 0 ? board : wall;
      case ChannelScope::kGpu:
      case ChannelScope::kBoard:
      case ChannelScope::kOther:
        return wall;
      case ChannelScope::kWall:
        break;
    }
    return -1;
  }

  std::vector<uint16_t> HostDevices(std::string_view machine) const {
    return DevicesWhere(
        [&](std::string_view name) { return IsHost(name) && MachineOf(name) == machine; });
  }

  // Whether the trace names several CPU devices of a machine and each of them has a channel of its
  // own.
  bool CpusMatchOneToOne(std::string_view machine) const {
    const auto cpus = HostDevices(machine);
    return cpus.size() > 1 && std::all_of(cpus.begin(), cpus.end(), [&](uint16_t device) {
             return Find(ops_.devices[device]) >= 0;
           });
  }

  Result<ChannelFeed> FeedOf(const PowerChannel& channel) const {
    ChannelFeed feed;
    feed.within = Container(channel);
    feed.container = IsContainer(channel.scope);
    if (const auto given = options_.feeds.find(channel.name); given != options_.feeds.end()) {
      return GivenFeed(std::move(feed), given->second, MachineOf(channel.name));
    }
    if (feed.container) {
      feed.words = "no operation: what the channels it contains leave over is the rest of the box";
      return feed;
    }
    if (channel.scope == ChannelScope::kCore && feed.within >= 0 &&
        power_.channels[static_cast<size_t>(feed.within)].scope == ChannelScope::kPackage) {
      feed.words = fmt::format("nothing: contained in {}, which is shared out",
                               power_.channels[static_cast<size_t>(feed.within)].name);
      return feed;
    }
    const bool host =
        channel.scope == ChannelScope::kPackage || channel.scope == ChannelScope::kDram;
    const std::string_view machine = MachineOf(channel.name);
    const std::string package = Beside(channel.name, "CPU:" + NumberOf(channel.name));
    if (host && CpusMatchOneToOne(machine) && Find(package) >= 0) {
      feed.devices = DevicesWhere([&](std::string_view name) { return name == package; });
    } else if (host) {
      feed.devices = HostDevices(machine);
    } else {
      feed.devices = DevicesWhere([&](std::string_view name) { return name == channel.name; });
    }
    feed.words =
        feed.devices.empty()
            ? std::string("no operation: the operation trace has none on this device")
            : fmt::format("operations on {}{}", Names(feed.devices), host ? " (the host)" : "");
    return feed;
  }

  // "all" is everything on the channel's machine.
  Result<ChannelFeed> GivenFeed(ChannelFeed feed, const std::vector<std::string>& targets,
                                std::string_view machine) const {
    for (const std::string& target : targets) {
      if (target == "none") continue;
      const auto devices = DevicesWhere([&](std::string_view name) {
        return name == target ||
               (target == "all" && (machine.empty() || MachineOf(name) == machine));
      });
      if (devices.empty()) {
        return MisuseError(
            fmt::format("--feed: no operation ran on '{}'; the operation trace has {}", target,
                        Names(DevicesWhere([](auto) { return true; }))));
      }
      feed.devices.insert(feed.devices.end(), devices.begin(), devices.end());
    }
    std::sort(feed.devices.begin(), feed.devices.end());
    feed.devices.erase(std::unique(feed.devices.begin(), feed.devices.end()), feed.devices.end());
    feed.words =
        feed.devices.empty()
            ? "nothing, as asked"
            : fmt::format("operations on {}, as asked{}", Names(feed.devices),
                          feed.container ? ": its remainder, in proportion to its power" : "");
    return feed;
  }

  void AddNotes(FeedPlan& plan) const {
    std::set<uint16_t> fed;
    for (size_t i = 0; i < plan.channels.size(); ++i) {
      const ChannelFeed& feed = plan.channels[i];
      const PowerChannel& channel = power_.channels[i];
      fed.insert(feed.devices.begin(), feed.devices.end());
      const bool as_asked = options_.feeds.contains(channel.name);
      if (feed.devices.empty() && !feed.container && !as_asked &&
          channel.scope != ChannelScope::kCore) {
        plan.notes.push_back(fmt::format(
            "{} has power and no operations: its energy is unattributed", channel.name));
      }
    }
    for (const uint16_t device : DevicesWhere([](auto) { return true; })) {
      if (fed.contains(device)) continue;
      const std::string& name = ops_.devices[device];
      std::string note =
          fmt::format("{} has operations and no power: their energy is unknown", name);
      for (const PowerChannel& channel : power_.channels) {
        if (options_.feeds.contains(channel.name)) continue;
        if (IsSpelledLike(channel.name, BareDevice(name)) || IsContainer(channel.scope)) {
          note +=
              fmt::format(" (--feed {}={} would give them {}'s)", channel.name, name, channel.name);
          break;
        }
      }
      plan.notes.push_back(std::move(note));
    }
  }

  const PowerTrace& power_;
  const OpTrace& ops_;
  const AccountOptions& options_;
  const OpGlance& glance_;
};

}  // namespace

Result<FeedPlan> PlanFeeds(const PowerTrace& power, const OpTrace& ops, const OpGlance& glance,
                           const AccountOptions& options) {
  return Planner(power, ops, glance, options).Run();
}

}  // namespace beryl::account
