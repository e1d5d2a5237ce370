#include "sources/processor_features.h"

#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sources/clock_ns.h"
#include "sources/count_file.h"
#include "sources/cpu_times.h"
#include "sources/machine_files.h"

namespace beryl::sources {
namespace {

constexpr double kNotKnown = std::numeric_limits<double>::quiet_NaN();
// If there are more processors, evenly spaced ones are read.
constexpr size_t kMostFiles = 16;
// Between Linux 4.15 and 5.17, a clock is read in 10 ms of sleep, for which the meters would wait.
constexpr int64_t kSleepNs = 5'000'000;
constexpr std::array<std::string_view, 4> kProcessorChips = {"coretemp", "k10temp", "zenpower",
                                                             "cpu_thermal"};

struct Path {
  std::string path;
  std::optional<uint64_t> cpu = {};
};

// A policy has the number of its first CPU.
std::vector<Path> ClockFiles(const Machine& machine) {
  constexpr std::string_view kPolicy = "policy";
  const std::string folder = machine.sysfs + "/devices/system/cpu/cpufreq";
  std::vector<Path> files;
  for (const std::string& name : NamesIn(folder)) {
    if (!name.starts_with(kPolicy)) continue;
    const auto cpu = ParseCount(std::string_view(name).substr(kPolicy.size()));
    if (cpu) files.push_back({fmt::format("{}/{}/scaling_cur_freq", folder, name), cpu});
  }
  return files;
}

// The first sensor of each chip, which is that of the whole package.
std::vector<Path> TemperatureFiles(const Machine& machine) {
  const std::string chips = machine.sysfs + "/class/hwmon";
  std::vector<Path> files;
  for (const std::string& entry : NamesIn(chips)) {
    const std::string folder = fmt::format("{}/{}", chips, entry);
    const std::string chip = ReadLine(folder + "/name").value_or("");
    if (std::count(kProcessorChips.begin(), kProcessorChips.end(), chip) == 0) continue;
    const std::vector<std::string> names = NamesIn(folder);
    const auto first = std::find_if(names.begin(), names.end(), [](const std::string& name) {
      return name.starts_with("temp") && name.ends_with("_input");
    });
    if (first != names.end()) files.push_back({fmt::format("{}/{}", folder, *first)});
  }
  return files;
}

int64_t Sleeps() {
  rusage use{};
  ::getrusage(RUSAGE_THREAD, &use);
  return use.ru_nvcsw;
}

class ProcessorFeatures final : public FeatureSource {
 public:
  ProcessorFeatures(const Machine& machine, Nanos every) : every_(every), cpus_(machine) {
    Add("c_clk", ClockFiles(machine));
    Add("c_temp", TemperatureFiles(machine));
    Weigh(ClockNs(CLOCK_MONOTONIC));
    for (Sensor& sensor : sensors_) sensor.weight = 0;  // it is since boot
    // Not all at once.
    const auto count = static_cast<int64_t>(sensors_.size());
    for (int64_t i = 0; i < count; ++i) {
      sensors_[static_cast<size_t>(i)].read_ns -= i * every_.value / count;
    }
  }

  const std::vector<FeatureColumn>& columns() const override { return columns_; }

  // The mean clock, and the hottest package.
  void Read(std::span<const int32_t> /*watched*/, std::span<double> out) override {
    const int64_t now_ns = ClockNs(CLOCK_MONOTONIC);
    if (now_ns - weighed_ns_ >= every_.value) Weigh(now_ns);
    for (Sensor& sensor : sensors_) {
      if (now_ns - sensor.read_ns >= every_.value) Look(sensor, now_ns);
    }
    for (size_t column = 0; column < columns_.size(); ++column) {
      out[column] = columns_[column].name == "c_clk" ? MeanOf(column) : MostOf(column);
    }
  }

 private:
  struct Sensor {
    CountFile file;
    size_t column;
    std::optional<uint64_t> cpu;
    int64_t read_ns = 0;
    double value = kNotKnown;
    uint64_t busy = 0;  // jiffies, of its CPU
    double weight = 0;  // how much of that was since the last time
  };

  // The clock of a CPU counts as much as it was busy; if all idled, all count alike.
  double MeanOf(size_t column) const {
    double sum = 0;
    double weights = 0;
    for (const double least : {0.0, 1.0}) {
      for (const Sensor& sensor : sensors_) {
        if (sensor.column != column || std::isnan(sensor.value)) continue;
        const double weight = std::max(least, sensor.weight);
        sum += weight * sensor.value;
        weights += weight;
      }
      if (weights > 0) return sum / weights;
    }
    return kNotKnown;
  }

  double MostOf(size_t column) const {
    double most = kNotKnown;
    for (const Sensor& sensor : sensors_) {
      if (sensor.column == column) most = std::fmax(most, sensor.value);
    }
    return most;
  }

  void Weigh(int64_t now_ns) {
    weighed_ns_ = now_ns;
    if (!cpus_.Read()) return;
    for (Sensor& sensor : sensors_) {
      for (const CpuJiffies& cpu : cpus_.cpus()) {
        if (sensor.cpu != cpu.cpu) continue;
        const uint64_t busy = BusyJiffies(cpu);
        sensor.weight = busy > sensor.busy ? static_cast<double>(busy - sensor.busy) : 0;
        sensor.busy = busy;
      }
    }
  }

  static void Look(Sensor& sensor, int64_t now_ns) {
    const MeterReading reading = sensor.file.Read();
    const bool is_known = reading.state == ReadState::kOk;
    // From thousandths of a MHz, or of a degree.
    sensor.value = is_known ? static_cast<double>(reading.count) * 1e-3 : kNotKnown;
    sensor.read_ns = now_ns;
  }

  void Add(const char* name, const std::vector<Path>& files) {
    const size_t count = std::min(files.size(), kMostFiles);
    const size_t before = sensors_.size();
    for (size_t i = 0; i < count; ++i) {
      const Path& file = files[i * files.size() / count];
      Sensor sensor{CountFile(file.path, std::nullopt), columns_.size(), file.cpu};
      const int64_t slept = Sleeps();
      const int64_t start_ns = ClockNs(CLOCK_MONOTONIC);
      Look(sensor, start_ns);
      if (Sleeps() != slept && ClockNs(CLOCK_MONOTONIC) - start_ns >= kSleepNs) continue;
      if (!std::isnan(sensor.value)) sensors_.push_back(std::move(sensor));
    }
    if (sensors_.size() > before) columns_.push_back({name, "", {}});
  }

  const Nanos every_;
  CpuTimes cpus_;
  int64_t weighed_ns_ = 0;
  std::vector<Sensor> sensors_;
  std::vector<FeatureColumn> columns_;
};

}  // namespace

std::unique_ptr<FeatureSource> MakeProcessorFeatures(const Machine& machine, Nanos every) {
  auto features = std::make_unique<ProcessorFeatures>(machine, every);
  return features->columns().empty() ? nullptr : std::move(features);
}

}  // namespace beryl::sources
