// NVIDIA GPUs: power by the best reading each has, and how busy they are.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "sources/nvml_library.h"
#include "sources/search.h"

namespace beryl::sources {
namespace {

constexpr const char* kSource = "nvml";
constexpr double kNotKnown = std::numeric_limits<double>::quiet_NaN();
constexpr unsigned int kMostGpus = 256;
constexpr size_t kMostProcesses = 512;

enum class Reading : uint8_t { kEnergy, kInstant, kAverage, kUsage };

struct Gpu {
  nvml::Device device = nullptr;
  unsigned int index = 0;
  std::string described;  // "NVIDIA A100 [00000000:01:00.0]"
  Reading reading = Reading::kEnergy;
  bool has_instant = false;
};

// Milliwatts of a field; `status` says whether there is such a field.
int PowerField(const nvml::Library& library, nvml::Device device, unsigned int field,
               uint64_t& milliwatts) {
  if (!library.field_values) return nvml::kNotSupported;
  nvml::FieldValue asked{};
  asked.field_id = field;
  if (const int status = library.field_values(device, 1, &asked); status != nvml::kSuccess) {
    return status;
  }
  if (asked.status != nvml::kSuccess) return asked.status;
  switch (asked.value_type) {
    case nvml::kDouble:
      if (!(asked.value.as_double >= 0 && asked.value.as_double < 1e9)) return nvml::kNotSupported;
      milliwatts = static_cast<uint64_t>(asked.value.as_double);
      break;
    case nvml::kUnsignedLong:
      milliwatts = asked.value.as_unsigned_long;
      break;
    case nvml::kUnsignedLongLong:
      milliwatts = asked.value.as_unsigned_long_long;
      break;
    case nvml::kUnsignedInt:
    default:
      milliwatts = asked.value.as_unsigned;
  }
  return nvml::kSuccess;
}

int ReadAs(const nvml::Library& library, nvml::Device device, Reading reading, uint64_t& count) {
  switch (reading) {
    case Reading::kEnergy: {
      if (!library.total_energy_mj) return nvml::kNotSupported;
      uint64_t millijoules = 0;
      const int status = library.total_energy_mj(device, &millijoules);
      count = millijoules;
      return status;
    }
    case Reading::kInstant:
      return PowerField(library, device, nvml::kFieldPowerInstant, count);
    case Reading::kAverage:
      return PowerField(library, device, nvml::kFieldPowerAverage, count);
    case Reading::kUsage:
      break;
  }
  if (!library.power_mw) return nvml::kNotSupported;
  unsigned int milliwatts = 0;
  const int status = library.power_mw(device, &milliwatts);
  count = milliwatts;
  return status;
}

ReadState StateOf(int status) {
  switch (status) {
    case nvml::kSuccess:
      return ReadState::kOk;
    case nvml::kUninitialized:
    case nvml::kNotSupported:
    case nvml::kNoPermission:
    case nvml::kNotFound:
    case nvml::kGpuIsLost:
    case nvml::kResetRequired:
      return ReadState::kGone;
    default:
      return ReadState::kRetry;
  }
}

std::string ReadsText(Reading reading, const std::string& described) {
  switch (reading) {
    case Reading::kEnergy:
      return "energy counter of " + described;
    case Reading::kInstant:
      return "instant power of " + described;
    case Reading::kAverage:
      return fmt::format("average power of {} (over the last second: lags behind)", described);
    case Reading::kUsage:
      break;
  }
  return fmt::format("power of {} (on many boards the average of the last second: lags behind)",
                     described);
}

PowerChannel ChannelOf(const Gpu& gpu) {
  PowerChannel channel;
  channel.name = fmt::format("GPU:{}", gpu.index);
  channel.scope = ChannelScope::kGpu;
  const bool is_energy = gpu.reading == Reading::kEnergy;
  channel.kind = is_energy ? ChannelKind::kEnergyCounter : ChannelKind::kPowerGauge;
  channel.meter.source = kSource;
  channel.meter.reads = ReadsText(gpu.reading, gpu.described);
  channel.meter.unit = is_energy ? "mJ" : "mW";
  channel.meter.per_count = 1e-3;
  return channel;
}

class NvmlPower final : public PowerSource, public SecondOpinion {
 public:
  NvmlPower(std::shared_ptr<nvml::Library> library, std::vector<Gpu> gpus)
      : library_(std::move(library)), gpus_(std::move(gpus)) {
    channels_.reserve(gpus_.size());
    for (const Gpu& gpu : gpus_) channels_.push_back(ChannelOf(gpu));
  }

  const std::vector<PowerChannel>& channels() const override { return channels_; }

