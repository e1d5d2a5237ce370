#include <algorithm>
#include <cmath>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "account/account.h"
#include "account/cpu_use.h"
#include "account/devices.h"
#include "account/known_power.h"
#include "account/measure_parts.h"
#include "account/shares.h"
#include "types/unknown.h"

namespace beryl::account {
namespace {

// A smaller part of a device's energy is rounding.
constexpr double kDust = 1e-12;

class Measurer {
 public:
  Measurer(const PowerTrace& power, const Recording& recording, const MeasureOptions& options)
      : power_(power),
        recording_(recording),
        options_(options),
        span_(SpanOf(power, recording)),
        use_(CountCpuUse(recording.activity)),
        is_anything_watched_(IsAnythingWatched(recording)) {
    if (options.window) KeepToWindow(*options.window);
    for (const CpuUse::Process& process : use_.processes) {
      if (process.owner != TaskOwner::kRecorder) continue;
      is_recorder_seen_ = true;
      recorder_time_ += process.cpu_time;
    }
  }

  Measurement Run() {
    KeepRecording();
    AddChannels();
    for (const size_t channel : plan_.devices) AddDevice(channel);
    NoteWhatIsNotToldApart();
    AddProcesses();
    AddWindows(DeviceViews(), span_, result_);
    AddFeatures(DeviceViews(), recording_.features, span_, result_);
    AddTotal(plan_.missing, result_);
    NoteMissingCpus();
    AddWhole();
    AddOverhead();
    return std::move(result_);
  }

 private:
  struct Device {
    size_t channel;
    std::optional<Shares> shares;
    std::vector<double> by_window;  // energy in each window of the shares
  };

  void KeepToWindow(const TimeWindow& window) {
    span_.from = std::clamp(window.from, span_.from, span_.to);
    span_.to = std::clamp(window.to, span_.from, span_.to);
    for (CpuUse::Process& process : use_.processes) process.cpu_time = {};
    for (size_t i = 0; i < use_.windows(); ++i) {
      const Nanos from = std::max(use_.edges[i], span_.from);
      const Nanos to = std::min(use_.edges[i + 1], span_.to);
      if (to <= from) continue;
      const double part = (to - from).seconds() / (use_.edges[i + 1] - use_.edges[i]).seconds();
      for (size_t at = use_.first_part[i]; at < use_.first_part[i + 1]; ++at) {
        const CpuUse::Part& used = use_.parts[at];
        use_.processes[used.process].cpu_time += Seconds{used.ns * part * 1e-9};
      }
    }
  }

  bool IsInWindow(const RunWindow& window) const {
    return !options_.window || (window.start >= span_.from && window.end <= span_.to);
  }

  void Say(Note note) { result_.notes.push_back(std::move(note)); }

  void KeepRecording() {
    Recording& kept = result_.recording;
    kept.command = recording_.command;
    kept.pids = recording_.pids;
    kept.machine = recording_.machine;
    kept.period = recording_.period;
    kept.start = span_.from;
    kept.end = span_.to;
    kept.exit_code = recording_.exit_code;
    kept.activity.cpu_time = recording_.activity.cpu_time;
    std::copy_if(recording_.windows.begin(), recording_.windows.end(),
                 std::back_inserter(kept.windows),
                 [&](const RunWindow& window) { return IsInWindow(window); });
    kept.cost = recording_.cost;
    kept.notes = recording_.notes;
    result_.notes = recording_.notes;
    result_.duration = span_.duration();
  }

  void AddChannels() {
    KnownChannels all = KnowChannels(power_, span_, recording_.period);
    known_ = std::move(all.known);
    containment_ = std::move(all.containment);
    for (size_t i = 0; i < known_.size(); ++i) {
      result_.channels.push_back(known_[i].energy);
      result_.channels.back().within = containment_.WithinText(i);
      if (options_.window) result_.channels.back().readings = ReadingsIn(power_.channels[i], span_);
    }
    plan_ = std::move(all.plan);
    AppendNotes(result_.notes, plan_.notes);
  }

