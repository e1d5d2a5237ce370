#include "server/running_energy.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "account/account.h"

namespace beryl::server {
namespace {

// Task times step by up to 10 ms: over much less time their quotients say nothing.
constexpr Nanos kLeastToSettle{200'000'000};

void Add(double& sum, double more) {
  if (std::isnan(more)) return;
  sum = std::isnan(sum) ? more : sum + more;
}

}  // namespace

RunningEnergy::RunningEnergy(Nanos period) : period_(period) { recording_.period = period; }

void RunningEnergy::Add(const sources::Recorder::Piece& piece) {
  AddPower(piece.power);
  AddActivity(piece.recording.activity);
  AddFeatures(piece.recording.features);
}

void RunningEnergy::AddPower(const PowerTrace& power) {
  if (power_.channels.empty()) {
    power_ = power;
    for (PowerChannel& channel : power_.channels) {
      // Before the first reading of all there is nothing to have a gap to.
      if (!channel.gaps.empty() && channel.gaps.front() == 0) {
        channel.gaps.erase(channel.gaps.begin());
        if (!channel.gap_reasons.empty()) channel.gap_reasons.erase(channel.gap_reasons.begin());
      }
    }
    return;
  }
  for (size_t i = 0; i < power.channels.size() && i < power_.channels.size(); ++i) {
    const PowerChannel& from = power.channels[i];
    PowerChannel& to = power_.channels[i];
    const size_t before = to.times.size();
    to.gap_reasons.resize(to.gaps.size());
    for (size_t gap = 0; gap < from.gaps.size(); ++gap) {
      if (from.gaps[gap] + before == 0) continue;
      to.gaps.push_back(from.gaps[gap] + before);
      to.gap_reasons.push_back(gap < from.gap_reasons.size() ? from.gap_reasons[gap] : "");
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

// Of what is taken, the last reading stays: the next stretch begins there.
PowerTrace RunningEnergy::TakePower(Nanos until) {
  PowerTrace taken = power_;
  for (size_t i = 0; i < power_.channels.size(); ++i) {
    PowerChannel& kept = power_.channels[i];
    PowerChannel& whole = taken.channels[i];
    const auto end = std::upper_bound(kept.times.begin(), kept.times.end(), until);
    const auto count = static_cast<size_t>(end - kept.times.begin());
    whole.times.resize(count);
    whole.values.resize(count);
    while (!whole.gaps.empty() && whole.gaps.back() >= count) whole.gaps.pop_back();
    if (count < 2) continue;
    const auto last = static_cast<std::ptrdiff_t>(count - 1);
    kept.times.erase(kept.times.begin(), kept.times.begin() + last);
    kept.values.erase(kept.values.begin(), kept.values.begin() + last);
    const size_t passed = whole.gaps.size();
    kept.gaps.erase(kept.gaps.begin(), kept.gaps.begin() + static_cast<std::ptrdiff_t>(passed));
    for (size_t& gap : kept.gaps) gap -= count - 1;
    const size_t reasons = std::min(passed, kept.gap_reasons.size());
    kept.gap_reasons.erase(kept.gap_reasons.begin(),
                           kept.gap_reasons.begin() + static_cast<std::ptrdiff_t>(reasons));
  }
  return taken;
}

Nanos RunningEnergy::EarliestKept(Nanos otherwise) const {
  Nanos earliest = otherwise;
  for (const PowerChannel& channel : power_.channels) {
    if (!channel.times.empty()) earliest = std::min(earliest, channel.times.front());
  }
  return earliest;
}

// The last look at the CPUs before `time` stays, and has the times of all tasks up to then.
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

LiveDevice& RunningEnergy::DeviceNamed(const std::string& name) {
  const auto found = std::find_if(devices_.begin(), devices_.end(),
                                  [&](const LiveDevice& device) { return device.device == name; });
  if (found != devices_.end()) return *found;
  LiveDevice device;
  device.device = name;
  devices_.push_back(std::move(device));
  return devices_.back();
}

void RunningEnergy::Settle() {
  const std::vector<Nanos>& looks = recording_.activity.times;
  if (looks.empty() || looks.back() - looks.front() < kLeastToSettle) return;
  const Nanos until = looks.back();
  account::MeasureOptions options;
  options.slices = 0;
  PowerTrace stretch = TakePower(until);
  SettleEstimates(stretch);
  const Measurement measured = account::Measure(stretch, recording_, options);
  for (const DeviceEnergy& part : measured.devices) {
    if (std::isnan(part.energy_j)) continue;
    LiveDevice& device = DeviceNamed(part.device);
    device.origin = part.origin;
    device.source = part.source;
    server::Add(device.energy_j, part.energy_j);
    server::Add(device.ours_j, part.split.ours_j);
  }
  ForgetActivityBefore(EarliestKept(until));
  ForgetFeaturesBefore(EarliestKept(until));
}

}  // namespace beryl::server
