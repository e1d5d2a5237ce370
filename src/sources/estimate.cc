// When nothing can be read: CPU time and a given power curve. Labelled as an estimate everywhere.
#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "sources/busy_counter.h"
#include "sources/clock_ns.h"
#include "sources/cpu_times.h"
#include "sources/machine_files.h"
#include "sources/search.h"

namespace beryl::sources {
namespace {

constexpr const char* kSource = "estimate";
// Half to one and a half times: the variation between packages of one core count, from laptop to
// server.
constexpr double kError = 0.5;
// The CPUs of a virtual machine may be threads of a large server, which draw a quarter of what the
// curve says; or it has a host to itself.
constexpr double kErrorInVm = 0.75;

// A guess from the number of CPUs that lies between laptops and servers.
constexpr Watts kIdle{8};
constexpr Watts kIdleACpu{1.5};
constexpr Watts kFull{25};
constexpr Watts kFullACpu{5};

struct PowerCurve {
  Watts idle;
  Watts full;
  bool guessed = false;
};

PowerCurve CurveOf(const PowerGuess& guess, size_t cpus) {
  const auto count = static_cast<double>(cpus);
  PowerCurve curve{guess.idle.value_or(kIdle + kIdleACpu * count),
                   guess.full.value_or(kFull + kFullACpu * count), !guess.idle || !guess.full};
  // If idle exceeds full, the one that was given wins.
  if (guess.idle) curve.full = std::max(curve.full, curve.idle);
  curve.idle = std::min(curve.idle, curve.full);
  return curve;
}

// Idle power accumulates with the clock, the rest with busy CPU time.
class Estimate final : public PowerSource {
 public:
  Estimate(CpuTimes cpu_times, const PowerCurve& curve, const std::vector<uint16_t>& packages,
           bool is_virtual)
      : cpu_times_(std::move(cpu_times)) {
    const bool of_vm = is_virtual && curve.guessed;
    const std::vector<uint16_t> package_of_cpu = cpu_times_.PackagesOnline();
    const auto cpus = static_cast<double>(package_of_cpu.size());
    channels_.reserve(packages.size());
    for (const uint16_t package : packages) {
      const auto own =
          static_cast<double>(std::count(package_of_cpu.begin(), package_of_cpu.end(), package));
      meters_.push_back(
          {package, BusyCounter({curve.idle * own / cpus, (curve.full - curve.idle) / cpus, own},
                                TickNs())});
      PowerChannel channel;
      channel.name = fmt::format("CPU:{}", package);
      channel.scope = ChannelScope::kPackage;
      channel.kind = ChannelKind::kEnergyCounter;
      channel.meter.source = kSource;
      channel.meter.origin = Origin::kEstimated;
      channel.meter.unit = "uJ";
      channel.meter.per_count = 1e-6;
      channel.meter.error = of_vm ? kErrorInVm : kError;
      channel.meter.update_period_us =
          static_cast<double>(BusyCounter::kTicksAStep * TickNs()) * 1e-3;
      channel.meter.reads = fmt::format(
          "CPU time: {:.4g} W idle to {:.4g} W with all {} CPUs of the package busy; {}",
          (curve.idle * own / cpus).value, (curve.full * own / cpus).value, own,
          !curve.guessed ? "as the user gave it"
          : of_vm        ? "estimated from the number of CPUs as if this virtual machine were a "
                           "whole one (say what it draws for better figures)"
                  : "estimated from the number of CPUs (say what it draws for better figures)");
      channels_.push_back(std::move(channel));
    }
  }

  const std::vector<PowerChannel>& channels() const override { return channels_; }

  void SetTime(int64_t monotonic_ns) override { time_ns_ = monotonic_ns; }

  void Read(std::span<MeterReading> out) override {
    // Energy and time must fit, or power would leave the curve: what read other meters in between
    // may have taken long.
    const int64_t now_ns = std::exchange(time_ns_, std::nullopt).value_or(ClockNs(CLOCK_MONOTONIC));
    if (!cpu_times_.Read()) {
      std::fill(out.begin(), out.end(), MeterReading{ReadState::kGone, 0});
      return;
    }
    for (size_t i = 0; i < meters_.size(); ++i) {
      out[i] = {ReadState::kOk, meters_[i].counter.Read(now_ns, BusyNs(meters_[i].package))};
    }
  }

 private:
  struct Meter {
    uint16_t package;
    BusyCounter counter;
  };

  static int64_t TickNs() { return std::llround(NanosPerJiffy()); }

  int64_t BusyNs(uint16_t package) const {
    int64_t ticks = 0;
    for (const CpuJiffies& cpu : cpu_times_.cpus()) {
      if (cpu.package == package) ticks += static_cast<int64_t>(BusyJiffies(cpu));
    }
    return ticks * TickNs();
  }

  CpuTimes cpu_times_;
  std::optional<int64_t> time_ns_;  // of the next reading, if it was told
  std::vector<Meter> meters_;
  std::vector<PowerChannel> channels_;
};

}  // namespace

Result<FoundSource> FindEstimate(const Search& search) {
  FoundSource found;
  if (search.HasContainer()) return found;
  CpuTimes cpu_times(search.machine);
  if (!cpu_times.Read()) {
    found.refused.push_back({kSource, fmt::format("{}/stat cannot be read", search.machine.procfs),
                             "mount /proc: sudo mount -t proc proc /proc"});
    return found;
  }
  const std::vector<uint16_t> package_of_cpu = cpu_times.PackagesOnline();
  const std::set<uint16_t> all(package_of_cpu.begin(), package_of_cpu.end());
  std::vector<uint16_t> without_meter;
  for (const uint16_t package : all) {
    const std::string name = fmt::format("CPU:{}", package);
    const bool has_meter =
        std::any_of(search.taken.begin(), search.taken.end(), [&](const PowerChannel& channel) {
          return channel.name == name || channel.name.starts_with(name + ":");
        });
    if (!has_meter) without_meter.push_back(package);
  }
  if (without_meter.empty()) return found;
  const PowerCurve curve = CurveOf(search.options.guess, package_of_cpu.size());
  const bool is_virtual = IsVirtual(search.machine);
  if (is_virtual && curve.guessed) {
    found.notes.push_back(
        {NoteKind::kEstimateOfVm, "", {package_of_cpu.size(), curve.idle, curve.full}});
  }
  found.power = std::make_unique<Estimate>(std::move(cpu_times), curve, without_meter, is_virtual);
  return found;
}

}  // namespace beryl::sources
