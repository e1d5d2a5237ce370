#include "account/running_energy.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "account/account.h"

namespace beryl::account {
namespace {

// Task times advance by up to 10 ms: over much shorter times their quotients are meaningless.
constexpr Nanos kLeastToSettle{200'000'000};
// A meter that was silent for this long is no longer waited for: when it returns, the CPU users of
// that time are forgotten.
constexpr Nanos kLongestSilence{10'000'000'000};
// A counter's next step is extrapolated for as long as two steps took; a gauge's value holds for a
// second.
constexpr int64_t kStepsToForesee = 2;
constexpr Nanos kLongestHeld{1'500'000'000};

LiveDevice& DeviceNamed(std::vector<LiveDevice>& devices, const std::string& name) {
  const auto found = std::find_if(devices.begin(), devices.end(),
                                  [&](const LiveDevice& device) { return device.device == name; });
  if (found != devices.end()) return *found;
  LiveDevice device;
  device.device = name;
  devices.push_back(std::move(device));
  return devices.back();
}

// The first and the last reading of all channels.
std::pair<Nanos, Nanos> SpanOf(const PowerTrace& power) {
  std::pair<Nanos, Nanos> span{Nanos{std::numeric_limits<int64_t>::max()}, Nanos{}};
  for (const PowerChannel& channel : power.channels) {
    if (channel.times.size() < 2) continue;
    span.first = std::min(span.first, channel.times.front());
    span.second = std::max(span.second, channel.times.back());
  }
  return span;
}

std::optional<Joules> SumOf(const std::vector<LiveDevice>& devices,
                            std::optional<Joules> LiveDevice::*part) {
  std::optional<Joules> all;
  for (const LiveDevice& device : devices) {
    if (!(device.*part)) return std::nullopt;
    AddKnown(all, device.*part);
  }
  return all;
}

bool EndsWithGap(const PowerChannel& channel) {
  return !channel.gaps.empty() && channel.gaps.back().reading + 1 == channel.times.size();
}

}  // namespace

RunningEnergy::RunningEnergy(Nanos period) : period_(period) { recording_.period = period; }

void RunningEnergy::Add(const RecordingPiece& piece) {
  FollowReadings(piece.power);
  AddPower(piece.power);
  AddActivity(piece.recording.activity);
  AddFeatures(piece.recording.features);
}

void RunningEnergy::FollowReadings(const PowerTrace& power) {
  readings_.resize(power.channels.size());
  for (size_t i = 0; i < power.channels.size(); ++i) {
    const PowerChannel& channel = power.channels[i];
    LastReading& last = readings_[i];
    size_t gap = 0;
    for (size_t k = 0; k < channel.times.size(); ++k) {
      while (gap < channel.gaps.size() && channel.gaps[gap].reading < k) ++gap;
      const bool unknown = gap < channel.gaps.size() && channel.gaps[gap].reading == k;
      const Nanos step = channel.times[k] - last.time;
      const bool known = !std::isnan(last.value) && !unknown && step.value > 0;
      last.power.reset();
      if (known) last.power = Joules{channel.values[k] - last.value} / step;
      last.step = known ? step : Nanos{};
      last.time = channel.times[k];
      last.value = channel.values[k];
    }
  }
}

void RunningEnergy::AddPower(const PowerTrace& power) {
  if (power_.channels.empty()) {
    power_ = power;
    for (PowerChannel& channel : power_.channels) {
      // Before the very first reading there is nothing that a gap could separate.
      if (!channel.gaps.empty() && channel.gaps.front().reading == 0) {
        channel.gaps.erase(channel.gaps.begin());
      }
    }
    return;
  }
  for (size_t i = 0; i < power.channels.size() && i < power_.channels.size(); ++i) {
    const PowerChannel& from = power.channels[i];
    PowerChannel& to = power_.channels[i];
    const size_t before = to.times.size();
    for (const PowerGap& gap : from.gaps) {
      if (gap.reading + before > 0) to.gaps.push_back({gap.reading + before, gap.why});
    }
    to.times.insert(to.times.end(), from.times.begin(), from.times.end());
    to.values.insert(to.values.end(), from.values.begin(), from.values.end());
  }
}

void RunningEnergy::AddActivity(const ActivityTrace& from) {
  ActivityTrace& to = recording_.activity;
  to.cpu_time = from.cpu_time;
  to.cpu_package = from.cpu_package;
  to.tasks.insert(to.tasks.end(), from.tasks.begin(), from.tasks.end());
  runs_.resize(to.tasks.size());
  if (from.times.empty()) return;
  if (to.first_reading.empty()) to.first_reading.push_back(0);
  const size_t before = to.readings.size();
  to.times.insert(to.times.end(), from.times.begin(), from.times.end());
  to.busy_ns.insert(to.busy_ns.end(), from.busy_ns.begin(), from.busy_ns.end());
  to.readings.insert(to.readings.end(), from.readings.begin(), from.readings.end());
  for (size_t i = 1; i < from.first_reading.size(); ++i) {
    to.first_reading.push_back(before + from.first_reading[i]);
  }
}

void RunningEnergy::AddFeatures(const FeatureTrace& from) {
  FeatureTrace& to = recording_.features;
  if (to.columns.empty()) to.columns.resize(from.columns.size());
  if (to.columns.size() != from.columns.size()) return;
  to.times.insert(to.times.end(), from.times.begin(), from.times.end());
  for (size_t i = 0; i < from.columns.size(); ++i) {
    to.columns[i].name = from.columns[i].name;
    to.columns[i].device = from.columns[i].device;
    to.columns[i].values.insert(to.columns[i].values.end(), from.columns[i].values.begin(),
                                from.columns[i].values.end());
  }
}

// Keeps the last of the taken readings: the next stretch begins there.
PowerTrace RunningEnergy::TakePower(Nanos until) {
  PowerTrace taken = power_;
  for (size_t i = 0; i < power_.channels.size(); ++i) {
    PowerChannel& kept = power_.channels[i];
    PowerChannel& whole = taken.channels[i];
    const auto end = std::upper_bound(kept.times.begin(), kept.times.end(), until);
    const auto count = static_cast<size_t>(end - kept.times.begin());
    whole.times.resize(count);
    whole.values.resize(count);
    while (!whole.gaps.empty() && whole.gaps.back().reading >= count) whole.gaps.pop_back();
    if (count < 2) continue;
    const auto last = static_cast<std::ptrdiff_t>(count - 1);
    kept.times.erase(kept.times.begin(), kept.times.begin() + last);
    kept.values.erase(kept.values.begin(), kept.values.begin() + last);
    const size_t passed = whole.gaps.size();
    kept.gaps.erase(kept.gaps.begin(), kept.gaps.begin() + static_cast<std::ptrdiff_t>(passed));
    for (PowerGap& gap : kept.gaps) gap.reading -= count - 1;
  }
  return taken;
}

Nanos RunningEnergy::EarliestKept(Nanos otherwise) const {
  Nanos earliest = otherwise;
  for (const PowerChannel& channel : power_.channels) {
    if (channel.times.empty() || otherwise - channel.times.front() > kLongestSilence) continue;
    earliest = std::min(earliest, channel.times.front());
  }
  return earliest;
}

// Keeps the last CPU sample before `time`, with the times of all tasks up to then.
void RunningEnergy::ForgetActivityBefore(Nanos time) {
  ActivityTrace& activity = recording_.activity;
  const auto after = std::upper_bound(activity.times.begin(), activity.times.end(), time);
  if (after - activity.times.begin() < 2) return;
  const auto first = static_cast<size_t>(after - activity.times.begin()) - 1;
  ActivityTrace kept;
  kept.cpu_time = activity.cpu_time;
  kept.cpu_package = activity.cpu_package;
  for (size_t i = 0; i < activity.first_reading[first + 1]; ++i) {
    const TaskReading& reading = activity.readings[i];
    if (reading.task < runs_.size()) runs_[reading.task] = {reading.run_ns, reading.cpu, true};
  }
  kept.first_reading.push_back(0);
  for (uint32_t task = 0; task < runs_.size(); ++task) {
    if (runs_[task].known) kept.readings.push_back({task, runs_[task].cpu, runs_[task].run_ns});
  }
  kept.first_reading.push_back(kept.readings.size());
  for (size_t i = first + 1; i < activity.times.size(); ++i) {
    kept.readings.insert(
        kept.readings.end(),
        activity.readings.begin() + static_cast<std::ptrdiff_t>(activity.first_reading[i]),
        activity.readings.begin() + static_cast<std::ptrdiff_t>(activity.first_reading[i + 1]));
    kept.first_reading.push_back(kept.readings.size());
  }
  kept.times.assign(activity.times.begin() + static_cast<std::ptrdiff_t>(first),
                    activity.times.end());
  kept.busy_ns.assign(
      activity.busy_ns.begin() + static_cast<std::ptrdiff_t>(first * activity.cpus()),
      activity.busy_ns.end());
  kept.tasks = std::move(activity.tasks);
  activity = std::move(kept);
}

void RunningEnergy::ForgetFeaturesBefore(Nanos time) {
  FeatureTrace& features = recording_.features;
  const auto after = std::upper_bound(features.times.begin(), features.times.end(), time);
  const auto passed = std::max<std::ptrdiff_t>(1, after - features.times.begin()) - 1;
  for (FeatureColumn& column : features.columns) {
    column.values.erase(column.values.begin(), column.values.begin() + passed);
  }
  features.times.erase(features.times.begin(), features.times.begin() + passed);
}

Measurement RunningEnergy::Measure(const PowerTrace& stretch, Nanos from, Nanos to,
                                   std::vector<LiveDevice>& sums) {
  MeasureOptions options;
  options.slices = 0;
  recording_.start = from;
  recording_.end = to;
  Measurement measured = account::Measure(stretch, recording_, options);
  recording_.start = recording_.end = {};
  for (const DeviceEnergy& part : measured.devices) {
    if (!part.energy) continue;
    LiveDevice& device = DeviceNamed(sums, part.device);
    device.origin = part.origin;
    device.source = part.source;
    AddKnown(device.energy, part.energy);
    AddKnown(device.ours, part.split.ours);
  }
  return measured;
}

void RunningEnergy::SettleUntil(Nanos until) {
  PowerTrace stretch = TakePower(until);
  SettleEstimates(stretch);
  const auto [first, last] = SpanOf(stretch);
  std::vector<LiveDevice> all;
  last_ = Measure(stretch, {}, {}, all);
  const auto add = [](const std::vector<LiveDevice>& from, std::vector<LiveDevice>& to) {
    for (const LiveDevice& part : from) {
      LiveDevice& device = DeviceNamed(to, part.device);
      device.origin = part.origin;
      device.source = part.source;
      AddKnown(device.energy, part.energy);
      AddKnown(device.ours, part.ours);
    }
  };
  add(all, devices_);
  for (Window& window : windows_) {
    const Nanos from = std::max(window.so_far.start, first);
    const Nanos to = std::min(window.so_far.end, last);
    if (from == first && to == last) {
      add(all, window.so_far.devices);
    } else if (from < to) {
      Measure(stretch, from, to, window.so_far.devices);
    }
  }
  ForgetActivityBefore(EarliestKept(until));
  ForgetFeaturesBefore(EarliestKept(until));
}

void RunningEnergy::Settle() {
  const std::vector<Nanos>& looks = recording_.activity.times;
  if (looks.empty() || looks.back() - looks.front() < kLeastToSettle) return;
  SettleUntil(looks.back());
}

void RunningEnergy::Finish() { SettleUntil(Nanos{std::numeric_limits<int64_t>::max()}); }

uint64_t RunningEnergy::OpenWindow(std::string name, Nanos start) {
  const Nanos never{std::numeric_limits<int64_t>::max()};
  windows_.push_back({next_window_, {std::move(name), start, never, {}, {}, {}}});
  return next_window_++;
}

bool RunningEnergy::EndWindow(uint64_t id, Nanos end) {
  const auto found = std::find_if(windows_.begin(), windows_.end(),
                                  [&](const Window& window) { return window.id == id; });
  if (found == windows_.end()) return false;
  found->so_far.end = end;
  return true;
}

PowerTrace RunningEnergy::RestUntil(Nanos end) const {
  PowerTrace rest = power_;
  for (size_t i = 0; i < rest.channels.size() && i < readings_.size(); ++i) {
    PowerChannel& channel = rest.channels[i];
    const LastReading& last = readings_[i];
    const Nanos ahead = end - last.time;
    if (channel.times.empty() || ahead.value <= 0 || EndsWithGap(channel)) continue;
    const bool counter = channel.kind == ChannelKind::kEnergyCounter;
    const Nanos lag = ToNanos(channel.meter.lag);
    const Nanos longest =
        counter ? Nanos{last.step.value * kStepsToForesee} : kLongestHeld + period_ + period_ + lag;
    if (ahead > longest) continue;
    channel.times.push_back(end);
    channel.values.push_back(counter ? last.value + (*last.power * ahead).value : last.value);
  }
  SettleEstimates(rest);
  return rest;
}

std::optional<LiveWindow> RunningEnergy::CloseWindow(uint64_t id) {
  const auto found = std::find_if(windows_.begin(), windows_.end(),
                                  [&](const Window& window) { return window.id == id; });
  if (found == windows_.end()) return std::nullopt;
  LiveWindow window = std::move(found->so_far);
  windows_.erase(found);
  std::vector<LiveDevice>& used = window.devices;
  if (window.start < window.end) {
    Measure(RestUntil(window.end), window.start, window.end, used);
  }
  // A known device without readings here is unknown here.
  for (const LiveDevice& device : devices_) {
    LiveDevice& part = DeviceNamed(used, device.device);
    part.origin = device.origin;
    part.source = device.source;
  }
  for (size_t i = 0; i < power_.channels.size() && i < readings_.size(); ++i) {
    const PowerChannel& channel = power_.channels[i];
    const bool has_energy =
        channel.kind != ChannelKind::kEnergyCounter || readings_[i].time > window.start;
    if (has_energy) continue;
    for (LiveDevice& device : used) {
      if (device.device == channel.name) device.energy = device.ours = std::nullopt;
    }
  }
  window.energy = SumOf(used, &LiveDevice::energy);
  window.ours = SumOf(used, &LiveDevice::ours);
  return window;
}

}  // namespace beryl::account