  void AddDevice(size_t index) {
    const KnownPower& known = known_[index];
    Device device{index,
                  SharesOf(power_.channels[index], IsOnlyOne(power_.channels, containment_, index),
                           use_, recording_.features, options_.split),
                  {}};
    DeviceEnergy energy;
    energy.device = known.energy.name;
    energy.origin = known.energy.meter.origin;
    energy.source = known.energy.meter.source;
    energy.energy = known.energy.energy;
    energy.known_time = known.energy.known_time;
    energy.gaps = known.energy.gaps;
    energy.channels = RelatedTo(power_.channels, containment_, index);
    if (const auto& error = known.energy.meter.error; energy.energy && error) {
      energy.low = *energy.energy * std::max(0.0, 1 - *error);
      energy.high = *energy.energy * (1 + *error);
    }
    if (energy.energy && energy.known_time > Seconds{}) {
      energy.mean_power = *energy.energy / energy.known_time;
    }
    energy.slices_w = Slices(known.curve);
    NoteGaps(energy);
    if (device.shares && energy.energy) SplitDevice(device, *energy.energy, energy);
    if (energy.split.ours) energy.rest = *energy.energy - *energy.split.ours;
    devices_.push_back(std::move(device));
    result_.devices.push_back(std::move(energy));
  }

  std::vector<double> Slices(const PowerCurve& curve) const {
    std::vector<double> watts(options_.slices, kUnknown);
    CurveCursor cursor(curve, span_.from);
    const double step = static_cast<double>((span_.to - span_.from).value) /
                        static_cast<double>(std::max<size_t>(1, options_.slices));
    for (size_t i = 0; i < watts.size(); ++i) {
      const auto to = static_cast<int64_t>(step * static_cast<double>(i + 1));
      const auto slice = cursor.Advance(std::min(span_.to, span_.from + Nanos{to}));
      if (slice.known_ns > 0) watts[i] = (slice.energy / Nanos{slice.known_ns}).value;
    }
    return watts;
  }

  void NoteGaps(const DeviceEnergy& device) {
    if (device.gaps.empty()) return;
    Seconds missing;
    const MeterGap* longest = &device.gaps.front();
    for (const MeterGap& gap : device.gaps) {
      missing += gap.duration;
      if (gap.duration > longest->duration) longest = &gap;
    }
    if (!device.energy) {
      Say({NoteKind::kNothingKnown, device.device, {longest->why}});
      return;
    }
    Say({NoteKind::kPartlyKnown,
         device.device,
         {missing, span_.duration(), missing / span_.duration(), longest->why}});
  }

  void SplitDevice(Device& device, Joules whole, DeviceEnergy& energy) {
    device.by_window.assign(device.shares->ours.size(), 0.0);
    const SplitSum sum =
        Split(known_[device.channel].curve, *device.shares, span_, &device.by_window);
    // A GPU's users are unknown between queries; the CPUs' users can be bounded.
    const bool by_cpu_time = device.shares->column.has_value();
    const Joules unknown = sum.unknown + (by_cpu_time ? Joules{} : sum.outside);
    if (std::abs(unknown.value) > kTooMuchUnknown * std::abs(whole.value)) {
      Say({NoteKind::kOursNotKnown, energy.device, {unknown / whole}});
      device.shares.reset();
      return;
    }
    // Subtracts parts from the energy in turn, so that none becomes negative.
    Joules left = whole;
    auto part = [&](std::optional<Joules> joules) {
      if (!joules || !(whole > Joules{})) return joules;
      if (*joules < kDust * whole) joules = Joules{};
      joules = std::min(*joules, left);
      left -= *joules;
      if (left < kDust * whole) left = Joules{};
      return joules;
    };
    EnergySplit& split = energy.split;
    // For a whole machine, or a process that could not be watched, nothing is known to be ours; nor
    // is the recorder's part if it was not seen.
    if (is_anything_watched_) split.ours = part(IfKnown<Joules>(sum.ours.value));
    if (is_recorder_seen_) split.recorder = part(sum.recorder);
    if (split.ours) {
      const Bounds bounds =
          by_cpu_time ? OursByBothRules(device) : Bounds{*split.ours, *split.ours};
      BoundOurs(bounds, sum, whole, known_[device.channel].energy.meter.error, energy);
    }
    split.idle = part(sum.idle);
    split.others = std::max(Joules{}, left);
    if (by_cpu_time && std::abs(sum.outside.value) > kWorthSaying * std::abs(whole.value)) {
      Say({NoteKind::kUsedUnwatched, energy.device, {sum.outside / whole}});
    }
  }

  struct Bounds {
    Joules low;
    Joules high;
  };

