// Synthetic recordings, for tests.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "types/power_trace.h"
#include "types/recording.h"

namespace beryl::account {

inline constexpr int64_t kTestStart = 1'690'000'000'000'000'000;
inline constexpr int64_t kMilli = 1'000'000;

// Who runs where, sample by sample.
class TestRecording {
 public:
  explicit TestRecording(std::vector<uint16_t> cpu_package) {
    recording_.period = Nanos{4 * kMilli};
    recording_.start = Nanos{kTestStart};
    recording_.activity.cpu_time = "schedstat";
    recording_.activity.cpu_package = std::move(cpu_package);
    recording_.activity.first_reading = {0};
    // A CPU that is on line has been busy before.
    busy_.assign(recording_.activity.cpus(), 1'000'000'000);
  }

  uint32_t AddTask(int32_t pid, TaskOwner owner = TaskOwner::kWatched, uint64_t run_ns = 0) {
    const auto number = static_cast<uint32_t>(tasks_.size());
    recording_.activity.tasks.push_back(
        {pid, static_cast<int32_t>(pid * 100 + number), "task", owner});
    tasks_.push_back({number, 0, run_ns});
    changed_.push_back(number);
    return number;
  }

  // From now to the next sample, `task` runs for this long and is seen on `cpu` at the end.
  void Run(uint32_t task, uint16_t cpu, int64_t milliseconds) {
    tasks_[task].run_ns += static_cast<uint64_t>(milliseconds * kMilli);
    tasks_[task].cpu = cpu;
    changed_.push_back(task);
  }
  void Busy(size_t cpu, int64_t milliseconds) {
    busy_[cpu] += static_cast<uint64_t>(milliseconds * kMilli);
  }

  // A second from 0 on, sampled every `step_ms`: in each step CPU 0 is busy for `busy_ms`, of which
  // the task has `run_ms`.
  void RunASecond(uint32_t task, int64_t step_ms, int64_t run_ms, int64_t busy_ms) {
    Sample(0);
    for (int64_t at = step_ms; at <= 1000; at += step_ms) {
      Run(task, 0, run_ms);
      Busy(0, busy_ms);
      Sample(at);
    }
  }

  // The busy time that a CPU reports; 0: it is off line.
  void SetBusy(size_t cpu, uint64_t ns) { busy_[cpu] = ns; }

  void Sample(int64_t milliseconds) {
    ActivityTrace& activity = recording_.activity;
    activity.times.push_back(Nanos{kTestStart + milliseconds * kMilli});
    activity.busy_ns.insert(activity.busy_ns.end(), busy_.begin(), busy_.end());
    std::sort(changed_.begin(), changed_.end());
    changed_.erase(std::unique(changed_.begin(), changed_.end()), changed_.end());
    for (const uint32_t task : changed_) activity.readings.push_back(tasks_[task]);
    activity.first_reading.push_back(activity.readings.size());
    changed_.clear();
    recording_.end = activity.times.back();
  }

  Recording& recording() { return recording_; }

 private:
  Recording recording_;
  std::vector<TaskReading> tasks_;
  std::vector<uint32_t> changed_;
  std::vector<uint64_t> busy_;
};

// A counter read every `step_ms`, of a device that draws watts[i] in step i.
inline PowerChannel TestCounter(std::string name, const std::vector<double>& watts,
                                int64_t step_ms = 4) {
  PowerChannel channel;
  channel.name = std::move(name);
  channel.scope = ScopeOfName(channel.name);
  channel.kind = ChannelKind::kEnergyCounter;
  double joules = 0;
  for (size_t i = 0; i <= watts.size(); ++i) {
    channel.times.push_back(Nanos{kTestStart + static_cast<int64_t>(i) * step_ms * kMilli});
    channel.values.push_back(joules);
    if (i < watts.size()) joules += watts[i] * static_cast<double>(step_ms) * 1e-3;
  }
  return channel;
}

inline PowerTrace Trace(std::vector<PowerChannel> channels) {
  PowerTrace power;
  power.channels = std::move(channels);
  return power;
}

}  // namespace beryl::account
