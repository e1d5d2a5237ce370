// How busy the machine is: cpu_util and mem_usg, in percent.
#include "sources/machine_features.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include "sources/proc_stat.h"
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
  explicit MachineFeatures(const std::string& procfs)
      : stat_(procfs, 0), meminfo_(::open((procfs + "/meminfo").c_str(), O_RDONLY | O_CLOEXEC)) {
    columns_.push_back({"cpu_util", "", {}});
    columns_.push_back({"mem_usg", "", {}});
    if (stat_.Read()) before_ = stat_.all();
  }
  ~MachineFeatures() override {
    if (meminfo_ >= 0) ::close(meminfo_);
  }
  MachineFeatures(const MachineFeatures&) = delete;
  MachineFeatures& operator=(const MachineFeatures&) = delete;

  const std::vector<FeatureColumn>& columns() const override { return columns_; }

  void Read(std::span<const int32_t> /*watched*/, std::span<double> out) override {
    out[0] = CpuUtilisation();
    out[1] = MemoryUsage();
  }

 private:
  // Over the time since the last call. Between two ticks nothing can be told, so the last one
  // stands.
  double CpuUtilisation() {
    if (!stat_.Read()) return kNotKnown;
    const CpuTicks now = stat_.all();
    // Idle ticks may go back a little; then the next reading tells.
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
    const ssize_t got = ::pread(meminfo_, text.data(), text.size(), 0);
    return got > 0 ? MemoryUsagePercent({text.data(), static_cast<size_t>(got)}) : kNotKnown;
  }

  ProcStat stat_;
  int meminfo_;
  CpuTicks before_;
  double last_ = kNotKnown;
  std::vector<FeatureColumn> columns_;
};

}  // namespace

double MemoryUsagePercent(std::string_view meminfo) {
  const double total = Field(meminfo, "MemTotal:");
  const double available = Field(meminfo, "MemAvailable:");
  return total > 0 && available <= total ? 100 * (total - available) / total : kNotKnown;
}

Result<FoundSource> FindMachineFeatures(const Search& search) {
  FoundSource found;
  found.features.push_back(std::make_unique<MachineFeatures>(search.machine.procfs));
  return found;
}

}  // namespace beryl::sources
