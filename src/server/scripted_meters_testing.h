// Meters that read what a test tells them to.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "server/meters.h"

namespace beryl::server {

// One package whose counter goes up by a joule at every reading; half of it is ours.
class ScriptedBook final : public SessionBook {
 public:
  explicit ScriptedBook(BookOptions options) : options_(std::move(options)) {}

  void OnPower(Nanos time, std::span<const sources::MeterReading> readings) override {
    if (!readings.empty()) joules_ += 1;
    PowerChannel& channel = pending_.channels.front();
    channel.times.push_back(time);
    channel.values.push_back(joules_);
  }
  void OnTaskBirth(const sources::TaskBirth& birth) override { births.push_back(birth.tid); }
  void OnActivity(Nanos, std::span<const sources::CpuJiffies>,
                  std::span<const sources::TaskSample>) override {}
  void OnFeatures(Nanos, std::span<const double>) override {}
  void OnMissed(Nanos, uint64_t) override {}

  Result<PowerTrace> Write() override {
    written_ = joules_;
    const std::lock_guard lock(mutex_);
    bytes_ += "w";
    return std::exchange(pending_, Empty());
  }
  void OpenWindow(uint64_t window, Nanos) override { opened_[window] = written_; }
  void EndWindow(uint64_t, Nanos) override {}
  std::vector<LiveDevice> CloseWindow(uint64_t window) override {
    const double used = written_ - opened_[window];
    return {{"CPU:0", Origin::kMeasured, "scripted", Joules{used}, Joules{used / 2}}};
  }
  Result<bool> AddWindow(const RunWindow& window) override {
    windows.push_back(window);
    return true;
  }
  Result<bool> Finish(Nanos, const std::string& why) override {
    const std::lock_guard lock(mutex_);
    bytes_ += "." + why;
    return true;
  }
  std::vector<LiveChannel> channels() const override {
    LiveChannel live;
    live.channel.name = "CPU:0";
    live.channel.scope = ChannelScope::kPackage;
    live.channel.kind = ChannelKind::kEnergyCounter;
    live.channel.meter.source = "scripted";
    live.energy = Joules{written_};
    live.power = Watts{42};
    return {live};
  }
  std::vector<LiveDevice> devices() const override {
    return {{"CPU:0", Origin::kMeasured, "scripted", Joules{written_}, Joules{written_ / 2}}};
  }
  uint64_t bytes() const override {
    const std::lock_guard lock(mutex_);
    return bytes_.size();
  }
  Result<size_t> ReadFile(uint64_t offset, std::span<char> buffer) const override {
    const std::lock_guard lock(mutex_);
    if (offset >= bytes_.size()) return size_t{0};
    return bytes_.copy(buffer.data(), buffer.size(), offset);
  }
  Result<std::string> Measure() const override { return std::string("{\"seconds\":1}"); }

  std::vector<RunWindow> windows;
  std::vector<int32_t> births;

 private:
  static PowerTrace Empty() {
    PowerTrace trace;
    trace.channels.resize(1);
    trace.channels.front().name = "CPU:0";
    return trace;
  }

  BookOptions options_;
  PowerTrace pending_ = Empty();
  double joules_ = 0;
  double written_ = 0;
  std::map<uint64_t, double> opened_;
  mutable std::mutex mutex_;
  std::string bytes_ = "beryl";
};

// Every Drain gives what was put in since.
class ScriptedMeters final : public Meters {
 public:
  ScriptedMeters() {
    PowerChannel package;
    package.name = "CPU:0";
    package.scope = ChannelScope::kPackage;
    package.kind = ChannelKind::kEnergyCounter;
    package.meter.source = "rapl-powercap";
    package.meter.per_count = 1e-6;
    package.meter.wrap = 1000;
    channels_.push_back(package);
  }

