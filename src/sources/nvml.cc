// NVIDIA GPUs: power from the best reading of each.
#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "sources/nvml_features.h"
#include "sources/nvml_library.h"
#include "sources/search.h"

namespace beryl::sources {
namespace {

constexpr const char* kSource = "nvml";
constexpr double kNotKnown = std::numeric_limits<double>::quiet_NaN();
constexpr unsigned int kMostGpus = 256;
// An average over the last second describes its middle.
constexpr Seconds kLagOfAverage{0.5};

enum class Reading : uint8_t { kEnergy, kInstant, kAverage, kUsage };

// The period that nvmlDeviceGetPowerUsage covers, which depends on the board.
enum class UsagePeriod : uint8_t { kMoment, kSecond, kNotTold };

struct Gpu {
  nvml::Device device = nullptr;
  unsigned int index = 0;
  std::string described;  // "NVIDIA A100 [00000000:01:00.0]"
  UsagePeriod usage = UsagePeriod::kNotTold;
  Reading reading = Reading::kEnergy;
  bool has_instant = false;
};

// Milliwatts of a field; `status` says whether it exists.
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

// Only transient errors are worth a retry; all others, unknown ones included, mean that it cannot
// be read now. Both are tried again later.
ReadState StateOf(int status) {
  switch (status) {
    case nvml::kSuccess:
      return ReadState::kOk;
    case nvml::kTimeout:
    case nvml::kInUse:
    case nvml::kMemory:
    case nvml::kNoData:
    case nvml::kInsufficientResources:
    case nvml::kNotReady:
      return ReadState::kRetry;
    default:
      return ReadState::kGone;
  }
}

bool IsAverage(const Gpu& gpu, Reading reading) {
  return reading == Reading::kAverage ||
         (reading == Reading::kUsage && gpu.usage == UsagePeriod::kSecond);
}

std::string ReadsText(const Gpu& gpu, Reading reading) {
  switch (reading) {
    case Reading::kEnergy:
      return "energy counter of " + gpu.described;
    case Reading::kInstant:
      return "instant power of " + gpu.described;
    case Reading::kAverage:
    case Reading::kUsage:
      break;
  }
  if (IsAverage(gpu, reading)) {
    return fmt::format("{} of {} (average of the last second; read back by half a second)",
                       reading == Reading::kAverage ? "average power" : "power", gpu.described);
  }
  if (gpu.usage == UsagePeriod::kMoment) return "power of " + gpu.described;
  return fmt::format(
      "power of {} (on many boards the average of the last second: then it lags half a second "
      "behind)",
      gpu.described);
}

PowerChannel ChannelOf(const Gpu& gpu) {
  PowerChannel channel;
  channel.name = fmt::format("GPU:{}", gpu.index);
  channel.scope = ChannelScope::kGpu;
  const bool is_energy = gpu.reading == Reading::kEnergy;
  channel.kind = is_energy ? ChannelKind::kEnergyCounter : ChannelKind::kPowerGauge;
  channel.meter.source = kSource;
  channel.meter.reads = ReadsText(gpu, gpu.reading);
  if (IsAverage(gpu, gpu.reading)) channel.meter.lag = kLagOfAverage;
  channel.meter.unit = is_energy ? "mJ" : "mW";
  channel.meter.per_count = 1e-3;
  return channel;
}

class NvmlPower final : public PowerSource, public SecondOpinion, public Divisible {
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