  // No meter tells whose the power of an idle CPU is: by capacity nobody's, by busy time theirs who
  // run beside it.
  Bounds OursByBothRules(const Device& device) const {
    Joules by_capacity;
    Joules by_busy;
    for (size_t window = 0; window < use_.windows(); ++window) {
      const CpuUse::Cell& cell = use_.cells[window * use_.columns() + *device.shares->column];
      if (!(cell.busy > 0)) continue;
      const Joules energy{device.by_window[window]};
      by_capacity += energy * (cell.ours / cell.capacity);
      by_busy += energy * (cell.ours / cell.busy);
    }
    return {by_capacity, by_busy};
  }

  // Energy whose users are not known may be ours. The meter's error applies to every part.
  static void BoundOurs(const Bounds& bounds, const SplitSum& sum, Joules whole,
                        const std::optional<double>& error, DeviceEnergy& energy) {
    const Joules low = std::min(*energy.split.ours, bounds.low);
    const Joules high = std::max(*energy.split.ours, bounds.high);
    const Joules unknown = std::max(Joules{}, sum.unknown + sum.outside);
    if (!error && high - low + unknown <= kWorthSaying * whole) return;
    const double off = error.value_or(0);
    energy.ours_low = low * std::max(0.0, 1 - off);
    energy.ours_high = std::min(high + unknown, whole) * (1 + off);
  }

  // CPU users were recorded, but no meter of the CPUs.
  void NoteMissingCpus() {
    if (recording_.activity.cpus() == 0 || !plan_.missing.empty()) return;
    for (const size_t channel : plan_.devices) {
      const ChannelScope scope = power_.channels[channel].scope;
      if (scope != ChannelScope::kGpu && scope != ChannelScope::kDram) return;
    }
    if (!result_.total.energy) return;
    result_.total.missing.emplace_back("the CPUs, which no meter reads");
  }

  // One note for all devices without known shares.
  void NoteWhatIsNotToldApart() {
    std::vector<std::string> gpus;
    std::vector<std::string> others;
    for (size_t i = 0; i < devices_.size(); ++i) {
      const DeviceEnergy& device = result_.devices[i];
      if (!device.energy || devices_[i].shares) continue;
      const bool gpu = power_.channels[devices_[i].channel].scope == ChannelScope::kGpu;
      (gpu ? gpus : others).push_back(device.device);
    }
    const auto say = [&](NoteKind kind, const std::vector<std::string>& names) {
      if (!names.empty()) Say({kind, fmt::format("{}", fmt::join(names, ", "))});
    };
    say(NoteKind::kGpuUseNotKnown, gpus);
    say(use_.windows() == 0 ? NoteKind::kCpuUseNotRecorded : NoteKind::kCpusFedNotKnown, others);
  }

  void AddProcesses() {
    for (const CpuUse::Process& process : use_.processes) {
      result_.processes.push_back({process.pid, process.name, process.owner, process.threads,
                                   process.cpu_time,
                                   std::vector<double>(devices_.size(), kUnknown)});
    }
    for (size_t i = 0; i < devices_.size(); ++i) AddProcessEnergy(i);
    auto total = [](const ProcessEnergy& process) {
      double sum = 0;
      for (const double joules : process.energy_j) sum += std::isnan(joules) ? 0 : joules;
      return sum;
    };
    std::erase_if(result_.processes, [&](const ProcessEnergy& process) {
      return options_.window && process.cpu_time == Seconds{};
    });
    std::stable_sort(result_.processes.begin(), result_.processes.end(),
                     [&](const ProcessEnergy& a, const ProcessEnergy& b) {
                       const double first = total(a);
                       const double second = total(b);
                       return first != second ? first > second : a.cpu_time > b.cpu_time;
                     });
  }

  void AddProcessEnergy(size_t index) {
    const Device& device = devices_[index];
    if (!device.shares || !device.shares->column || device.by_window.empty()) return;
    const size_t column = *device.shares->column;
    const bool all = column == use_.packages.size();
    for (ProcessEnergy& process : result_.processes) process.energy_j[index] = 0;
    for (size_t window = 0; window < use_.windows(); ++window) {
      const double whole = device.shares->whole_ns[window];
      if (whole <= 0) continue;
      const double per_ns = device.by_window[window] / whole;
      for (size_t i = use_.first_part[window]; i < use_.first_part[window + 1]; ++i) {
        const CpuUse::Part& part = use_.parts[i];
        if (!all && part.package != column) continue;
        result_.processes[part.process].energy_j[index] += part.ns * per_ns;
      }
    }
  }

