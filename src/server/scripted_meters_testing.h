// Meters with scripted readings, for tests.
#pragma once

#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "server/meters.h"

namespace beryl::server {

// One package whose counter rises by a joule per tick, a millisecond apart: a kilowatt. Every Drain
// returns the readings since the last. Time stands still between ticks.
class ScriptedMeters final : public Meters {
 public:
  ScriptedMeters() : Meters(Blank(), "{\"schema\":\"beryl.sources/1\"}") {}

  Status Start(Nanos period, Nanos longest_activity) override {
    const std::lock_guard lock(mutex_);
    running_ = true;
    longest_activity_ = longest_activity;
    ++starts_;
    period_ = period;
    return {};
  }
  void Stop() override {
    const std::lock_guard lock(mutex_);
    running_ = false;
    watches_.clear();
  }
  void ReadNow() override {
    const std::lock_guard lock(mutex_);
    ++reads_now_;
    readings_.push_back({Time(), joules_});
  }
  void SetPeriod(Nanos period) override {
    const std::lock_guard lock(mutex_);
    period_ = period;
  }
  Result<sources::WatchId> Watch(int32_t pid, const sources::Watcher& watcher) override {
    const std::lock_guard lock(mutex_);
    watcher_ = watcher;
    watches_[next_watch_] = pid;
    births_.push_back({next_task_++, next_watch_, pid, pid, "work"});
    return next_watch_++;
  }
  void Unwatch(sources::WatchId watch) override {
    const std::lock_guard lock(mutex_);
    watches_.erase(watch);
  }
  size_t Drain(sources::SampleSink& sink) override {
    std::vector<std::pair<Nanos, uint64_t>> readings;
    std::vector<sources::TaskBirth> births;
    {
      const std::lock_guard lock(mutex_);
      readings.swap(readings_);
      births.swap(births_);
    }
    for (const sources::TaskBirth& birth : births) sink.OnTaskBirth(birth);
    for (const auto& [time, joules] : readings) {
      const sources::MeterReading reading{sources::ReadState::kOk, joules};
      sink.OnPower(time, {&reading, 1});
      if (time > last_activity_) sink.OnActivity(time, {}, {});
      last_activity_ = time;
    }
    return readings.size();
  }
  std::map<uint32_t, size_t> tasks_of_users() const override { return Locked(tasks_); }
  SamplerCost cost() const override { return {}; }
  Nanos Now() const override {
    const std::lock_guard lock(mutex_);
    return Time();
  }

  // For tests.
  void Tick(int count) {
    const std::lock_guard lock(mutex_);
    for (int i = 0; i < count; ++i) {
      ++milliseconds_;
      readings_.push_back({Time(), ++joules_});
    }
  }
  // Time passes without a reading.
  void Skip(uint64_t milliseconds) {
    const std::lock_guard lock(mutex_);
    milliseconds_ += milliseconds;
  }
  bool running() const { return Locked(running_); }
  int starts() const { return Locked(starts_); }
  Nanos period() const { return Locked(period_); }
  Nanos longest_activity() const { return Locked(longest_activity_); }
  // The last for whom something was watched.
  sources::Watcher watcher() const { return Locked(watcher_); }
  void SetTasks(uint32_t uid, size_t tasks) {
    const std::lock_guard lock(mutex_);
    tasks_[uid] = tasks;
  }
  int reads_now() const { return Locked(reads_now_); }
  size_t watches() const {
    const std::lock_guard lock(mutex_);
    return watches_.size();
  }

 private:
  static RecordingPiece Blank() {
    PowerChannel package;
    package.name = "CPU:0";
    package.scope = ChannelScope::kPackage;
    package.kind = ChannelKind::kEnergyCounter;
    package.meter.source = "rapl-powercap";
    package.meter.per_count = 1;
    RecordingPiece blank;
    blank.power.channels.push_back(package);
    blank.recording.machine = "testbox";
    blank.recording.activity.cpu_package = {0};
    blank.recording.activity.cpu_time = "schedstat";
    return blank;
  }
  Nanos Time() const {
    return Nanos{1'700'000'000'000'000'000 + static_cast<int64_t>(milliseconds_) * 1'000'000};
  }
  template <typename T>
  T Locked(const T& value) const {
    const std::lock_guard lock(mutex_);
    return value;
  }

  mutable std::mutex mutex_;
  bool running_ = false;
  int starts_ = 0;
  int reads_now_ = 0;
  sources::Watcher watcher_;
  std::map<uint32_t, size_t> tasks_;
  Nanos period_;
  Nanos longest_activity_;
  sources::WatchId next_watch_ = 1;
  uint32_t next_task_ = 0;
  uint64_t milliseconds_ = 0;
  uint64_t joules_ = 0;
  Nanos last_activity_;
  std::map<sources::WatchId, int32_t> watches_;
  std::vector<sources::TaskBirth> births_;
  std::vector<std::pair<Nanos, uint64_t>> readings_;
};

}  // namespace beryl::server
