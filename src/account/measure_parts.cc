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

Spread SpreadOf(const std::vector<double>& values) {
  Spread spread;
  spread.rounds = values.size();
  if (values.empty()) return spread;
  double sum = 0;
  for (const double value : values) sum += value;
  const auto count = static_cast<double>(values.size());
  spread.mean = sum / count;
  if (values.size() < 2) return spread;
  double squares = 0;
  for (const double value : values) squares += (value - spread.mean) * (value - spread.mean);
  spread.deviation = std::sqrt(squares / (count - 1));
  return spread;
}

std::string_view UnitOf(std::string_view feature) {
  if (feature == "g_clk" || feature == "gm_clk") return "MHz";
  return "%";
}

// The stretches that means are of: the rounds, or all if there are none.
std::vector<Span> StretchesOf(const Recording& recording, const Measurement& result, Span span) {
  std::vector<Span> stretches;
  for (size_t i = 0; i < result.windows.size(); ++i) {
    if (!IsRound(result.windows[i])) continue;
    stretches.push_back({recording.windows[i].start, recording.windows[i].end});
  }
  if (stretches.empty()) stretches.push_back(span);
  return stretches;
}

// Of what stays the same exactly that.
class WeightedMean {
 public:
  void Add(double value, double weight) {
    weight_ += weight;
    mean_ += (value - mean_) * (weight / weight_);
  }
  bool IsKnown() const { return weight_ > 0; }
  double value() const { return IsKnown() ? mean_ : kUnknown; }

 private:
  double mean_ = 0;
  double weight_ = 0;
};

