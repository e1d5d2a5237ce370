#include "sources/nvml_features.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "sources/clock_ns.h"

namespace beryl::sources {
namespace {

constexpr double kNotKnown = std::numeric_limits<double>::quiet_NaN();
constexpr size_t kMostProcesses = 512;
// A temperature changes slowly.
constexpr int64_t kTemperatureEveryNs = 1'000'000'000;

enum class Feature : uint8_t {
  kUtilization,
  kMemoryUsage,
  kClock,
  kMemoryClock,
  kTemperature,
  kOurs
};

struct FeatureName {
  Feature feature;
  const char* name;
};
constexpr std::array<FeatureName, 6> kFeatures = {{{Feature::kUtilization, "gpu_util"},
                                                   {Feature::kMemoryUsage, "gm_usg"},
                                                   {Feature::kClock, "g_clk"},
                                                   {Feature::kMemoryClock, "gm_clk"},
                                                   {Feature::kTemperature, "g_temp"},
                                                   {Feature::kOurs, "gpu_ours"}}};

class NvmlFeatures final : public FeatureSource {
 public:
  NvmlFeatures(std::shared_ptr<nvml::Library> library, const std::vector<NvmlGpu>& gpus,
               const std::string& procfs)
      : library_(std::move(library)),
        path_(procfs + "/"),
        path_of_pid_(path_.size()),
        listed_(kMostProcesses * nvml::kProcessSizeLargest / sizeof(uint64_t)),
        samples_(kMostProcesses) {
    path_.resize(path_.size() + 16);
    pids_.reserve(2 * kMostProcesses);
    for (const NvmlGpu& gpu : gpus) {
      Row row{gpu.device, {}, 0, kNotKnown};
      for (const FeatureName& known : kFeatures) {
        if (!Answers(gpu.device, known.feature)) continue;
        row.features.push_back(known.feature);
        columns_.push_back({known.name, fmt::format("GPU:{}", gpu.index), {}});
      }
      rows_.push_back(std::move(row));
    }
  }

  const std::vector<FeatureColumn>& columns() const override { return columns_; }

  void Read(std::span<const int32_t> watched, std::span<double> out) override {
    size_t column = 0;
    const int64_t now_ns = ClockNs(CLOCK_MONOTONIC);
    const bool is_due = now_ns - temperatures_ns_ >= kTemperatureEveryNs;
    if (is_due) temperatures_ns_ = now_ns;
    for (Row& row : rows_) {
      utilization_ = kNotKnown;
      for (const Feature feature : row.features) {
        if (feature == Feature::kOurs) {
          out[column] = OurShare(row, watched);
        } else if (feature == Feature::kTemperature) {
          if (is_due) row.temperature = Ask(row.device, feature);
          out[column] = row.temperature;
        } else {
          out[column] = Ask(row.device, feature);
        }
        if (feature == Feature::kUtilization) utilization_ = out[column];
        ++column;
      }
    }
  }

 private:
  struct Row {
    nvml::Device device;
    std::vector<Feature> features;
    uint64_t seen_us;    // utilisation of processes is known up to here
    double temperature;  // as of temperatures_ns_
  };

  bool Answers(nvml::Device device, Feature feature) {
    return feature == Feature::kOurs ? ListProcesses(device) : std::isfinite(Ask(device, feature));
  }

  double Ask(nvml::Device device, Feature feature) const {
    switch (feature) {
      case Feature::kUtilization: {
        nvml::Utilization use{};
        const bool told =
            library_->utilization && library_->utilization(device, &use) == nvml::kSuccess;
        return told ? use.gpu : kNotKnown;
      }
      case Feature::kMemoryUsage: {
        nvml::Memory memory{};
        const bool told = library_->memory && library_->memory(device, &memory) == nvml::kSuccess;
        if (!told || memory.total == 0) return kNotKnown;
        return 100 * static_cast<double>(memory.used) / static_cast<double>(memory.total);
      }
      case Feature::kClock:
        return Clock(device, nvml::kClockSm);
      case Feature::kMemoryClock:
        return Clock(device, nvml::kClockMemory);
      case Feature::kTemperature: {
        unsigned int degrees = 0;
        const bool told =
            library_->temperature &&
            library_->temperature(device, nvml::kSensorGpu, &degrees) == nvml::kSuccess;
        return told ? degrees : kNotKnown;
      }
      case Feature::kOurs:
        break;
    }
    return kNotKnown;
  }

