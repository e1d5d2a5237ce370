// RAPL energy counters through perf events: cheaper to read than files, and allowed with
// CAP_PERFMON.
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "sources/machine_files.h"
#include "sources/search.h"

namespace beryl::sources {
namespace {

constexpr const char* kSource = "rapl-perf";

struct EventName {
  const char* event;
  const char* channel;  // without the package's number
};
constexpr std::array<EventName, 5> kEvents = {{{"energy-pkg", "CPU"},
                                               {"energy-cores", "CORE"},
                                               {"energy-gpu", "UNCORE"},
                                               {"energy-ram", "DRAM"},
                                               {"energy-psys", "psys"}}};

class PerfCounters final : public PowerSource, public Divisible {
 public:
  PerfCounters() = default;
  ~PerfCounters() override {
    for (const int fd : fds_) ::close(fd);
  }
  PerfCounters(const PerfCounters&) = delete;
  PerfCounters& operator=(const PerfCounters&) = delete;

  void Add(PowerChannel channel, int fd) {
    channels_.push_back(std::move(channel));
    fds_.push_back(fd);
  }
  const std::vector<PowerChannel>& channels() const override { return channels_; }

  void KeepOnly(std::span<const size_t> places) override {
    for (size_t i = 0; i < fds_.size(); ++i) {
      if (std::find(places.begin(), places.end(), i) == places.end()) ::close(fds_[i]);
    }
    fds_ = Picked(std::move(fds_), places);
    channels_ = Picked(std::move(channels_), places);
  }

  void Read(std::span<MeterReading> out) override {
    for (size_t i = 0; i < fds_.size(); ++i) {
      uint64_t count = 0;
      const ssize_t got = ::read(fds_[i], &count, sizeof(count));
      if (got == sizeof(count)) {
        out[i] = {ReadState::kOk, count};
      } else {
        // Empty: its CPU was taken off line.
        const bool again = got < 0 && (errno == EINTR || errno == EAGAIN);
        out[i] = {again ? ReadState::kRetry : ReadState::kGone, 0};
      }
    }
  }