  void Read(std::span<MeterReading> out) override {
    for (size_t i = 0; i < gpus_.size(); ++i) {
      uint64_t count = 0;
      const int status = ReadAs(*library_, gpus_[i].device, gpus_[i].reading, count);
      out[i] = {StateOf(status), status == nvml::kSuccess ? count : 0};
    }
  }

  double OtherWatts(size_t channel) override {
    const Gpu& gpu = gpus_[channel];
    if (gpu.reading != Reading::kEnergy) return kNotKnown;
    uint64_t milliwatts = 0;
    const Reading other = gpu.has_instant ? Reading::kInstant : Reading::kUsage;
    const int status = ReadAs(*library_, gpu.device, other, milliwatts);
    return status == nvml::kSuccess ? static_cast<double>(milliwatts) * 1e-3 : kNotKnown;
  }

 private:
  std::shared_ptr<nvml::Library> library_;
  std::vector<Gpu> gpus_;
  std::vector<PowerChannel> channels_;
};

constexpr std::array<const char*, 5> kFeatures = {"gpu_util", "gm_usg", "g_clk", "gm_clk",
                                                  "gpu_ours"};

class NvmlFeatures final : public FeatureSource {
 public:
  NvmlFeatures(std::shared_ptr<nvml::Library> library, std::vector<Gpu> gpus)
      : library_(std::move(library)),
        gpus_(std::move(gpus)),
        seen_us_(gpus_.size()),
        processes_(kMostProcesses),
        samples_(kMostProcesses) {
    columns_.reserve(gpus_.size() * kFeatures.size());
    for (const Gpu& gpu : gpus_) {
      for (const char* name : kFeatures) {
        columns_.push_back({name, fmt::format("GPU:{}", gpu.index), {}});
      }
    }
  }

  const std::vector<FeatureColumn>& columns() const override { return columns_; }

  void Read(std::span<const int32_t> watched, std::span<double> out) override {
    for (size_t i = 0; i < gpus_.size(); ++i) {
      double* const row = &out[i * kFeatures.size()];
      const nvml::Device device = gpus_[i].device;
      nvml::Utilization use{};
      const bool has_use =
          library_->utilization && library_->utilization(device, &use) == nvml::kSuccess;
      row[0] = has_use ? use.gpu : kNotKnown;
      row[1] = MemoryUsage(device);
      row[2] = Clock(device, nvml::kClockSm);
      row[3] = Clock(device, nvml::kClockMemory);
      row[4] = OurShare(i, watched);
    }
  }

 private:
  double MemoryUsage(nvml::Device device) const {
    nvml::Memory memory{};
    if (!library_->memory || library_->memory(device, &memory) != nvml::kSuccess ||
        memory.total == 0) {
      return kNotKnown;
    }
    return 100 * static_cast<double>(memory.used) / static_cast<double>(memory.total);
  }

  double Clock(nvml::Device device, unsigned int kind) const {
    unsigned int mhz = 0;
    if (!library_->clock_mhz || library_->clock_mhz(device, kind, &mhz) != nvml::kSuccess) {
      return kNotKnown;
    }
    return mhz;
  }

  static bool IsWatched(std::span<const int32_t> watched, unsigned int pid) {
    return std::find(watched.begin(), watched.end(), static_cast<int32_t>(pid)) != watched.end();
  }

  // By who has a context on the GPU; if ours are not alone there, by how much each kept it busy
  // since the last time.
  double OurShare(size_t gpu, std::span<const int32_t> watched) {
    if (!library_->compute_processes) return kNotKnown;
    auto count = static_cast<unsigned int>(processes_.size());
    if (library_->compute_processes(gpus_[gpu].device, &count, processes_.data()) !=
            nvml::kSuccess ||
        count > processes_.size()) {
      return kNotKnown;
    }
    const std::span<const nvml::Process> running(processes_.data(), count);
    const auto ours = std::count_if(running.begin(), running.end(), [&](const auto& process) {
      return IsWatched(watched, process.pid);
    });
    if (ours == 0) return 0;
    if (static_cast<size_t>(ours) == running.size()) return 1;
    return OurBusyShare(gpu, watched);
  }

  double OurBusyShare(size_t gpu, std::span<const int32_t> watched) {
    if (!library_->process_utilization) return kNotKnown;
    auto count = static_cast<unsigned int>(samples_.size());
    if (library_->process_utilization(gpus_[gpu].device, samples_.data(), &count, seen_us_[gpu]) !=
            nvml::kSuccess ||
        count > samples_.size()) {
      return kNotKnown;
    }
    double all = 0;
    double ours = 0;
    for (const auto& sample : std::span(samples_.data(), count)) {
      seen_us_[gpu] = std::max(seen_us_[gpu], sample.time_us);
      all += sample.sm_util;
      if (IsWatched(watched, sample.pid)) ours += sample.sm_util;
    }
    return all > 0 ? ours / all : kNotKnown;
  }

