// How busy the machine is: cpu_util and mem_usg, in percent.
#include "sources/machine_features.h"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include "sources/cpu_times.h"
#include "sources/processor_features.h"
#include "sources/search.h"

namespace beryl::sources {
namespace {

constexpr double kNotKnown = std::numeric_limits<double>::quiet_NaN();

// The number after `key`, in whatever unit; NaN: there is none.
double Field(std::string_view text, std::string_view key) {
  const size_t at = text.find(key);
  if (at == std::string_view::npos || (at > 0 && text[at - 1] != '\n')) return kNotKnown;
  std::string_view rest = text.substr(at + key.size());
  while (rest.starts_with(' ')) rest.remove_prefix(1);
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
  return error == std::errc() ? static_cast<double>(value) : kNotKnown;
}

class MachineFeatures final : public FeatureSource {
 public:
  explicit MachineFeatures(const Machine& machine)
      : cpus_(machine), meminfo_((machine.procfs + "/meminfo").c_str()) {
    columns_.push_back({"cpu_util", "", {}});
    columns_.push_back({"mem_usg", "", {}});
  }

  const std::vector<FeatureColumn>& columns() const override { return columns_; }

  void Read(std::span<const int32_t> /*watched*/, std::span<double> out) override {
    out[0] = CpuUtilisation();
    out[1] = MemoryUsage();
  }

 private:
  struct Jiffies {
    uint64_t busy = 0;
    uint64_t idle = 0;
  };
  Jiffies AllCpus() const {
    Jiffies all;
    for (const CpuJiffies& cpu : cpus_.cpus()) {
      all.busy += BusyJiffies(cpu);
      all.idle += IdleJiffies(cpu);
    }
    return all;
  }

  // Over the time since the last call; the first call has no value. Between two ticks the last
  // value stands.
  double CpuUtilisation() {
    if (!cpus_.Read()) return kNotKnown;
    const Jiffies now = AllCpus();
    if (!std::exchange(started_, true)) {
      before_ = now;
      return kNotKnown;
    }
    // Idle ticks may go back a little; then wait for the next reading.
    if (now.busy < before_.busy || now.idle < before_.idle) {
      before_ = now;
      return last_;
    }
    const uint64_t busy = now.busy - before_.busy;
    const uint64_t all = busy + now.idle - before_.idle;
    if (all == 0) return last_;
    before_ = now;
    last_ = 100 * static_cast<double>(busy) / static_cast<double>(all);
    return last_;
  }

  double MemoryUsage() {
    std::array<char, 4096> text;
    return MemoryUsagePercent(meminfo_.Read(text));
  }

  CpuTimes cpus_;
  ProcFile meminfo_;
  bool started_ = false;
  Jiffies before_;
  double last_ = kNotKnown;
  std::vector<FeatureColumn> columns_;
};

}  // namespace

double MemoryUsagePercent(std::string_view meminfo) {
  const double total = Field(meminfo, "MemTotal:");
  const double available = Field(meminfo, "MemAvailable:");
  return total > 0 && available <= total ? 100 * ((total - available) / total) : kNotKnown;
}

Result<FoundSource> FindMachineFeatures(const Search& search) {
  FoundSource found;
  found.features.push_back(std::make_unique<MachineFeatures>(search.machine));
  if (auto processors = MakeProcessorFeatures(search.machine)) {
    found.features.push_back(std::move(processors));
  }
  return found;
}

}  // namespace beryl::sources
