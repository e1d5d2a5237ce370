#include "account/feed.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace beryl::account {
namespace {

// "1" from "DRAM:1", "0:die1" from "CORE:0:die1".
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

// Equal except for case: a slip in a power file.
bool IsSpelledLike(std::string_view a, std::string_view b) {
  auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](char x, char y) { return lower(x) == lower(y); });
}

// A meter with a single reading, or only gaps, contains nothing.
Containment ContainmentOf(const PowerTrace& power) {
  std::vector<bool> tells;
  tells.reserve(power.channels.size());
  for (const PowerChannel& channel : power.channels) tells.push_back(TellsAnything(channel));
  return {power.channels, tells};
}

class Planner {
 public:
  Planner(const PowerTrace& power, const OpTrace& ops, const OpGlance& glance,
          const AccountOptions& options)
      : power_(power),
        ops_(ops),
        options_(options),
        glance_(glance),
        containment_(ContainmentOf(power)) {}

  Result<FeedPlan> Run() {
    for (const auto& [channel, targets] : options_.feeds) {
      if (Find(channel) < 0) return Unknown("feeds", "feed", channel);
    }
    for (const auto& [channel, watts] : options_.idle_power) {
      if (channel != "all" && Find(channel) < 0)
        return Unknown("idle power", "idle_power", channel);
    }
    FeedPlan plan{containment_, {}, containment_.notes()};
    for (size_t i = 0; i < power_.channels.size(); ++i) {
      auto feed = TRY(FeedOf(i));
      plan.channels.push_back(std::move(feed));
    }
    AddNotes(plan);
    return plan;
  }

 private:
  Error Unknown(const char* subject, std::string_view option, const std::string& channel) const {
    std::vector<std::string> names;
    for (const PowerChannel& known : power_.channels) names.push_back(known.name);
    return MisuseError(fmt::format("{}: the power trace has no channel '{}'; it has {}", subject,
                                   channel, fmt::join(names, ", ")),
                       {option});
  }

  int Find(const std::string& name) const {
    for (size_t i = 0; i < power_.channels.size(); ++i) {
      if (power_.channels[i].name == name) return static_cast<int>(i);
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

  std::vector<uint16_t> HostDevices(std::string_view machine) const {
    return DevicesWhere(
        [&](std::string_view name) { return IsHost(name) && MachineOf(name) == machine; });
  }

  // Whether the trace names several CPU devices of a machine and each has its own channel.
  bool CpusMatchOneToOne(std::string_view machine) const {
    const auto cpus = HostDevices(machine);
    return cpus.size() > 1 && std::all_of(cpus.begin(), cpus.end(), [&](uint16_t device) {
             return Find(ops_.devices[device]) >= 0;
           });
  }

  Result<ChannelFeed> FeedOf(size_t index) const {
    const PowerChannel& channel = power_.channels[index];
    ChannelFeed feed;
    if (const auto given = options_.feeds.find(channel.name); given != options_.feeds.end()) {
      return GivenFeed(index, given->second);
    }
    if (containment_.IsContainer(index)) {
      feed.words = WordsOfContainer(index);
      return feed;
    }
    if (IsPart(index)) {
      feed.words = fmt::format("nothing: contained in {}, whose energy is attributed",
                               containment_.WithinText(index));
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

  std::string WordsOfContainer(size_t index) const {
    for (size_t i = 0; i < power_.channels.size(); ++i) {
      const std::vector<size_t>& within = containment_.Within(i);
      if (within.size() == 1 || std::find(within.begin(), within.end(), index) == within.end()) {
        continue;
      }
      return fmt::format(
          "no operation: the energy of {} beyond the channels they contain belongs to the rest of "
          "the machine, divided in proportion to what each plug reads",
          containment_.WithinText(i));
    }
    return "no operation: the energy beyond the channels it contains belongs to the rest of the "
           "machine";
  }

  // Within a channel that is attributed itself.
  bool IsPart(size_t channel) const {
    const std::vector<size_t>& within = containment_.Within(channel);
    return std::any_of(within.begin(), within.end(),
                       [&](size_t outer) { return !containment_.IsContainer(outer); });
  }

  // "all" is everything on the channel's machine.
  Result<ChannelFeed> GivenFeed(size_t channel, const std::vector<std::string>& targets) const {
    const std::string_view machine = MachineOf(power_.channels[channel].name);
    ChannelFeed feed;
    for (const std::string& target : targets) {
      if (target == "none") continue;
      const auto devices = DevicesWhere([&](std::string_view name) {
        return name == target ||
               (target == "all" && (machine.empty() || MachineOf(name) == machine));
      });
      if (devices.empty()) {
        return MisuseError(
            fmt::format("feeds: no operation ran on '{}'; the operation trace has {}", target,
                        Names(DevicesWhere([](auto) { return true; }))),
            {"feed"});
      }
      feed.devices.insert(feed.devices.end(), devices.begin(), devices.end());
    }
    std::sort(feed.devices.begin(), feed.devices.end());
    feed.devices.erase(std::unique(feed.devices.begin(), feed.devices.end()), feed.devices.end());
    feed.words = feed.devices.empty()
                     ? "nothing, as the user gave it"
                     : fmt::format("operations on {}, as the user gave it{}", Names(feed.devices),
                                   containment_.IsContainer(channel)
                                       ? ": its remainder, in proportion to its power"
                                       : "");
    return feed;
  }

  void AddNotes(FeedPlan& plan) const {
    std::set<uint16_t> fed;
    for (size_t i = 0; i < plan.channels.size(); ++i) {
      const ChannelFeed& feed = plan.channels[i];
      const PowerChannel& channel = power_.channels[i];
      fed.insert(feed.devices.begin(), feed.devices.end());
      const bool as_asked = options_.feeds.contains(channel.name);
      const bool is_named = containment_.IsContainer(i) || IsPart(i) ||
                            channel.scope == ChannelScope::kCore || as_asked;
      if (feed.devices.empty() && !is_named) {
        plan.notes.push_back({NoteKind::kPowerWithoutOperations, channel.name});
      }
    }
    for (const uint16_t device : DevicesWhere([](auto) { return true; })) {
      if (fed.contains(device)) continue;
      const std::string& name = ops_.devices[device];
      std::string could_feed;
      for (size_t i = 0; i < power_.channels.size(); ++i) {
        const PowerChannel& channel = power_.channels[i];
        if (options_.feeds.contains(channel.name)) continue;
        if (IsSpelledLike(channel.name, BareDevice(name)) || containment_.IsContainer(i)) {
          could_feed = channel.name;
          break;
        }
      }
      plan.notes.push_back({NoteKind::kOperationsWithoutPower, name, {could_feed}});
    }
  }

  const PowerTrace& power_;
  const OpTrace& ops_;
  const AccountOptions& options_;
  const OpGlance& glance_;
  const Containment containment_;
};

}  // namespace

Result<FeedPlan> PlanFeeds(const PowerTrace& power, const OpTrace& ops, const OpGlance& glance,
                           const AccountOptions& options) {
  return Planner(power, ops, glance, options).Run();
}

}  // namespace beryl::account