  std::vector<DeviceView> DeviceViews() const {
    std::vector<DeviceView> views;
    views.reserve(devices_.size());
    for (const Device& device : devices_) {
      const KnownPower& known = known_[device.channel];
      if (!known.energy.energy) continue;  // it is silent, and a note says so
      const bool split = device.shares && is_anything_watched_;
      views.push_back({&known, split ? &*device.shares : nullptr});
    }
    return views;
  }

  // psys does not include plugged-in devices.
  void AddWhole() {
    if (plan_.container.empty()) return;
    // A container that is a device beside others is not the whole of anything.
    if (plan_.devices != plan_.container && IsDevice(plan_.container.front())) return;
    WholeMachine& whole = result_.whole;
    Joules measured;
    Seconds known_time;
    for (const size_t channel : plan_.container) {
      whole.channels.push_back(power_.channels[channel].name);
      measured += *known_[channel].energy.energy;
      known_time = std::max(known_time, known_[channel].energy.known_time);
    }
    whole.energy = measured;
    if (plan_.devices == plan_.container) return;
    const std::string name = containment_.Names(plan_.container);
    const auto is_behind = [&](size_t channel) {
      return std::any_of(plan_.container.begin(), plan_.container.end(), [&](size_t container) {
        return containment_.Contains(container, channel);
      });
    };
    Joules behind;
    bool comparable = plan_.silent.empty();
    if (!comparable) {
      Say({NoteKind::kContainerSilent, containment_.Names(plan_.silent), {name}});
    }
    for (const size_t channel : plan_.devices) {
      if (!is_behind(channel)) continue;
      const ChannelEnergy& energy = known_[channel].energy;
      const double off = std::abs((energy.known_time - known_time).value);
      comparable = comparable && off <= 0.01 * span_.duration().value;
      behind += energy.energy.value_or(Joules{});
    }
    whole.devices = behind;
    if (comparable && behind <= measured) whole.rest = measured - behind;
    if (comparable && behind > measured) {
      Say({NoteKind::kContainerReadsLess, name, {measured, behind}});
    }
  }

  bool IsDevice(size_t channel) const {
    return std::find(plan_.devices.begin(), plan_.devices.end(), channel) != plan_.devices.end();
  }

  // What recording adds to a machine that is on anyway: the recorder's part of the CPUs' total
  // time, whatever rule splits energy. On an idle machine the recorder is nearly all that runs, and
  // would be charged for everything.
  std::optional<Joules> OverheadOf(const Device& device) const {
    if (!device.shares || !device.shares->column || device.by_window.empty()) return std::nullopt;
    double joules = 0;
    for (size_t window = 0; window < use_.windows(); ++window) {
      const CpuUse::Cell& cell = use_.cells[window * use_.columns() + *device.shares->column];
      if (cell.capacity > 0) joules += device.by_window[window] * cell.recorder / cell.capacity;
    }
    return Joules{joules};
  }

  void AddOverhead() {
    const SamplerCost& cost = recording_.cost;
    if (cost.wall_time > Seconds{}) {
      result_.overhead_cpu_pct = 100 * cost.cpu_time.value / cost.wall_time.value;
    } else if (is_recorder_seen_ && span_.duration() > Seconds{}) {
      result_.overhead_cpu_pct = 100 * recorder_time_.value / span_.duration().value;
    }
    if (!is_recorder_seen_) return;
    for (const Device& device : devices_) AddKnown(result_.overhead, OverheadOf(device));
  }

  const PowerTrace& power_;
  const Recording& recording_;
  const MeasureOptions& options_;
  Span span_;
  CpuUse use_;
  bool is_anything_watched_;
  bool is_recorder_seen_ = false;
  Seconds recorder_time_;
  std::vector<KnownPower> known_;
  Containment containment_;
  DevicePlan plan_;
  std::vector<Device> devices_;
  Measurement result_;
};

}  // namespace

Measurement Measure(const PowerTrace& power, const Recording& recording,
                    const MeasureOptions& options) {
  return Measurer(power, recording, options).Run();
}

}  // namespace beryl::account
