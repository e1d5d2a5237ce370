#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sources/recorder.h"

namespace beryl::sources {
namespace {

// A counter that grows by a microjoule a microsecond, one watt, in steps.
class SteadyWatt final : public PowerSource {
 public:
  SteadyWatt() {
    PowerChannel channel;
    channel.name = "CPU:0";
    channel.scope = ChannelScope::kPackage;
    channel.kind = ChannelKind::kEnergyCounter;
    channel.meter.per_count = 1e-6;
    channels_.push_back(channel);
  }
  const std::vector<PowerChannel>& channels() const override { return channels_; }
  void Read(std::span<MeterReading> out) override {
    const auto now = std::chrono::steady_clock::now() - start_;
    out[0] = {
        ReadState::kOk,
        static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(now).count())};
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::vector<PowerChannel> channels_;
};

class Constant final : public FeatureSource {
 public:
  Constant() : columns_({{"mem_usg", "", {}}}) {}
  const std::vector<FeatureColumn>& columns() const override { return columns_; }
  void Read(std::span<const int32_t> watched, std::span<double> out) override {
    out[0] = static_cast<double>(watched.size());
  }

 private:
  std::vector<FeatureColumn> columns_;
};

Discovery OneWatt() {
  Discovery discovery;
  discovery.power.push_back(std::make_unique<SteadyWatt>());
  discovery.features.push_back(std::make_unique<Constant>());
  discovery.channels = discovery.power[0]->channels();
  return discovery;
}

void SpinUntil(const std::function<bool()>& done) {
  for (int i = 0; i < 2000 && !done(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

TEST(SamplerThread, WhatIsRecordedIsWhatWasUsed) {
  Discovery discovery = OneWatt();
  Sampler sampler(Machine(), discovery, {.period = Nanos{1'000'000}});
  const auto watch = sampler.Watch(getpid());
  ASSERT_TRUE(watch);
  Recorder recorder(BlankPiece(discovery, sampler), {{*watch}, Nanos{0}});
  ASSERT_TRUE(sampler.Start());
  SpinUntil([&] { return sampler.cost().ticks > 100; });
  sampler.Stop();
  sampler.Drain(recorder);
  const RecordingPiece piece = recorder.Finish();
  const PowerChannel& channel = piece.power.channels.at(0);
  ASSERT_GE(channel.times.size(), 20U);
  const double seconds = (channel.times.back() - channel.times.front()).seconds();
  EXPECT_NEAR(channel.values.back() / seconds, 1, 0.2);
  const ActivityTrace& activity = piece.recording.activity;
  ASSERT_GE(activity.times.size(), 2U);
  EXPECT_EQ(activity.first_reading.size(), activity.times.size() + 1);
  EXPECT_EQ(activity.busy_ns.size(), activity.times.size() * activity.cpus());
  bool watched = false;
  bool recording = false;
  for (const Task& task : activity.tasks) {
    (task.owner == TaskOwner::kWatched ? watched : recording) = true;
  }
  EXPECT_TRUE(recording);
  EXPECT_FALSE(watched) << "what measures is not ours, even if it is watched";
  for (const TaskReading& reading : activity.readings) {
    ASSERT_LT(reading.task, activity.tasks.size());
  }
  ASSERT_FALSE(piece.recording.features.times.empty());
  EXPECT_EQ(piece.recording.features.columns.at(0).values.back(), 1);
  const SamplerCost cost = sampler.cost();
  EXPECT_GT(cost.cpu_time, Seconds{});
  EXPECT_GT(cost.resident_bytes, 0U);
  EXPECT_GE(*cost.late_max_us, *cost.late_p99_us * 0.8);
}

TEST(SamplerThread, ARecorderThatComesLaterStartsFromThere) {
  Discovery discovery = OneWatt();
  Sampler sampler(Machine(), discovery, {});
  ASSERT_TRUE(sampler.Start());
  SpinUntil([&] { return sampler.cost().ticks > 10; });
  const auto watch = sampler.Watch(getpid());
  ASSERT_TRUE(watch);
  Recorder recorder(BlankPiece(discovery, sampler), {{*watch}, Nanos{20'000'000}});
  const uint64_t from = sampler.cost().ticks;
  SpinUntil([&] { return sampler.cost().ticks > from + 30; });
  sampler.Unwatch(*watch);
  sampler.Stop();
  sampler.Drain(recorder);
  const ActivityTrace activity = recorder.Finish().recording.activity;
  ASSERT_FALSE(activity.times.empty());
  // All tasks that were there are in the first sample.
  std::vector<bool> first(activity.tasks.size(), false);
  for (size_t i = 0; i < activity.first_reading[1]; ++i) first[activity.readings[i].task] = true;
  size_t recorder_tasks = 0;
  for (size_t i = 0; i < activity.tasks.size(); ++i) {
    if (activity.tasks[i].owner != TaskOwner::kRecorder) continue;
    ++recorder_tasks;
    EXPECT_TRUE(first[i]);
  }
  EXPECT_GE(recorder_tasks, 2U);
}

TEST(SamplerThread, ManyWatchesComeAndGo) {
  Discovery discovery = OneWatt();
  Sampler sampler(Machine(), discovery, {});
  ASSERT_TRUE(sampler.Start());
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 50; ++round) {
        const auto watch = sampler.Watch(getpid());
        if (watch) sampler.Unwatch(*watch);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  Recorder recorder(BlankPiece(discovery, sampler), {{}, Nanos{0}});
  SpinUntil([&] { return sampler.cost().ticks > 5; });
  sampler.Drain(recorder);
  sampler.Stop();
}

struct CountingSink final : SampleSink {
  void OnPower(Nanos time, std::span<const MeterReading> /*readings*/) override {
    ++powers;
    last = time;
  }
  void OnTaskBirth(const TaskBirth& birth) override { births.push_back(birth.pid); }
  void OnActivity(Nanos /*time*/, std::span<const CpuJiffies> /*cpus*/,
                  std::span<const TaskSample> /*tasks*/) override {
    ++activities;
  }
  void OnFeatures(Nanos /*time*/, std::span<const double> /*values*/) override {}
  void OnMissed(Nanos /*time*/, uint64_t /*ticks*/) override {}
  void OnTasksEnded(std::span<const uint32_t> tasks) override { ended += tasks.size(); }
  int powers = 0;
  int activities = 0;
  size_t ended = 0;
  Nanos last;
  std::vector<int32_t> births;
};

size_t EntriesOf(const char* folder) {
  return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
}
size_t OpenDescriptors() { return EntriesOf("/proc/self/fd"); }

// Six sessions of a program with many threads: as many files as one, and none beyond the limit.
TEST(SamplerThread, ManySessionsOfManyThreadsTakeAFewFiles) {
  constexpr int kThreads = 60;
  std::atomic<bool> over = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      while (!over) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    });
  }
  for (const size_t most : {size_t{1000}, size_t{20}}) {
    Discovery discovery = OneWatt();
    SamplerOptions options;
    options.limits.tasks_of_user = most;
    Sampler sampler(Machine(), discovery, options);
    ASSERT_TRUE(sampler.Start());
    sampler.ReadNow();
    const size_t before = OpenDescriptors();
    for (int i = 0; i < 6; ++i) ASSERT_TRUE(sampler.Watch(getpid(), {geteuid(), true}));
    // With the sampler, us, what a sanitizer starts, and the sum of the process.
    const size_t tasks = std::min(most, EntriesOf("/proc/self/task") + 1);
    SpinUntil([&] { return sampler.tasks_of_users()[geteuid()] >= tasks; });
    sampler.ReadNow();
    EXPECT_EQ(sampler.tasks_of_users()[geteuid()], tasks);
    // Those that are beyond it are in the sum of their process: the first is a process.
    // And perhaps a folder that is being read.
    EXPECT_LE(OpenDescriptors(), before + 2 * tasks - 1 + 4);
    sampler.Stop();
  }
  over = true;
  for (std::thread& thread : threads) thread.join();
}

TEST(SamplerThread, ReadsAtOnceWhenAsked) {
  Discovery discovery = OneWatt();
  Sampler sampler(Machine(), discovery, {.period = Nanos{600'000'000'000}});
  ASSERT_TRUE(sampler.Start());
  sampler.ReadNow();
  CountingSink sink;
  sampler.Drain(sink);
  for (int i = 0; i < 5; ++i) {
    const Nanos asked = sampler.Now();
    const CountingSink before = sink;
    sampler.ReadNow();
    sampler.Drain(sink);
    EXPECT_GT(sink.powers, before.powers);
    EXPECT_GT(sink.activities, before.activities);
    EXPECT_GE(sink.last, asked);
  }
}

TEST(SamplerThread, TellsWhichTasksHaveEnded) {
  Discovery discovery = OneWatt();
  Sampler sampler(Machine(), discovery, {});
  ASSERT_TRUE(sampler.Start());
  const auto watch = sampler.Watch(getpid());
  ASSERT_TRUE(watch);
  CountingSink sink;
  SpinUntil([&] {
    sampler.ReadNow();
    sampler.Drain(sink);
    return std::count(sink.births.begin(), sink.births.end(), getpid()) > 1;
  });
  EXPECT_EQ(sink.ended, 0u);
  sampler.Unwatch(*watch);
  SpinUntil([&] {
    sampler.ReadNow();
    sampler.Drain(sink);
    return sink.ended > 1;
  });
  EXPECT_GT(sink.ended, 1u);
}

TEST(SamplerThread, TasksAreReadBetweenTicksThatAreFarApart) {
  Discovery discovery = OneWatt();
  Sampler sampler(Machine(), discovery, {.period = Nanos{10'000'000'000}});
  ASSERT_TRUE(sampler.Start());
  CountingSink sink;
  SpinUntil([&] {
    sampler.Drain(sink);
    return sink.activities >= 3;
  });
  EXPECT_GE(sink.activities, 3);
  EXPECT_EQ(sink.powers, 1);
}

TEST(Sampler, CountersAreReadBeforeTheyCanWrapTwice) {
  Discovery discovery = OneWatt();
  discovery.channels[0].meter.wrap = 65'532'610'987;
  Sampler sampler(Machine(), discovery, {.period = Nanos{600'000'000'000}});
  EXPECT_LE(sampler.period().seconds(), 33);
  sampler.SetPeriod(Nanos{4'000'000});
  EXPECT_EQ(sampler.period(), Nanos{4'000'000});
}

TEST(Sampler, RefusesAProcessThatIsNotThere) {
  Discovery discovery = OneWatt();
  Sampler sampler(Machine(), discovery, {});
  const auto watch = sampler.Watch(0x3FFFFFFF);
  ASSERT_FALSE(watch);
  EXPECT_THAT(watch.error().message, testing::HasSubstr("no such process"));
}

}  // namespace
}  // namespace beryl::sources