 private:
  std::vector<PowerChannel> channels_;
  std::vector<int> fds_;
};

// "event=0x02,umask=0x01" as the kernel expects it.
std::optional<uint64_t> ConfigOf(std::string_view text) {
  uint64_t config = 0;
  for (const std::string_view part : Split(text, ',')) {
    const size_t at = part.find('=');
    if (at == std::string_view::npos) return std::nullopt;
    std::string digits(Trim(part.substr(at + 1)));
    if (digits.empty()) return std::nullopt;
    char* end = nullptr;
    const uint64_t value = std::strtoull(digits.c_str(), &end, 0);
    if (*end != '\0') return std::nullopt;
    const std::string_view key = Trim(part.substr(0, at));
    if (key == "event") {
      config |= value;
    } else if (key == "umask") {
      config |= value << 8;
    } else {
      return std::nullopt;
    }
  }
  return config;
}

int OpenEvent(uint32_t type, uint64_t config, uint32_t cpu) {
  perf_event_attr attributes{};
  attributes.size = sizeof(attributes);
  attributes.type = type;
  attributes.config = config;
  return static_cast<int>(::syscall(SYS_perf_event_open, &attributes, -1, static_cast<int>(cpu), -1,
                                    PERF_FLAG_FD_CLOEXEC));
}

// One CPU per package, or per die, and the package's name.
struct Place {
  uint32_t cpu = 0;
  std::string package;  // "0", "1:die0"
};

// For AMD, the first of each package: some kernels have one per die, which all read the package.
std::vector<Place> PlacesOf(const Machine& machine, const std::string& cpumask) {
  const std::vector<uint32_t> cpus = ParseList(cpumask);
  const bool is_amd = HasAmdProcessors(machine.procfs);
  const auto topology = [&](uint32_t cpu, const char* what) {
    return ReadCount(
        fmt::format("{}/devices/system/cpu/cpu{}/topology/{}", machine.sysfs, cpu, what));
  };
  std::map<uint64_t, size_t> dies;
  std::vector<uint64_t> package_of;
  for (size_t i = 0; i < cpus.size(); ++i) {
    package_of.push_back(
        topology(cpus[i], "physical_package_id").value_or(cpus.size() == 1 ? 0 : i));
    ++dies[package_of.back()];
  }
  std::vector<Place> places;
  std::map<uint64_t, size_t> next_die;
  for (size_t i = 0; i < cpus.size(); ++i) {
    const uint64_t package = package_of[i];
    Place place{cpus[i], fmt::format("{}", package)};
    if (is_amd && next_die[package]++ > 0) continue;
    if (!is_amd && dies[package] > 1) {
      const uint64_t die = topology(cpus[i], "die_id").value_or(next_die[package]);
      ++next_die[package];
      place.package += fmt::format(":die{}", die);
    }
    places.push_back(std::move(place));
  }
  return places;
}

struct Event {
  EventName name;
  uint64_t config = 0;
  double joules_a_count = 0;
};

std::vector<Event> EventsIn(const std::string& folder) {
  std::vector<Event> events;
  for (const EventName& name : kEvents) {
    const std::string path = folder + "/" + name.event;
    const auto text = ReadLine(path);
    const auto config = text ? ConfigOf(*text) : std::nullopt;
    const auto scale_text = ReadLine(path + ".scale");
    const double scale = scale_text ? ParseNumber(*scale_text).value_or(0) : 0;
    const auto unit = ReadLine(path + ".unit");
    if (!config || !(scale > 0) || (unit && *unit != "Joules")) continue;
    events.push_back({name, *config, scale});
  }
  return events;
}

PowerChannel ChannelOf(const Event& event, std::string name, std::string reads) {
  PowerChannel channel = MakeCounter(kSource, std::move(name), std::move(reads));
  channel.meter.unit = event.joules_a_count == 0x1p-32
                           ? std::string("2^-32 J")
                           : fmt::format("{:.4g} J", event.joules_a_count);
  channel.meter.per_count = event.joules_a_count;
  return channel;
}

RefusedSource Refuse(const Search& search, int error, size_t count) {
  const auto paranoid = ReadLine(search.machine.procfs + "/sys/kernel/perf_event_paranoid");
  RefusedSource refused{kSource, "", ""};
  refused.reason = fmt::format(
      "{} of its counters cannot be opened: {}; "
      "kernel.perf_event_paranoid is {}",
      count, ErrorText(error), paranoid.value_or("unknown"));
  constexpr const char* kInAContainer =
      "in a container: --cap-add PERFMON and a seccomp profile that allows perf_event_open";
  if ((error == EACCES || error == EPERM) && ::geteuid() == 0) {
    refused.remedy = fmt::format("this is root, but without all capabilities; {}", kInAContainer);
  } else if (error == EACCES || error == EPERM) {
    refused.remedy = fmt::format(
        "for this program alone: {}; for every user until the next boot: sudo sysctl "
        "kernel.perf_event_paranoid=0; or let a service read it: {}; {}",
        SetcapCommand("cap_perfmon+ep"), MonitorCommand(), kInAContainer);
  } else {
    refused.remedy = "the kernel offers counters that the processor does not have; nothing to do";
  }
  return refused;
}

}  // namespace

Result<FoundSource> FindRaplPerf(const Search& search) {
  FoundSource found;
  const std::string folder = search.machine.sysfs + "/bus/event_source/devices/power";
  const auto type = ReadCount(folder + "/type");
  const std::vector<Event> events = EventsIn(folder + "/events");
  const std::vector<Place> places =
      PlacesOf(search.machine, ReadLine(folder + "/cpumask").value_or("0"));
  if (!type || *type > UINT32_MAX || events.empty() || places.empty()) {
    found.refused.push_back(
        {kSource, fmt::format("no RAPL events below {}", folder),
         "on a physical machine: sudo modprobe rapl; a virtual machine usually has none"});
    return found;
  }
  auto source = std::make_unique<PerfCounters>();
  size_t refused = 0;
  int first_error = 0;
  for (const Event& event : events) {
    const bool is_board = std::string_view(event.name.channel) == "psys";
    for (const Place& place : places) {
      if (is_board && &place != &places.front()) break;
      const std::string reads = fmt::format("power/{}/ on CPU {}", event.name.event, place.cpu);
      if (search.IsDistrusted(kSource, reads)) continue;
      std::string name = event.name.channel;
      if (!is_board) name += ":" + place.package;
      if (search.Holder(name)) continue;
      const int fd = OpenEvent(static_cast<uint32_t>(*type), event.config, place.cpu);
      if (fd < 0) {
        if (refused++ == 0) first_error = errno;
        continue;
      }
      source->Add(ChannelOf(event, std::move(name), reads), fd);
    }
  }
  if (refused > 0) found.refused.push_back(Refuse(search, first_error, refused));
  if (!source->channels().empty()) found.power = std::move(source);
  return found;
}

}  // namespace beryl::sources
