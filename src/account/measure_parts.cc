#include "account/measure_parts.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"

namespace beryl::account {
namespace {

bool IsRound(const WindowEnergy& window) {
  return !window.warm_up && window.name.starts_with("round ");
}

template <typename Quantity>
RoundStatistics<Quantity> StatisticsOf(const std::vector<double>& values) {
  RoundStatistics<Quantity> statistics;
  statistics.rounds = values.size();
  if (values.empty()) return statistics;
  double sum = 0;
  for (const double value : values) sum += value;
  const auto count = static_cast<double>(values.size());
  const double mean = sum / count;
  statistics.mean = Quantity{mean};
  if (values.size() < 2) return statistics;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  statistics.deviation = Quantity{std::sqrt(squares / (count - 1))};
  return statistics;
}

std::string_view UnitOf(std::string_view feature) {
  if (feature.ends_with("_clk")) return "MHz";
  if (feature.ends_with("_temp")) return "°C";
  return "%";
}

// The stretches to average over: the rounds, or everything if there are none.
std::vector<Span> StretchesOf(const Measurement& result, Span span) {
  std::vector<Span> stretches;
  for (size_t i = 0; i < result.windows.size(); ++i) {
    if (!IsRound(result.windows[i])) continue;
    const RunWindow& round = result.recording.windows[i];
    stretches.push_back({round.start, round.end});
  }
  if (stretches.empty()) stretches.push_back(span);
  return stretches;
}

// The mean of equal values is exactly that value.
class WeightedMean {
 public:
  void Add(double value, double weight) {
    weight_ += weight;
    mean_ += (value - mean_) * (weight / weight_);
  }
  bool IsKnown() const { return weight_ > 0; }
  std::optional<double> value() const { return IsKnown() ? std::optional(mean_) : std::nullopt; }

