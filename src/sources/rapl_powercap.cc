// RAPL energy counters as files below /sys/class/powercap. Zones are identified by their `name`
// file, never by their index.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "sources/count_file.h"
#include "sources/machine_files.h"
#include "sources/search.h"

namespace beryl::sources {
namespace {

constexpr const char* kSource = "rapl-powercap";
constexpr int kDeepest = 4;

std::string RemedyForRights() {
  if (::geteuid() == 0) {
    return "this root is not root of the machine (a container, a user namespace): run the monitor "
           "on the host, or the container with --privileged";
  }
  return fmt::format(
      "for every user: echo 'SUBSYSTEM==\"powercap\", ACTION==\"add\", "
      "RUN+=\"/bin/chmod a+r /sys%p/energy_uj\"' | sudo tee "
      "/etc/udev/rules.d/70-beryl-rapl.rules && sudo udevadm control --reload && sudo udevadm "
      "trigger --subsystem-match=powercap --action=add; for this program alone: {}; or let a "
      "service read it: {}",
      SetcapCommand("cap_perfmon,cap_dac_read_search+ep"), MonitorCommand());
}

struct Zone {
  std::string id;      // intel-rapl:0:1
  std::string folder;  // where it is
  std::string name;    // dram
  std::string parent;  // intel-rapl:0
  bool is_mmio = false;
};

bool IsZoneId(std::string_view name) { return name.find("rapl") != std::string_view::npos; }

// Zones may be flat, links, or nested; each counts once.
void CollectZones(const std::string& folder, const std::string& parent, int depth,
                  std::set<std::string>& seen, std::vector<Zone>& zones) {
  if (depth > kDeepest) return;
  for (const std::string& id : NamesIn(folder)) {
    if (!IsZoneId(id)) continue;
    const std::string path = fmt::format("{}/{}", folder, id);
    if (!IsFolder(path)) continue;
    const bool is_zone = id.find(':') != std::string::npos;
    if (is_zone && seen.insert(id).second) {
      Zone zone{id, path, ReadLine(path + "/name").value_or(""), parent,
                id.find("mmio") != std::string::npos};
      const size_t last = id.rfind(':');
      if (id.find(':') != last) zone.parent = id.substr(0, last);
      zones.push_back(std::move(zone));
    }
    CollectZones(path, is_zone ? id : "", depth + 1, seen, zones);
  }
}

// "package-1" as "1", "package-1-die-0" as "1:die0"; nothing for another kind of zone. AMD's zones
// all read the package, even if the kernel has one per die.
std::optional<std::string> PackageOf(std::string_view name, bool is_amd) {
  constexpr std::string_view kPrefix = "package-";
  if (!name.starts_with(kPrefix)) return std::nullopt;
  name.remove_prefix(kPrefix.size());
  constexpr std::string_view kDie = "-die-";
  const size_t at = name.find(kDie);
  const auto package = ParseCount(name.substr(0, at));
  if (!package) return std::nullopt;
  if (at == std::string_view::npos || is_amd) return fmt::format("{}", *package);
  const auto die = ParseCount(name.substr(at + kDie.size()));
  if (!die) return std::nullopt;
  return fmt::format("{}:die{}", *package, *die);
}

std::string ChannelName(const Zone& zone, const std::vector<Zone>& zones, bool is_amd) {
  if (zone.name == "psys") return "psys";
  if (const auto package = PackageOf(zone.name, is_amd)) return "CPU:" + *package;
  const auto parent = std::find_if(zones.begin(), zones.end(),
                                   [&](const Zone& other) { return other.id == zone.parent; });
  const auto package =
      parent == zones.end() ? std::optional<std::string>() : PackageOf(parent->name, is_amd);
  if (package && zone.name == "core") return "CORE:" + *package;
  if (package && zone.name == "uncore") return "UNCORE:" + *package;
  if (package && zone.name == "dram") return "DRAM:" + *package;
  // A separate zone that has nothing but its name.
  return fmt::format("{}:{}", zone.id, zone.name.empty() ? "unnamed" : Printable(zone.name));
}

// The count at which a zone's counter wraps, as the zone states it; 0 states nothing.
std::optional<uint64_t> StatedRange(const Zone& zone) {
  const auto range = ReadCount(zone.folder + "/max_energy_range_uj");
  return range != 0 ? range : std::nullopt;
}

// The same for parts of a package, which use its unit; memory may have its own.
std::optional<uint64_t> RangeOf(const Zone& zone, const std::vector<Zone>& zones) {
  if (const auto own = StatedRange(zone)) return own;
  if (zone.name != "core" && zone.name != "uncore") return std::nullopt;
  const auto parent = std::find_if(zones.begin(), zones.end(),
                                   [&](const Zone& other) { return other.id == zone.parent; });
  return parent == zones.end() ? std::nullopt : StatedRange(*parent);
}

PowerChannel ChannelOf(std::optional<uint64_t> range_uj, std::string name, std::string reads) {
  PowerChannel channel = MakeCounter(kSource, std::move(name), std::move(reads));
  channel.meter.unit = "uJ";
  channel.meter.per_count = 1e-6;
  channel.meter.wrap = range_uj;
  return channel;
}

struct Refusals {
  size_t count = 0;
  int error = 0;  // of the first
  std::string what;
};

RefusedSource Refuse(const Refusals& refusals, size_t zones) {
  RefusedSource refused{kSource, "", ""};
  const bool rights = refusals.error == EACCES || refusals.error == EPERM;
  refused.reason =
      fmt::format("{} of {} zones cannot be read; {}{}", refusals.count, zones, refusals.what,
                  rights ? "; energy_uj is for root only since CVE-2020-8694" : "");
  refused.remedy = rights ? RemedyForRights()
                          : "look at the file: a zone without a readable counter is not used";
  return refused;
}

RefusedSource NoZones(const std::string& folder) {
  return {
      kSource, fmt::format("no RAPL zones below {}", folder),
      "on a physical machine: sudo modprobe intel_rapl_msr (Intel, and AMD from Linux 5.8); "
      "a virtual machine or a container has none unless its host passes them through: run beryl "
      "monitor on the host, or use an external meter"};
}

}  // namespace

Result<FoundSource> FindRaplPowercap(const Search& search) {
  FoundSource found;
  const std::string folder = search.machine.sysfs + "/class/powercap";
  std::set<std::string> seen;
  std::vector<Zone> zones;
  CollectZones(folder, "", 0, seen, zones);
  if (zones.empty()) {
    found.refused.push_back(NoZones(folder));
    return found;
  }
  // MMIO zones duplicate MSR zones and are second choice.
  std::stable_partition(zones.begin(), zones.end(), [](const Zone& zone) { return !zone.is_mmio; });
  const bool is_amd = HasAmdProcessors(search.machine.procfs);
  auto source = std::make_unique<CountFiles>();
  Refusals refusals;
  for (const Zone& zone : zones) {
    std::string name = ChannelName(zone, zones, is_amd);
    const std::string reads = zone.id + "/energy_uj";
    if (search.IsDistrusted(kSource, reads)) continue;
    const PowerChannel* holder = search.Holder(name);
    for (const PowerChannel& channel : source->channels()) {
      if (channel.name == name) holder = &channel;
    }
    if (holder) {
      found.duplicates.push_back(
          {kSource, reads, name, fmt::format("{} {}", holder->meter.source, holder->meter.reads)});
      continue;
    }
    PowerChannel channel = ChannelOf(RangeOf(zone, zones), std::move(name), reads);
    CountFile file(zone.folder + "/energy_uj", channel.meter.wrap);
    if (file.ReadPatiently().state != ReadState::kOk) {
      if (refusals.count++ == 0) {
        refusals.error = file.error();
        refusals.what = fmt::format("{}: {}", file.path(), file.Trouble());
      }
      continue;
    }
    source->Add(std::move(channel), std::move(file));
  }
  if (refusals.count > 0) found.refused.push_back(Refuse(refusals, zones.size()));
  if (!source->empty()) found.power = std::move(source);
  return found;
}

}  // namespace beryl::sources
