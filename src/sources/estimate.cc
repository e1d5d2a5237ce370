// When nothing can be read: CPU time and a stated power curve. Labelled as an estimate wherever it
// goes.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "sources/cpu_times.h"
#include "sources/search.h"

namespace beryl::sources {
namespace {

constexpr const char* kSource = "estimate";
// Half to one and a half times: what packages of one core count differ by, from laptop to server.
constexpr double kError = 0.5;

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
  // Of the two the one that was given counts.
  if (guess.idle) curve.full = std::max(curve.full, curve.idle);
  curve.idle = std::min(curve.idle, curve.full);
  return curve;
}

// Idle power goes on with the clock, the rest with the time that CPUs were busy. Both are counted
// from the start in whole numbers, so that nothing is lost however long it runs.
class Estimate final : public PowerSource {
 public:
  Estimate(CpuTimes cpu_times, const PowerCurve& curve, const std::vector<uint16_t>& packages)
      : cpu_times_(std::move(cpu_times)), start_(Clock::now()) {
    const std::vector<uint16_t> package_of_cpu = cpu_times_.PackagesOnline();
    const auto cpus = static_cast<double>(package_of_cpu.size());
    channels_.reserve(packages.size());
    for (const uint16_t package : packages) {
      const auto own =
          static_cast<double>(std::count(package_of_cpu.begin(), package_of_cpu.end(), package));
      meters_.push_back({package, curve.idle * own / cpus, (curve.full - curve.idle) / cpus,
                         BusyTicks(package), 0});
      PowerChannel channel;
      channel.name = fmt::format("CPU:{}", package);
      channel.scope = ChannelScope::kPackage;
      channel.kind = ChannelKind::kEnergyCounter;
      channel.meter.source = kSource;
      channel.meter.origin = Origin::kEstimated;
      channel.meter.unit = "uJ";
      channel.meter.per_count = 1e-6;
      channel.meter.error = kError;
      channel.meter.update_period_us = 1e6 * NanosPerJiffy() * 1e-9;  // of what CPUs did
      channel.meter.reads = fmt::format(
          "CPU time: {:.4g} W idle to {:.4g} W with all {} CPUs of the package busy; {}",
          (curve.idle * own / cpus).value, (curve.full * own / cpus).value, own,
          curve.guessed ? "a guess from the number of CPUs (--estimate gives better figures)"
                        : "as given with --estimate");
      channels_.push_back(std::move(channel));
    }
  }

  const std::vector<PowerChannel>& channels() const override { return channels_; }

  void Read(std::span<MeterReading> out) override {
    if (!cpu_times_.Read()) {
      std::fill(out.begin(), out.end(), MeterReading{ReadState::kGone, 0});
      return;
    }
    const Seconds passed{std::chrono::duration<double>(Clock::now() - start_).count()};
    for (size_t i = 0; i < meters_.size(); ++i) {
      Meter& meter = meters_[i];
      // A kernel may take back a tick, a counter must not.
      const uint64_t ticks = std::max(BusyTicks(meter.package), meter.ticks_at_start);
      const Seconds busy{static_cast<double>(ticks - meter.ticks_at_start) * NanosPerJiffy() *
                         1e-9};
      const Joules energy = meter.idle * passed + meter.of_a_cpu * busy;
      meter.count = std::max(meter.count, static_cast<uint64_t>(std::llround(energy.value * 1e6)));
      out[i] = {ReadState::kOk, meter.count};
    }
  }

 private:
  using Clock = std::chrono::steady_clock;
  struct Meter {
    uint16_t package;
    Watts idle;
    Watts of_a_cpu;  // above idle, of a CPU that is busy
    uint64_t ticks_at_start;
    uint64_t count;
  };

  uint64_t BusyTicks(uint16_t package) const {
    uint64_t ticks = 0;
    for (const CpuJiffies& cpu : cpu_times_.cpus()) {
      if (cpu.package == package) ticks += BusyJiffies(cpu);
    }
    return ticks;
  }

  CpuTimes cpu_times_;
  Clock::time_point start_;
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
  found.power = std::make_unique<Estimate>(std::move(cpu_times), curve, without_meter);
  return found;
}

}  // namespace beryl::sources