 private:
  double mean_ = 0;
  double weight_ = 0;
};

// A sample describes the time since the previous one, and is weighted by that.
std::optional<double> MeanOf(const FeatureTrace& features, const FeatureColumn& column,
                             const std::vector<Span>& stretches) {
  WeightedMean by_time;
  WeightedMean by_count;
  for (const Span& stretch : stretches) {
    for (size_t i = 0; i < features.times.size(); ++i) {
      const double value = column.values[i];
      if (std::isnan(value)) continue;
      const Nanos time = features.times[i];
      if (time >= stretch.from && time <= stretch.to) by_count.Add(value, 1);
      if (i == 0) continue;
      const Nanos from = std::max(features.times[i - 1], stretch.from);
      const Nanos to = std::min(time, stretch.to);
      if (to > from) by_time.Add(value, (to - from).seconds());
    }
  }
  return by_time.IsKnown() ? by_time.value() : by_count.value();
}

double RunsOf(const WindowEnergy& round) { return std::max(1U, round.runs); }

RunStatistics RunsOf(const std::vector<WindowEnergy>& windows) {
  std::vector<double> ours;
  std::vector<double> machine;
  std::vector<double> seconds;
  for (const WindowEnergy& window : windows) {
    if (!IsRound(window)) continue;
    if (window.ours) ours.push_back(window.ours->value / RunsOf(window));
    if (window.energy) machine.push_back(window.energy->value / RunsOf(window));
    seconds.push_back(window.duration.value / RunsOf(window));
  }
  RunStatistics runs;
  runs.energy_of = ours.empty() ? EnergyOf::kMachine : EnergyOf::kOurs;
  runs.energy = StatisticsOf<Joules>(ours.empty() ? machine : ours);
  runs.time = StatisticsOf<Seconds>(seconds);
  return runs;
}

// Of one run of the command, averaged over the rounds; without rounds, of the recording.
Seconds LatencyOf(const Measurement& result) {
  Seconds time;
  double runs = 0;
  for (const WindowEnergy& window : result.windows) {
    if (!IsRound(window)) continue;
    time += window.duration;
    runs += RunsOf(window);
  }
  return runs > 0 ? time / runs : result.duration;
}

// The energy of a device in a stretch of time; nothing if part of it is unknown.
std::optional<Joules> EnergyIn(const KnownPower& known, Span stretch) {
  const SplitSum sum = Split(known.curve, Shares(), stretch);
  const Seconds missing = stretch.duration() - sum.known_time;
  const bool whole = missing <= ToSeconds(known.SlackOf(stretch)) && sum.known_time > Seconds{};
  return whole ? std::optional(sum.energy) : std::nullopt;
}

// Like latency: of one run of the command, over the rounds in which all GPUs are known.
std::optional<Joules> GpuEnergyOf(const std::vector<DeviceView>& devices,
                                  const Measurement& result) {
  std::optional<Joules> sum;
  std::optional<Joules> of_rounds;
  double runs = 0;
  const auto is_gpu = [](const DeviceView& device) {
    const ChannelEnergy& energy = device.known->energy;
    return energy.scope == ChannelScope::kGpu && energy.meter.origin == Origin::kMeasured;
  };
  for (const DeviceView& device : devices) {
    if (is_gpu(device)) AddKnown(sum, device.known->energy.energy);
  }
  bool rounds = false;
  for (size_t i = 0; i < result.windows.size(); ++i) {
    if (!IsRound(result.windows[i])) continue;
    rounds = true;
    bool known = sum.has_value();
    Joules of_round;
    for (const DeviceView& device : devices) {
      if (!is_gpu(device)) continue;
      const RunWindow& round = result.recording.windows[i];
      const auto energy = EnergyIn(*device.known, {round.start, round.end});
      known = known && energy;
      of_round += energy.value_or(Joules{});
    }
    if (!known) continue;
    AddKnown(of_rounds, of_round);
    runs += RunsOf(result.windows[i]);
  }
  if (!rounds) return sum;
  return of_rounds ? std::optional(*of_rounds / runs) : std::nullopt;
}

}  // namespace

Span SpanOf(const PowerTrace& power, const Recording& recording) {
  Nanos first{std::numeric_limits<int64_t>::max()};
  Nanos last{std::numeric_limits<int64_t>::min()};
  for (const PowerChannel& channel : power.channels) {
    if (channel.times.empty()) continue;
    first = std::min(first, channel.times.front());
    last = std::max(last, channel.times.back());
  }
  const std::vector<Nanos>& times = recording.activity.times;
  if (!times.empty()) {
    first = std::min(first, times.front());
    last = std::max(last, times.back());
  }
  Span span{recording.start, recording.end};
  const bool started = recording.start.value != 0;
  if (!started) span.from = first > last ? Nanos{} : first;
  if (recording.end.value == 0 || span.to <= span.from) span.to = std::max(span.from, last);
  return span;
}

void AddWindows(const std::vector<DeviceView>& devices, Span span, Measurement& result) {
  std::set<std::string> silent;
  uint64_t untold = 0;
  const Shares nothing;
  for (const RunWindow& window : result.recording.windows) {
    WindowEnergy energy{window.name,
                        window.warm_up,
                        ToSeconds(window.start - span.from),
                        ToSeconds(window.end - window.start),
                        std::nullopt,
                        std::nullopt,
                        window.runs};
    const Span stretch{window.start, window.end};
    bool all_known = true;
    bool all_split = true;
    Joules sum_of_all;
    Joules ours;
    for (const DeviceView& device : devices) {
      const bool split = device.shares != nullptr;
      const SplitSum sum = Split(device.known->curve, split ? *device.shares : nothing, stretch);
      const bool whole =
          energy.duration - sum.known_time <= ToSeconds(device.known->SlackOf(stretch));
      if (!whole || (sum.known_time == Seconds{} && energy.duration > Seconds{})) {
        silent.insert(device.known->energy.name);
        all_known = false;
      }
      sum_of_all += sum.energy;
      const bool by_cpu_time = split && device.shares->column;
      const Joules unknown = sum.unknown + (by_cpu_time ? Joules{} : sum.outside);
      const bool known = std::abs(unknown.value) <= kTooMuchUnknown * std::abs(sum.energy.value);
      all_split = all_split && split && known;
      ours += sum.ours;
    }
    if (!devices.empty() && all_known) {
      energy.energy = IfKnown<Joules>(sum_of_all.value);
      if (all_split) energy.ours = IfKnown<Joules>(ours.value);
    }
    if (!all_known) ++untold;
    result.windows.push_back(std::move(energy));
  }
  if (untold > 0) {
    result.notes.push_back(
        {NoteKind::kWindowsWithoutEnergy, fmt::format("{}", fmt::join(silent, ", ")), {untold}});
  }
  std::vector<double> joules;
  std::vector<double> seconds;
  for (const WindowEnergy& window : result.windows) {
    if (!IsRound(window)) continue;
    if (window.energy) joules.push_back(window.energy->value);
    seconds.push_back(window.duration.value);
  }
  result.round_energy = StatisticsOf<Joules>(joules);
  result.round_time = StatisticsOf<Seconds>(seconds);
  result.run = RunsOf(result.windows);
}

void AddFeatures(const std::vector<DeviceView>& devices, const FeatureTrace& features, Span span,
                 Measurement& result) {
  const std::vector<Span> stretches = StretchesOf(result, span);
  for (const FeatureColumn& column : features.columns) {
    if (column.name == "gpu_ours") continue;  // not a feature, but a share by owner
    result.features.push_back({column.name, column.device, std::string(UnitOf(column.name)),
                               MeanOf(features, column, stretches)});
  }
  result.features.push_back({"latency", "", "s", LatencyOf(result).value});
  const std::optional<Joules> of_gpus = GpuEnergyOf(devices, result);
  result.features.push_back(
      {"gpu_energy", "", "J", of_gpus ? std::optional(of_gpus->value) : std::nullopt});
}

void AddTotal(const std::vector<std::string>& missing, Measurement& result) {
  TotalEnergy& total = result.total;
  total.missing = missing;
  std::optional<Joules> low;
  std::optional<Joules> high;
  std::optional<Joules> ours_low;
  std::optional<Joules> ours_high;
  bool ours_bounded = false;
  for (const DeviceEnergy& device : result.devices) {
    if (!device.energy) {
      total.missing.push_back(device.device);
      continue;
    }
    Seconds silent;
    for (const MeterGap& gap : device.gaps) silent += gap.duration;
    if (silent > Seconds{}) {
      total.missing.push_back(fmt::format("{} for {}", device.device, FormatSeconds(silent)));
    }
    AddKnown(total.energy, device.energy);
    AddKnown(total.mean_power, device.mean_power);
    AddKnown(low, device.low ? device.low : device.energy);
    AddKnown(high, device.high ? device.high : device.energy);
    if (device.origin == Origin::kEstimated) total.origin = Origin::kEstimated;
    if (!device.split.ours) {
      total.all_split = false;
      continue;
    }
    AddKnown(total.ours, device.split.ours);
    AddKnown(ours_low, device.ours_low ? device.ours_low : device.split.ours);
    AddKnown(ours_high, device.ours_high ? device.ours_high : device.split.ours);
    ours_bounded = ours_bounded || device.ours_high;
    AddKnown(total.split, device.energy);
  }
  if (total.origin == Origin::kEstimated) {
    total.low = low;
    total.high = high;
  }
  if (ours_bounded) {
    total.ours_low = ours_low;
    total.ours_high = ours_high;
  }
}

}  // namespace beryl::account