// A sample says how things were since the one before it, and counts for as long as that.
double MeanOf(const FeatureTrace& features, const FeatureColumn& column,
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

// Of one run of the command, on average over the rounds; without rounds, of the recording.
double LatencyOf(const Measurement& result) {
  double seconds = 0;
  double runs = 0;
  for (const WindowEnergy& window : result.windows) {
    if (!IsRound(window)) continue;
    seconds += window.seconds;
    runs += RunsOf(window);
  }
  return runs > 0 ? seconds / runs : result.seconds;
}

void AddKnown(double& sum, double value) {
  if (!std::isnan(value)) sum = std::isnan(sum) ? value : sum + value;
}

// The energy of a device in a stretch of time; NaN: part of it is not known.
double EnergyIn(const KnownPower& known, Span stretch) {
  const SplitSum sum = Split(known.curve, Shares(), stretch);
  const double missing = stretch.seconds() - sum.known_s;
  const bool whole = missing <= known.SlackOf(stretch).seconds() && sum.known_s > 0;
  return whole ? sum.energy : kUnknown;
}

// As the latency is: of one run of the command, over those rounds in which all GPUs are known.
double GpuEnergyOf(const std::vector<DeviceView>& devices, const Recording& recording,
                   const Measurement& result) {
  double sum = kUnknown;
  double of_rounds = kUnknown;
  double runs = 0;
  const auto is_gpu = [](const DeviceView& device) {
    const ChannelEnergy& energy = device.known->energy;
    return energy.scope == ChannelScope::kGpu && energy.meter.origin == Origin::kMeasured;
  };
  for (const DeviceView& device : devices) {
    if (is_gpu(device)) AddKnown(sum, device.known->energy.energy_j);
  }
  bool rounds = false;
  for (size_t i = 0; i < result.windows.size(); ++i) {
    if (!IsRound(result.windows[i])) continue;
    rounds = true;
    double joules = std::isnan(sum) ? kUnknown : 0;
    for (const DeviceView& device : devices) {
      if (!is_gpu(device)) continue;
      joules += EnergyIn(*device.known, {recording.windows[i].start, recording.windows[i].end});
    }
    AddKnown(of_rounds, joules);
    if (!std::isnan(joules)) runs += RunsOf(result.windows[i]);
  }
  return rounds ? of_rounds / runs : sum;
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
  if (span.to <= span.from) span.to = std::max(span.from, last);
  return span;
}

void AddWindows(const std::vector<DeviceView>& devices, const Recording& recording, Span span,
                Measurement& result) {
  std::set<std::string> silent;
  uint64_t untold = 0;
  const Shares nothing;
  for (const RunWindow& window : recording.windows) {
    WindowEnergy energy{window.name,
                        window.warm_up,
                        (window.start - span.from).seconds(),
                        (window.end - window.start).seconds(),
                        kUnknown,
                        kUnknown,
                        window.runs};
    const Span stretch{window.start, window.end};
    double joules = 0;
    double ours = 0;
    for (const DeviceView& device : devices) {
      const bool split = device.shares != nullptr;
      const SplitSum sum = Split(device.known->curve, split ? *device.shares : nothing, stretch);
      const bool whole = energy.seconds - sum.known_s <= device.known->SlackOf(stretch).seconds();
      if (!whole || (sum.known_s == 0 && energy.seconds > 0)) {
        silent.insert(device.known->energy.name);
        joules = kUnknown;
      }
      joules += sum.energy;
      const bool by_cpu_time = split && device.shares->column;
      const double unknown = sum.unknown + (by_cpu_time ? 0 : sum.outside);
      const bool known = std::abs(unknown) <= kTooMuchUnknown * std::abs(sum.energy);
      ours += split && known ? sum.ours : kUnknown;
    }
    if (!devices.empty()) {
      energy.energy_j = joules;
      energy.ours_j = std::isnan(joules) ? kUnknown : ours;
    }
    if (std::isnan(joules)) ++untold;
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
    if (!std::isnan(window.energy_j)) joules.push_back(window.energy_j);
    seconds.push_back(window.seconds);
  }
  result.energy_j = SpreadOf(joules);
  result.seconds_s = SpreadOf(seconds);
}

void AddFeatures(const std::vector<DeviceView>& devices, const Recording& recording, Span span,
                 Measurement& result) {
  const std::vector<Span> stretches = StretchesOf(recording, result, span);
  for (const FeatureColumn& column : recording.features.columns) {
    if (column.name == "gpu_ours") continue;  // not a feature but whose the work was
    result.features.push_back({column.name, column.device, std::string(UnitOf(column.name)),
                               MeanOf(recording.features, column, stretches)});
  }
  result.features.push_back({"latency", "", "s", LatencyOf(result)});
  result.features.push_back({"gpu_energy", "", "J", GpuEnergyOf(devices, recording, result)});
}

void AddTotal(const std::vector<std::string>& missing, Measurement& result) {
  TotalEnergy& total = result.total;
  total.missing = missing;
  double low = kUnknown;
  double high = kUnknown;
  for (const DeviceEnergy& device : result.devices) {
    if (std::isnan(device.energy_j)) {
      total.missing.push_back(device.device);
      continue;
    }
    double gap_s = 0;
    for (const MeterGap& gap : device.gaps) gap_s += gap.seconds;
    if (gap_s > 0) {
      total.missing.push_back(fmt::format("{} for {}", device.device, FormatSeconds(gap_s)));
    }
    AddKnown(total.energy_j, device.energy_j);
    AddKnown(total.mean_w, device.mean_w);
    AddKnown(low, std::isnan(device.low_j) ? device.energy_j : device.low_j);
    AddKnown(high, std::isnan(device.high_j) ? device.energy_j : device.high_j);
    if (device.origin == Origin::kEstimated) total.origin = Origin::kEstimated;
    if (std::isnan(device.split.ours_j)) {
      total.all_split = false;
      continue;
    }
    AddKnown(total.ours_j, device.split.ours_j);
    AddKnown(total.split_j, device.energy_j);
  }
  if (total.origin == Origin::kEstimated) {
    total.low_j = low;
    total.high_j = high;
  }
}

}  // namespace beryl::account
