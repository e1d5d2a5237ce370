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
  EXPECT_DOUBLE_EQ(use.processes[0].cpu_s, 0.030);
}

TEST(CpuUseTest, ATaskThatIsFoundLateIsNoneThatWasBorn) {
  TestRecording test({0});
  test.Sample(0);
  test.AddTask(7, TaskOwner::kWatched, 60'000'000'000);
  test.Sample(100);
  EXPECT_DOUBLE_EQ(OursIn(CountCpuUse(test.recording().activity), 0), 0);
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
