// Sensors with kernel drivers: AMD GPUs, AMD's socket energy, power meters of the board's firmware,
// and rails measured on the board.
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "sources/count_file.h"
#include "sources/machine_files.h"
#include "sources/search.h"

namespace beryl::sources {
namespace {

constexpr const char* kSource = "hwmon";
constexpr double kNotKnown = std::numeric_limits<double>::quiet_NaN();
constexpr uint64_t kLongestAverageMs = 3'600'000;

// A chip's file with power or energy.
struct Sensor {
  std::string folder;
  std::string chip;   // content of its `name` file
  std::string file;   // power1_average
  std::string label;  // VDD_IN; empty: none
  bool is_energy = false;
};

// Counters first, then averages, then momentary values: the first for each thing is used.
std::vector<Sensor> SensorsOf(const std::string& folder, const std::string& chip) {
  std::vector<Sensor> sensors;
  for (const char* ending : {"_input", "_average"}) {
    for (const std::string& file : NamesIn(folder)) {
      if (!file.ends_with(ending)) continue;
      const bool is_energy = file.starts_with("energy");
      const bool is_power = file.starts_with("power");
      if (!is_energy && !is_power) continue;
      const std::string stem = file.substr(0, file.find('_'));
      sensors.push_back({folder, chip, file,
                         ReadLine(fmt::format("{}/{}_label", folder, stem)).value_or(""),
                         is_energy});
    }
  }
  std::stable_sort(sensors.begin(), sensors.end(), [](const Sensor& a, const Sensor& b) {
    const auto rank = [](const Sensor& sensor) {
      return sensor.is_energy ? 0 : sensor.file.ends_with("_average") ? 1 : 2;
    };
    return rank(a) < rank(b);
  });
  return sensors;
}

bool IsTotalRail(std::string_view label) {
  return label == "VDD_IN" || label == "POM_5V_IN" || label == "SYS_VIN" || label == "TOTAL";
}

// The channel of a sensor; nothing if it is not used.
std::optional<std::string> ChannelName(const Sensor& sensor, size_t gpu) {
  if (sensor.chip == "amdgpu") return fmt::format("GPU:{}", gpu);
  if (sensor.chip == "amd_energy") {
    constexpr std::string_view kSocket = "Esocket";
    if (!sensor.label.starts_with(kSocket)) return std::nullopt;  // single cores
    const auto socket = ParseCount(std::string_view(sensor.label).substr(kSocket.size()));
    return socket ? std::optional(fmt::format("CPU:{}", *socket)) : std::nullopt;
  }
  if (sensor.chip == "power_meter") return "wall";
  if (IsTotalRail(sensor.label)) return "psys";
  return fmt::format("{}:{}", Printable(sensor.chip),
                     sensor.label.empty() ? sensor.file.substr(0, sensor.file.find('_'))
                                          : Printable(sensor.label));
}

PowerChannel ChannelOf(const Sensor& sensor, std::string name, std::string reads) {
  PowerChannel channel;
  channel.name = std::move(name);
  channel.scope = ScopeOfName(channel.name);
  channel.kind = sensor.is_energy ? ChannelKind::kEnergyCounter : ChannelKind::kPowerGauge;
  channel.meter.source = kSource;
  channel.meter.reads = std::move(reads);
  channel.meter.unit = sensor.is_energy ? "uJ" : "uW";
  channel.meter.per_count = 1e-6;
  const std::string stem = sensor.file.substr(0, sensor.file.find('_'));
  if (const auto interval_ms =
          ReadCount(fmt::format("{}/{}_average_interval", sensor.folder, stem));
      interval_ms && *interval_ms <= kLongestAverageMs && sensor.file.ends_with("_average")) {
    channel.meter.update_period_us = static_cast<double>(*interval_ms) * 1e3;
    channel.meter.lag = Seconds{static_cast<double>(*interval_ms) * 1e-3 / 2};
  }
  return channel;
}

// Files, and for counters of GPUs also their power.
class Sensors final : public CountFiles, public SecondOpinion {
 public:
  void AddSensor(PowerChannel channel, CountFile file, std::optional<CountFile> power) {
    Add(std::move(channel), std::move(file));
    powers_.push_back(std::move(power));
  }
  double OtherWatts(size_t channel) override {
    if (!powers_[channel]) return kNotKnown;
    const MeterReading reading = powers_[channel]->Read();
    return reading.state == ReadState::kOk ? static_cast<double>(reading.count) * 1e-6 : kNotKnown;
  }
  void KeepOnly(std::span<const size_t> places) override {
    CountFiles::KeepOnly(places);
    powers_.clear();  // for a first look only
    powers_.resize(places.size());
  }