  void KeepOnly(std::span<const size_t> places) override {
    gpus_ = Picked(std::move(gpus_), places);
    channels_ = Picked(std::move(channels_), places);
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

std::string NameOf(const nvml::Library& library, nvml::Device device) {
  std::array<char, 96> name{};
  if (!library.name || library.name(device, name.data(), name.size() - 1) != nvml::kSuccess) {
    return "";
  }
  return Printable(name.data());
}

// "00000000:01:00.0"; empty if unknown.
std::string BusIdOf(const nvml::Library& library, nvml::Device device) {
  nvml::Pci pci{};
  if (!library.pci || library.pci(device, &pci) != nvml::kSuccess) return "";
  pci.bus_id[sizeof(pci.bus_id) - 1] = '\0';
  pci.bus_id_legacy[sizeof(pci.bus_id_legacy) - 1] = '\0';
  if (library.pci_has_bus_id && pci.bus_id[0]) return Printable(pci.bus_id);
  // The shorter form has four digits of the domain, not eight.
  const std::string_view legacy = pci.bus_id_legacy;
  return legacy.find(':') == 4 ? "0000" + Printable(legacy) : Printable(legacy);
}

// Identifies this GPU: by its number if it has no address.
std::string Describe(const std::string& name, const std::string& bus_id, unsigned int index) {
  const std::string number = fmt::format("GPU {}", index);
  if (!bus_id.empty()) return fmt::format("{} [{}]", name.empty() ? number : name, bus_id);
  return name.empty() ? number : fmt::format("{} ({})", name, number);
}

bool HasWord(std::string_view text, std::string_view word) {
  const auto is_part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  for (size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at == 0 || !is_part(text[at - 1])) && (end == text.size() || !is_part(text[end]))) {
      return true;
    }
  }
  return false;
}

// Ampere and newer report the average of a second, except boards with a GA100.
UsagePeriod UsageSpanOf(const nvml::Library& library, nvml::Device device, std::string_view name) {
  unsigned int architecture = nvml::kArchitectureUnknown;
  if (!library.architecture || library.architecture(device, &architecture) != nvml::kSuccess ||
      architecture == nvml::kArchitectureUnknown) {
    return UsagePeriod::kNotTold;
  }
  if (architecture < nvml::kArchitectureAmpere) return UsagePeriod::kMoment;
  if (architecture > nvml::kArchitectureAmpere) return UsagePeriod::kSecond;
  if (name.empty()) return UsagePeriod::kNotTold;
  const bool is_ga100 = HasWord(name, "A100") || HasWord(name, "A800") || HasWord(name, "A30") ||
                        HasWord(name, "CMP 170HX");
  return is_ga100 ? UsagePeriod::kMoment : UsagePeriod::kSecond;
}

// The best reading that works and is trusted; false if there is none, and `status` says why.
bool ChooseReading(const nvml::Library& library, const Search& search, Gpu& gpu, int& status) {
  uint64_t count = 0;
  gpu.has_instant = ReadAs(library, gpu.device, Reading::kInstant, count) == nvml::kSuccess;
  for (const Reading reading :
       {Reading::kEnergy, Reading::kInstant, Reading::kAverage, Reading::kUsage}) {
    if (search.IsDistrusted(kSource, ReadsText(gpu, reading))) continue;
    status = ReadAs(library, gpu.device, reading, count);
    if (status != nvml::kSuccess) continue;
    gpu.reading = reading;
    return true;
  }
  return false;
}

constexpr const char* kSeenFromAContainer =
    "in a container: docker run --gpus all (NVIDIA container toolkit)";

RefusedSource NotStarted(const nvml::LoadFailure& failure) {
  using Kind = nvml::LoadFailure::Kind;
  std::string remedy;
  if (failure.kind == Kind::kLacksCall) {
    remedy =
        "it is not NVIDIA's management library, or one from before 2012: update the driver, check "
        "with nvidia-smi; BERYL_NVML names the library to load (libnvidia-ml.so.1)";
  } else if (failure.kind == Kind::kNoLibrary || failure.status == nvml::kSuccess) {
    remedy = fmt::format(
        "no NVIDIA driver is installed, or it is not visible from here. If the machine has an "
        "NVIDIA GPU: install its driver, check with nvidia-smi; {}",
        kSeenFromAContainer);
  } else if (failure.status == nvml::kDriverNotLoaded) {
    remedy = fmt::format(
        "the library is there, but its driver is not loaded: sudo modprobe nvidia, "
        "check with nvidia-smi; {}",
        kSeenFromAContainer);
  } else if (failure.status == nvml::kVersionMismatch) {
    remedy = "the driver was updated but the old one is still loaded: restart the machine";
  } else if (failure.status == nvml::kNoPermission) {
    remedy = "run as a user that may use the GPU (sudo usermod -aG video,render \"$USER\")";
  } else {
    remedy = fmt::format("the library is there, but does not work: check with nvidia-smi; {}",
                         kSeenFromAContainer);
  }
  return {kSource, failure.said, std::move(remedy)};
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
  nvml::LoadFailure failure;
  const std::shared_ptr<nvml::Library> library = nvml::Library::Load(search.machine.nvml, failure);
  if (!library) {
    found.refused.push_back(NotStarted(failure));
    return found;
  }
  unsigned int count = 0;
  if (const int status = library->device_count(&count); status != nvml::kSuccess) {
    found.refused.push_back(
        NotStarted({nvml::LoadFailure::Kind::kRefuses,
                    "the GPUs cannot be counted: " + library->ErrorText(status), status}));
    return found;
  }
  std::vector<Gpu> metered;
  std::vector<NvmlGpu> all;
  for (unsigned int index = 0; index < std::min(count, kMostGpus); ++index) {
    Gpu gpu;
    gpu.index = index;
    int status = library->device_by_index(index, &gpu.device);
    if (status == nvml::kSuccess) {
      const std::string name = NameOf(*library, gpu.device);
      gpu.described = Describe(name, BusIdOf(*library, gpu.device), index);
      gpu.usage = UsageSpanOf(*library, gpu.device, name);
      all.push_back({gpu.device, index});
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
             : "this GPU reports neither energy nor power; use an external meter"});
  }
  if (count == 0) {
    found.refused.push_back({kSource, "the driver is loaded, but it finds no GPU",
                             fmt::format("check with nvidia-smi; {}", kSeenFromAContainer)});
  }
  if (auto features = MakeNvmlFeatures(library, all, search.machine.procfs)) {
    found.features.push_back(std::move(features));
  }
  if (!metered.empty()) {
    found.power = std::make_unique<NvmlPower>(library, std::move(metered));
  }
  return found;
}

}  // namespace beryl::sources