  std::shared_ptr<nvml::Library> library_;
  std::vector<Gpu> gpus_;
  std::vector<uint64_t> seen_us_;
  std::vector<nvml::Process> processes_;
  std::vector<nvml::ProcessUtilization> samples_;
  std::vector<FeatureColumn> columns_;
};

std::string Describe(const nvml::Library& library, nvml::Device device, unsigned int index) {
  std::array<char, 96> name{};
  if (!library.name || library.name(device, name.data(), name.size() - 1) != nvml::kSuccess) {
    name[0] = '\0';
  }
  nvml::Pci pci{};
  const bool has_bus = library.pci && library.pci(device, &pci) == nvml::kSuccess;
  pci.bus_id[sizeof(pci.bus_id) - 1] = '\0';
  std::string text = name[0] ? Printable(name.data()) : fmt::format("GPU {}", index);
  if (has_bus && pci.bus_id[0]) text += fmt::format(" [{}]", Printable(pci.bus_id));
  return text;
}

// The best reading that answers and is believed; false: none does, and `status` says why.
bool ChooseReading(const nvml::Library& library, const Search& search, Gpu& gpu, int& status) {
  uint64_t count = 0;
  gpu.has_instant = ReadAs(library, gpu.device, Reading::kInstant, count) == nvml::kSuccess;
  for (const Reading reading :
       {Reading::kEnergy, Reading::kInstant, Reading::kAverage, Reading::kUsage}) {
    if (search.IsDistrusted(kSource, ReadsText(reading, gpu.described))) continue;
    status = ReadAs(library, gpu.device, reading, count);
    if (status != nvml::kSuccess) continue;
    gpu.reading = reading;
    return true;
  }
  return false;
}

RefusedSource NoLibrary(const std::string& said) {
  return {
      kSource, said,
      "no NVIDIA driver is installed, or it is not to be seen from here. If the machine has such "
      "a GPU: install its driver, check with nvidia-smi; in a container: docker run --gpus all "
      "(NVIDIA container toolkit)"};
}

}  // namespace

std::string GpuBusId(const PowerChannel& channel) {
  const std::string& reads = channel.meter.reads;
  const size_t open = reads.rfind('[');
  const size_t close = open == std::string::npos ? open : reads.find(']', open);
  if (close == std::string::npos || channel.scope != ChannelScope::kGpu) return "";
  return reads.substr(open + 1, close - open - 1);
}

Result<FoundSource> FindNvml(const Search& search) {
  FoundSource found;
  auto loaded = nvml::Library::Load(search.machine.nvml);
  if (!loaded) {
    found.refused.push_back(NoLibrary(loaded.error().message));
    return found;
  }
  const std::shared_ptr<nvml::Library> library = *loaded;
  unsigned int count = 0;
  if (const int status = library->device_count(&count); status != nvml::kSuccess) {
    found.refused.push_back(NoLibrary("the GPUs cannot be counted: " + library->ErrorText(status)));
    return found;
  }
  std::vector<Gpu> metered;
  std::vector<Gpu> all;
  for (unsigned int index = 0; index < std::min(count, kMostGpus); ++index) {
    Gpu gpu;
    gpu.index = index;
    int status = library->device_by_index(index, &gpu.device);
    if (status == nvml::kSuccess) {
      gpu.described = Describe(*library, gpu.device, index);
      all.push_back(gpu);
      if (ChooseReading(*library, search, gpu, status)) {
        metered.push_back(gpu);
        continue;
      }
    }
    found.refused.push_back(
        {kSource,
         fmt::format("GPU {}{}{}: {}", index, gpu.described.empty() ? "" : ", ", gpu.described,
                     library->ErrorText(status)),
         status == nvml::kNoPermission
             ? "run as a user that may use the GPU (sudo usermod -aG video,render \"$USER\")"
             : "this GPU tells neither energy nor power; an external meter (--meter) does"});
  }
  if (count == 0) {
    found.refused.push_back({kSource, "the driver is there, but it has no GPU",
                             "check with nvidia-smi; in a container: docker run --gpus all"});
  }
  if (!all.empty()) {
    found.features.push_back(std::make_unique<NvmlFeatures>(library, std::move(all)));
  }
  if (!metered.empty()) {
    found.power = std::make_unique<NvmlPower>(library, std::move(metered));
  }
  return found;
}

}  // namespace beryl::sources