 private:
  std::vector<std::optional<CountFile>> powers_;
};

std::optional<CountFile> PowerBeside(const Sensor& counter, const std::vector<Sensor>& all) {
  if (!counter.is_energy || counter.chip != "amdgpu") return std::nullopt;
  for (const Sensor& sensor : all) {
    if (!sensor.is_energy) return CountFile(sensor.folder + "/" + sensor.file, std::nullopt);
  }
  return std::nullopt;
}

// Skips numbers that NVIDIA's GPUs have.
size_t FirstFreeGpu(const Search& search) {
  size_t gpu = 0;
  while (search.Holder(fmt::format("GPU:{}", gpu))) ++gpu;
  return gpu;
}

// What already reads the same. Meters named by the user are at the plug, whatever their names.
const PowerChannel* HolderOf(const Search& search, const Sensors& source, const std::string& name) {
  if (name == "wall") {
    for (const PowerChannel& channel : search.taken) {
      if (IsAskedFor(channel.meter.source) && channel.scope == ChannelScope::kWall) return &channel;
    }
  }
  for (const PowerChannel& channel : source.channels()) {
    if (channel.name == name) return &channel;
  }
  return search.Holder(name);
}

}  // namespace

Result<FoundSource> FindHwmon(const Search& search) {
  FoundSource found;
  const std::string chips = search.machine.sysfs + "/class/hwmon";
  auto source = std::make_unique<Sensors>();
  size_t gpu = FirstFreeGpu(search);
  size_t unreadable = 0;
  std::string first_unreadable;
  std::string trouble;
  int error = 0;
  for (const std::string& entry : NamesIn(chips)) {
    const std::string folder = fmt::format("{}/{}", chips, entry);
    const std::string chip = ReadLine(folder + "/name").value_or("");
    // Batteries have a source of their own.
    if (chip.empty() || IsFolder(search.machine.sysfs + "/class/power_supply/" + chip)) continue;
    const std::vector<Sensor> sensors = SensorsOf(folder, chip);
    bool is_gpu = false;
    for (const Sensor& sensor : sensors) {
      auto name = ChannelName(sensor, gpu);
      if (!name) continue;
      const std::string reads =
          fmt::format("{}/{} of {}{}{}", entry, sensor.file, Printable(chip),
                      sensor.label.empty() ? "" : ", ", Printable(sensor.label));
      if (search.IsDistrusted(kSource, reads)) continue;
      if (const PowerChannel* holder = HolderOf(search, *source, *name)) {
        found.duplicates.push_back(
            {kSource, reads, *name,
             fmt::format("{} {}", holder->meter.source, holder->meter.reads)});
        continue;
      }
      CountFile file(folder + "/" + sensor.file, std::nullopt);
      if (file.ReadPatiently().state != ReadState::kOk) {
        if (unreadable++ == 0) {
          first_unreadable = file.path();
          trouble = file.Trouble();
          error = file.error();
        }
        continue;
      }
      is_gpu = is_gpu || chip == "amdgpu";
      source->AddSensor(ChannelOf(sensor, *std::move(name), reads), std::move(file),
                        PowerBeside(sensor, sensors));
    }
    if (is_gpu) gpu = std::max(gpu + 1, FirstFreeGpu(search));
  }
  if (unreadable > 0) {
    const bool rights = error == EACCES || error == EPERM;
    found.refused.push_back(
        {kSource,
         fmt::format("{} sensor(s) cannot be read; {}: {}", unreadable, first_unreadable, trouble),
         rights ? fmt::format("sudo chmod a+r {}; or let a service read it: {}", first_unreadable,
                              MonitorCommand())
                : std::string("the driver refuses; look at the kernel's log: sudo dmesg")});
  }
  if (!source->empty()) found.power = std::move(source);
  return found;
}

}  // namespace beryl::sources