  double Clock(nvml::Device device, unsigned int kind) const {
    unsigned int mhz = 0;
    const bool told =
        library_->clock_mhz && library_->clock_mhz(device, kind, &mhz) == nvml::kSuccess;
    return told ? mhz : kNotKnown;
  }

  // Adds the processes with a context of that kind to pids_; false if that is not available.
  bool AddProcesses(nvml::Device device, const nvml::ProcessList& list) {
    if (!list.call) return false;
    unsigned int count = kMostProcesses;
    if (list.call(device, &count, listed_.data()) != nvml::kSuccess || count > kMostProcesses) {
      return false;
    }
    for (size_t i = 0; i < count; ++i) {
      unsigned int pid = 0;
      std::memcpy(&pid, reinterpret_cast<const char*>(listed_.data()) + i * list.size, sizeof(pid));
      if (std::find(pids_.begin(), pids_.end(), pid) == pids_.end()) pids_.push_back(pid);
    }
    return true;
  }

  // A compute-only GPU need not report who uses it for graphics.
  bool ListProcesses(nvml::Device device) {
    pids_.clear();
    if (!AddProcesses(device, library_->compute_processes)) return false;
    AddProcesses(device, library_->graphics_processes);
    return true;
  }

  bool IsHere(unsigned int pid) {
    const auto end = fmt::format_to_n(&path_[path_of_pid_], 15, "{}", pid).out;
    *end = '\0';
    return ::access(path_.c_str(), F_OK) == 0;
  }

  static bool IsWatched(std::span<const int32_t> watched, unsigned int pid) {
    return std::find(watched.begin(), watched.end(), static_cast<int32_t>(pid)) != watched.end();
  }

  // By the processes with a context on the GPU; if ours are not alone, by how busy each kept it
  // since the last time. In a container the list may be empty, or have the host's process ids: then
  // nothing is known.
  double OurShare(Row& row, std::span<const int32_t> watched) {
    if (!ListProcesses(row.device)) return kNotKnown;
    if (pids_.empty()) return utilization_ == 0 ? 0 : kNotKnown;
    const auto ours = static_cast<size_t>(std::count_if(
        pids_.begin(), pids_.end(), [&](unsigned int pid) { return IsWatched(watched, pid); }));
    if (ours == pids_.size()) return 1;
    if (ours > 0) return OurBusyShare(row, watched);
    const bool any_here =
        std::any_of(pids_.begin(), pids_.end(), [&](unsigned int pid) { return IsHere(pid); });
    return any_here ? 0 : kNotKnown;
  }

  double OurBusyShare(Row& row, std::span<const int32_t> watched) {
    if (!library_->process_utilization) return kNotKnown;
    auto count = static_cast<unsigned int>(samples_.size());
    if (library_->process_utilization(row.device, samples_.data(), &count, row.seen_us) !=
            nvml::kSuccess ||
        count > samples_.size()) {
      return kNotKnown;
    }
    double all = 0;
    double ours = 0;
    for (const auto& sample : std::span(samples_.data(), count)) {
      row.seen_us = std::max(row.seen_us, sample.time_us);
      all += sample.sm_util;
      if (IsWatched(watched, sample.pid)) ours += sample.sm_util;
    }
    return all > 0 ? ours / all : kNotKnown;
  }

  std::shared_ptr<nvml::Library> library_;
  std::string path_;  // of a process, with room for its number
  size_t path_of_pid_;
  std::vector<uint64_t> listed_;  // uint64_t for alignment
  std::vector<unsigned int> pids_;
  std::vector<nvml::ProcessUtilization> samples_;
  double utilization_ = kNotKnown;  // of the current GPU
  int64_t temperatures_ns_ = 0;     // when they were asked for
  std::vector<Row> rows_;
  std::vector<FeatureColumn> columns_;
};

}  // namespace

std::unique_ptr<FeatureSource> MakeNvmlFeatures(std::shared_ptr<nvml::Library> library,
                                                const std::vector<NvmlGpu>& gpus,
                                                const std::string& procfs) {
  auto features = std::make_unique<NvmlFeatures>(std::move(library), gpus, procfs);
  return features->columns().empty() ? nullptr : std::move(features);
}

}  // namespace beryl::sources