  Result<bool> Start(Nanos period, Nanos longest_activity) override {
    const std::lock_guard lock(mutex_);
    running_ = true;
    longest_activity_ = longest_activity;
    ++starts_;
    period_ = period;
    return true;
  }
  void Stop() override {
    const std::lock_guard lock(mutex_);
    running_ = false;
    watches_.clear();
  }
  void ReadNow() override {
    const std::lock_guard lock(mutex_);
    ++reads_now_;
  }
  void SetPeriod(Nanos period) override {
    const std::lock_guard lock(mutex_);
    period_ = period;
  }
  Result<sources::WatchId> Watch(int32_t pid) override {
    const std::lock_guard lock(mutex_);
    watches_[next_watch_] = pid;
    births_.push_back({next_task_++, next_watch_, pid, pid, "work"});
    return next_watch_++;
  }
  void Unwatch(sources::WatchId watch) override {
    const std::lock_guard lock(mutex_);
    watches_.erase(watch);
  }
  size_t Drain(sources::SampleSink& sink) override {
    std::vector<Step> steps;
    std::vector<sources::TaskBirth> births;
    {
      const std::lock_guard lock(mutex_);
      steps.swap(steps_);
      births.swap(births_);
    }
    for (const sources::TaskBirth& birth : births) sink.OnTaskBirth(birth);
    for (const Step& step : steps) {
      sink.OnPower(step.time, step.readings);
      sink.OnActivity(step.time, step.cpus, step.tasks);
    }
    return steps.size();
  }
  Result<std::unique_ptr<SessionBook>> NewBook(const BookOptions& options) override {
    return std::unique_ptr<SessionBook>(std::make_unique<ScriptedBook>(options));
  }
  std::unique_ptr<SessionBook> NewGauge() override {
    return std::make_unique<ScriptedBook>(BookOptions{});
  }
  SamplerCost cost() const override { return {}; }
  Nanos Now() const override {
    const std::lock_guard lock(mutex_);
    return Nanos{1'700'000'000'000'000'000 + static_cast<int64_t>(count_) * 1'000'000};
  }
  const std::vector<PowerChannel>& channels() const override { return channels_; }
  const std::string& report() const override { return report_; }
  const std::string& machine() const override { return machine_; }

  // For tests.
  struct Step {
    Nanos time;
    std::vector<sources::MeterReading> readings;
    std::vector<sources::CpuJiffies> cpus;
    std::vector<sources::TaskSample> tasks;
  };
  void Put(Step step) {
    const std::lock_guard lock(mutex_);
    steps_.push_back(std::move(step));
  }
  // `count` readings of one more microjoule each, a millisecond apart.
  void Tick(int count) {
    for (int i = 0; i < count; ++i) {
      const std::lock_guard lock(mutex_);
      ++count_;
      Step step;
      step.time = Nanos{1'700'000'000'000'000'000 + static_cast<int64_t>(count_) * 1'000'000};
      step.readings = {{sources::ReadState::kOk, count_ % 1000}};
      steps_.push_back(std::move(step));
    }
  }
  // Time passes without a reading.
  void Skip(uint64_t milliseconds) {
    const std::lock_guard lock(mutex_);
    count_ += milliseconds;
  }
  bool running() const { return Locked(running_); }
  int starts() const { return Locked(starts_); }
  Nanos period() const { return Locked(period_); }
  Nanos longest_activity() const { return Locked(longest_activity_); }
  int reads_now() const { return Locked(reads_now_); }
  size_t watches() const {
    const std::lock_guard lock(mutex_);
    return watches_.size();
  }
  std::vector<PowerChannel>& mutable_channels() { return channels_; }

 private:
  template <typename T>
  T Locked(const T& value) const {
    const std::lock_guard lock(mutex_);
    return value;
  }

  mutable std::mutex mutex_;
  bool running_ = false;
  int starts_ = 0;
  int reads_now_ = 0;
  Nanos period_;
  Nanos longest_activity_;
  sources::WatchId next_watch_ = 1;
  uint32_t next_task_ = 0;
  uint64_t count_ = 0;
  std::map<sources::WatchId, int32_t> watches_;
  std::vector<sources::TaskBirth> births_;
  std::vector<Step> steps_;
  std::vector<PowerChannel> channels_;
  std::string report_ = "{\"schema\":\"beryl.sources/1\"}";
  std::string machine_ = "testbox";
};

}  // namespace beryl::server
