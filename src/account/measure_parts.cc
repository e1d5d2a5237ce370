#include "account/measure_parts.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

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

double MeanOf(const FeatureTrace& features, const FeatureColumn& column, Span span) {
  double sum = 0;
  uint64_t count = 0;
  for (size_t i = 0; i < features.times.size(); ++i) {
    if (features.times[i] < span.from || features.times[i] > span.to) continue;
    if (std::isnan(column.values[i])) continue;
    sum += column.values[i];
    ++count;
  }
  return count == 0 ? kUnknown : sum / static_cast<double>(count);
}

// Of one run of the command, on average over the rounds; without rounds, of the recording.
double LatencyOf(const Measurement& result) {
  double seconds = 0;
  double runs = 0;
  for (const WindowEnergy& window : result.windows) {
    if (!IsRound(window)) continue;
    seconds += window.seconds;
    runs += std::max(1U, window.runs);
  }
  return runs > 0 ? seconds / runs : result.seconds;
}

double GpuEnergyOf(const Measurement& result) {
  double sum = kUnknown;
  for (const DeviceEnergy& device : result.devices) {
    const bool measured = device.origin == Origin::kMeasured && !std::isnan(device.energy_j);
    if (!measured || ScopeOfName(device.device) != ChannelScope::kGpu) continue;
    sum = device.energy_j + (std::isnan(sum) ? 0 : sum);
  }
  return sum;
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
                        kUnknown};
    const Span stretch{window.start, window.end};
    double joules = 0;
    double ours = 0;
    for (const DeviceView& device : devices) {
      const bool split = device.shares != nullptr;
      const SplitSum sum = Split(device.known->curve, split ? *device.shares : nothing, stretch);
      const bool whole = energy.seconds - sum.known_s <= device.known->slack.seconds();
      if (!whole || (sum.known_s == 0 && energy.seconds > 0)) {
        silent.insert(device.known->energy.name);
        joules = kUnknown;
      }
      joules += sum.energy;
      ours += split && sum.unknown == 0 ? sum.ours : kUnknown;
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
        fmt::format("{} window(s) without energy: {} told nothing for part of them", untold,
                    fmt::join(silent, ", ")));
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

void AddFeatures(const Recording& recording, Span span, Measurement& result) {
  for (const FeatureColumn& column : recording.features.columns) {
    if (column.name == "gpu_ours") continue;  // not a feature but whose the work was
    result.features.push_back({column.name, column.device, std::string(UnitOf(column.name)),
                               MeanOf(recording.features, column, span)});
  }
  result.features.push_back({"latency", "", "s", LatencyOf(result)});
  result.features.push_back({"gpu_energy", "", "J", GpuEnergyOf(result)});
}

}  // namespace beryl::account
