#include "account/cpu_use.h"

#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "account/recording_testing.h"

namespace beryl::account {
namespace {

constexpr double kMs = 1e6;

double OursIn(const CpuUse& use, size_t window, size_t column = 0) {
  return use.cells[window * use.columns() + column].ours / kMs;
}

TEST(CpuUseTest, WindowsAreAtLeastATenthOfASecondAndCoverAll) {
  TestRecording test({0});
  for (int64_t at = 0; at <= 470; at += 20) test.Sample(at);
  const CpuUse use = CountCpuUse(test.recording().activity);
  ASSERT_EQ(use.windows(), 4U);
  EXPECT_EQ(use.edges.front(), test.recording().activity.times.front());
  EXPECT_EQ(use.edges.back(), test.recording().activity.times.back());
  for (size_t i = 0; i < 4; ++i) EXPECT_GE((use.edges[i + 1] - use.edges[i]).value, 100 * kMilli);
}

TEST(CpuUseTest, ATaskThatWasThereBeforeCountsFromItsFirstReading) {
  TestRecording test({0});
  const uint32_t task = test.AddTask(7, TaskOwner::kWatched, 5'000'000'000);
  test.Sample(0);
  test.Run(task, 0, 30);
  test.Sample(100);
  EXPECT_DOUBLE_EQ(OursIn(CountCpuUse(test.recording().activity), 0), 30);
}

TEST(CpuUseTest, ATaskThatIsBornCountsFromItsBirth) {
  TestRecording test({0});
  test.Sample(0);
  test.Run(test.AddTask(7), 0, 30);
  test.Sample(100);
  const CpuUse use = CountCpuUse(test.recording().activity);
  EXPECT_DOUBLE_EQ(OursIn(use, 0), 30);
  EXPECT_DOUBLE_EQ(use.processes[0].cpu_time.value, 0.030);
}

TEST(CpuUseTest, ATaskThatIsFoundLateIsNoneThatWasBorn) {
  TestRecording test({0});
  test.Sample(0);
  test.AddTask(7, TaskOwner::kWatched, 60'000'000'000);
  test.Sample(100);
  EXPECT_DOUBLE_EQ(OursIn(CountCpuUse(test.recording().activity), 0), 0);
}

TEST(CpuUseTest, AProcessHasTheNameOfTheProgramThatItRanLast) {
  TestRecording test({0});
  const uint32_t main = test.AddTask(7);
  std::vector<Task>& tasks = test.recording().activity.tasks;
  tasks.front().tid = 7;
  tasks.front().name = "sh";
  tasks.push_back({7, 8, "a thread", TaskOwner::kWatched});
  tasks.push_back({7, 7, "python3", TaskOwner::kWatched});
  test.Sample(0);
  test.Run(main, 0, 30);
  test.Sample(100);
  const CpuUse use = CountCpuUse(test.recording().activity);
  ASSERT_EQ(use.processes.size(), 1U);
  EXPECT_EQ(use.processes[0].name, "python3");
  EXPECT_EQ(use.processes[0].threads, 2U) << "a new name is no new thread";
  EXPECT_DOUBLE_EQ(use.processes[0].cpu_time.value, 0.030);
}

// The released code moves a thread's whole window to the newest CPU.
TEST(CpuUseTest, ATaskThatMovesIsHalfOnEach) {
  TestRecording test({0, 1});
  const uint32_t task = test.AddTask(7);
  test.Sample(0);
  test.Run(task, 1, 80);
  test.Sample(100);
  const CpuUse use = CountCpuUse(test.recording().activity);
  EXPECT_DOUBLE_EQ(OursIn(use, 0, 0), 40);
  EXPECT_DOUBLE_EQ(OursIn(use, 0, 1), 40);
  EXPECT_DOUBLE_EQ(OursIn(use, 0, 2), 80) << "all packages";
}

TEST(CpuUseTest, WhatDoesNotFitWasOnTheOtherCpu) {
  TestRecording test({0, 1});
  const uint32_t stays = test.AddTask(7);
  const uint32_t moves = test.AddTask(8);
  test.Run(stays, 1, 1);
  test.Sample(0);
  test.Run(stays, 1, 90);
  test.Run(moves, 1, 60);
  test.Sample(100);
  const CpuUse use = CountCpuUse(test.recording().activity);
  EXPECT_DOUBLE_EQ(OursIn(use, 0, 0), 50);
  EXPECT_DOUBLE_EQ(OursIn(use, 0, 1), 100);
}

// The released code clips one by one, so that shares of a CPU can exceed 1.
TEST(CpuUseTest, AllOnACpuAreCutByTheSameFactor) {
  TestRecording test({0});
  const uint32_t ours = test.AddTask(7);
  const uint32_t recorder = test.AddTask(8, TaskOwner::kRecorder);
  test.Sample(0);
  test.Run(ours, 0, 150);
  test.Run(recorder, 0, 50);
  test.Sample(100);
  const CpuUse use = CountCpuUse(test.recording().activity);
  EXPECT_DOUBLE_EQ(use.cells[0].ours / kMs, 75);
  EXPECT_DOUBLE_EQ(use.cells[0].recorder / kMs, 25);
  EXPECT_DOUBLE_EQ(use.cells[0].busy / kMs, 100);
}

// Times step by a tick: 104 ms in one window is 4 ms that the one before it lacks.
TEST(CpuUseTest, TicksDoNotLoseTime) {
  TestRecording test({0});
  const uint32_t task = test.AddTask(7);
  test.Sample(0);
  for (int64_t i = 1; i <= 50; ++i) {
    test.Run(task, 0, i % 2 == 0 ? 96 : 104);
    test.Sample(i * 100);
  }
  const CpuUse use = CountCpuUse(test.recording().activity);
  for (size_t i = 0; i < 50; ++i) EXPECT_DOUBLE_EQ(OursIn(use, i), 100);
}

// A CPU counts its time in ticks, a task to the nanosecond: what the one lacks in a window it has
// too much of in the next.
TEST(CpuUseTest, ATaskAloneOnACpuIsAllThatRan) {
  std::mt19937_64 random(9);
  TestRecording test({0});
  const uint32_t task = test.AddTask(7);
  test.Sample(0);
  for (int64_t at = 100; at <= 20'000; at += 100) {
    test.Run(task, 0, 10);
    test.Busy(0, random() % 2 == 0 ? 0 : 20);
    test.Sample(at);
  }
  const CpuUse use = CountCpuUse(test.recording().activity);
  double ours = 0;
  double busy = 0;
  for (size_t window = 0; window < use.windows(); ++window) {
    ours += use.cells[window * use.columns()].ours;
    busy += use.cells[window * use.columns()].busy;
  }
  EXPECT_NEAR(ours / kMs, 2000, 1e-6);
  EXPECT_GT(ours / busy, 0.93);
}

// Whatever the ticks do, over the run a CPU is as busy as it says, to a few of them.
TEST(CpuUseTest, TicksMakeNoTimeAndLoseNone) {
  std::mt19937_64 random(10);
  for (int round = 0; round < 50; ++round) {
    TestRecording test({0});
    const uint32_t task = test.AddTask(7);
    int64_t ran = 0;
    int64_t told = 0;
    test.Sample(0);
    for (int64_t at = 100; at <= 5000; at += 100) {
      const auto busy = static_cast<int64_t>(random() % 90);
      ran += busy;
      test.Run(task, 0, busy * 9 / 10);
      const int64_t ticks = (ran + static_cast<int64_t>(random() % 10)) / 10 * 10;
      test.Busy(0, std::max<int64_t>(0, ticks - told));
      told = std::max(told, ticks);
      test.Sample(at);
    }
    const CpuUse use = CountCpuUse(test.recording().activity);
    double busy = 0;
    for (size_t window = 0; window < use.windows(); ++window) {
      const CpuUse::Cell& cell = use.cells[window * use.columns()];
      EXPECT_GE(cell.busy, cell.ours);
      busy += cell.busy;
    }
    EXPECT_NEAR(busy / kMs, static_cast<double>(told), 40);
  }
}

TEST(CpuUseTest, ACpuThatIsOffLineHasNoTime) {
  TestRecording test({0, 0, 0, 1});
  test.SetBusy(1, 0);
  test.SetBusy(2, 0);
  const uint32_t task = test.AddTask(7);
  test.Sample(0);
  test.Run(task, 0, 30);
  test.Sample(100);
  test.SetBusy(2, 3'600'000'000'000);  // comes on line with all that it ever did
  test.Sample(200);
  test.Busy(2, 40);
  test.Sample(300);
  const CpuUse use = CountCpuUse(test.recording().activity);
  ASSERT_EQ(use.windows(), 3U);
  EXPECT_DOUBLE_EQ(use.cells[0].capacity / kMs, 200) << "CPUs 0 and 2, but not 1";
  EXPECT_DOUBLE_EQ(use.cells[use.columns()].busy / kMs, 0);
  EXPECT_DOUBLE_EQ(use.cells[2 * use.columns()].busy / kMs, 40);
}

// Half on each would be 40 ms on a CPU that says it was idle.
TEST(CpuUseTest, ATaskThatMovesWasWhereTheCpuWasBusy) {
  TestRecording test({0, 1});
  const uint32_t task = test.AddTask(7);
  test.Sample(0);
  test.Run(task, 1, 80);
  test.Busy(1, 80);
  test.Sample(100);
  const CpuUse use = CountCpuUse(test.recording().activity);
  EXPECT_DOUBLE_EQ(OursIn(use, 0, 0), 10) << "a jiffy may be missing";
  EXPECT_DOUBLE_EQ(OursIn(use, 0, 1), 70);
}

TEST(CpuUseTest, WithoutTwoSamplesNothingIsKnown) {
  TestRecording test({0});
  EXPECT_EQ(CountCpuUse(test.recording().activity).windows(), 0U);
  test.Run(test.AddTask(7), 0, 5);
  test.Sample(0);
  EXPECT_EQ(CountCpuUse(test.recording().activity).windows(), 0U);
  EXPECT_EQ(CountCpuUse({}).windows(), 0U);
}

// Whatever is read, no CPU is used more than it has time, and parts make the whole.
TEST(CpuUseTest, SharesNeverExceedOne) {
  std::mt19937_64 random(4);
  for (int round = 0; round < 200; ++round) {
    TestRecording test({0, 0, 1, 1});
    std::vector<uint32_t> tasks;
    int64_t now = 0;
    for (int sample = 0; sample < 30; ++sample) {
      if (tasks.empty() || random() % 5 == 0) {
        tasks.push_back(test.AddTask(static_cast<int32_t>(random() % 4),
                                     random() % 4 == 0 ? TaskOwner::kRecorder : TaskOwner::kWatched,
                                     random() % 2 == 0 ? 0 : random() % 1'000'000'000));
      }
      for (const uint32_t task : tasks) {
        if (random() % 3 == 0) continue;
        test.Run(task, static_cast<uint16_t>(random() % 4), static_cast<int64_t>(random() % 60));
      }
      for (size_t cpu = 0; cpu < 4; ++cpu) test.Busy(cpu, static_cast<int64_t>(random() % 4 * 10));
      test.Sample(now);
      now += 1 + static_cast<int64_t>(random() % 40);
    }
    const CpuUse use = CountCpuUse(test.recording().activity);
    for (size_t window = 0; window < use.windows(); ++window) {
      const double wall = static_cast<double>((use.edges[window + 1] - use.edges[window]).value);
      std::vector<double> parts(2);
      for (size_t i = use.first_part[window]; i < use.first_part[window + 1]; ++i) {
        parts[use.parts[i].package] += use.parts[i].ns;
      }
      for (size_t column = 0; column < 2; ++column) {
        const CpuUse::Cell& cell = use.cells[window * use.columns() + column];
        EXPECT_DOUBLE_EQ(cell.capacity, 2 * wall);
        EXPECT_LE(cell.busy, cell.capacity);
        EXPECT_LE(cell.ours + cell.recorder, cell.busy * (1 + 1e-12));
        EXPECT_NEAR(parts[column], cell.ours + cell.recorder, 1);
      }
    }
  }
}

}  // namespace
}  // namespace beryl::account
