#include "sources/process_tasks.h"

#include <sys/wait.h>
#include <unistd.h>

#include <ctime>
#include <filesystem>
#include <fstream>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sources/cpu_times.h"

namespace beryl::sources {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

TEST(StatLine, SurvivesAnyName) {
  const StatLine line = ParseStatLine(
      "12 (a) b (c)) R 7 1 1 0 -1 0 0 0 0 0 30 4 5 6 20 0 1 0 100 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 17 "
      "3 0 0");
  ASSERT_TRUE(line.ok);
  EXPECT_EQ(line.name, "a) b (c)");
  EXPECT_EQ(line.state, 'R');
  EXPECT_EQ(line.parent, 7);
  EXPECT_EQ(line.user, 30U);
  EXPECT_EQ(line.system, 4U);
  EXPECT_EQ(line.children_user, 5U);
  EXPECT_EQ(line.children_system, 6U);
  EXPECT_EQ(line.cpu, 3);
}

TEST(StatLine, RefusesWhatIsNone) {
  for (const char* text : {"", "12", "12 (", ") (", "12 (x)", "12 (x) R", "12 (x) R 1 2 3"}) {
    EXPECT_FALSE(ParseStatLine(text).ok) << text;
  }
}

// A /proc of our own.
class StandInProc : public testing::Test {
 protected:
  StandInProc() : root_(testing::TempDir() + fmt::format("proc{}", getpid())) {
    std::filesystem::remove_all(root_);
    std::filesystem::create_directories(root_);
    machine_.procfs = root_;
  }
  ~StandInProc() override { std::filesystem::remove_all(root_); }

  void Write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(root_ + "/" + path).parent_path());
    std::ofstream(root_ + "/" + path) << text;
  }
  static std::string Stat(int pid, int parent, int user, int reaped, int cpu) {
    return fmt::format(
        "{} (work) S {} 1 1 0 -1 0 0 0 0 0 {} 0 {} 0 20 0 1 0 100 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 17 "
        "{} 0 0",
        pid, parent, user, reaped, cpu);
  }
  void WriteThread(int pid, int parent, int tid, int user, uint64_t run_ns, int cpu) {
    const std::string folder = fmt::format("{}/task/{}/", pid, tid);
    Write(folder + "stat", Stat(tid, parent, user, 0, cpu));
    if (schedstat_) Write(folder + "schedstat", fmt::format("{} 0 1", run_ns));
    if (children_) Write(folder + "children", "");
  }

  std::string root_;
  Machine machine_;
  bool schedstat_ = true;
  bool children_ = true;
};

uint64_t RunOf(const ProcessTasks& tasks, uint32_t task) {
  for (const TaskSample& sample : tasks.samples()) {
    if (sample.task == task) return sample.run_ns;
  }
  return 0;
}

TEST_F(StandInProc, TellsThreadsAndWhatTheyUse) {
  Write("10/stat", Stat(10, 1, 5, 0, 0));
  WriteThread(10, 1, 10, 3, 30'000'000, 0);
  WriteThread(10, 1, 11, 2, 20'000'000, 3);
  ProcessTasks tasks(machine_);
  tasks.Add(1, 10, true);
  tasks.Scan(true);
  ASSERT_THAT(tasks.births(), SizeIs(3));  // and the rest
  EXPECT_EQ(tasks.births()[0].tid, 0);
  EXPECT_STREQ(tasks.births()[1].name, "work");
  tasks.Read(false, false);
  EXPECT_THAT(tasks.samples(), SizeIs(2));
  tasks.Read(false, false);
  EXPECT_THAT(tasks.samples(), IsEmpty());
  WriteThread(10, 1, 11, 4, 41'000'000, 2);
  tasks.Read(false, false);
  ASSERT_THAT(tasks.samples(), SizeIs(1));
  EXPECT_EQ(tasks.samples()[0].run_ns, 41'000'000U);
  EXPECT_EQ(tasks.samples()[0].cpu, 2);
  EXPECT_EQ(tasks.cpu_time(), "schedstat");
}

TEST_F(StandInProc, DoesWithJiffiesWhereThereIsNoSchedstat) {
  schedstat_ = false;
  Write("10/stat", Stat(10, 1, 5, 0, 0));
  WriteThread(10, 1, 10, 5, 0, 0);
  ProcessTasks tasks(machine_);
  tasks.Add(1, 10, true);
  tasks.Scan(true);
  tasks.Read(false, false);
  EXPECT_EQ(tasks.cpu_time(), "stat");
  WriteThread(10, 1, 10, 9, 0, 1);
  tasks.Read(false, false);
  ASSERT_THAT(tasks.samples(), SizeIs(1));
  EXPECT_EQ(tasks.samples()[0].run_ns, 90'000'000U);
}

TEST_F(StandInProc, FindsChildrenWithAndWithoutTheirFile) {
  for (const bool with_file : {true, false}) {
    std::filesystem::remove_all(root_);
    children_ = with_file;
    Write("10/stat", Stat(10, 1, 0, 0, 0));
    WriteThread(10, 1, 10, 0, 1, 0);
    Write("20/stat", Stat(20, 10, 0, 0, 0));
    WriteThread(20, 10, 20, 0, 1, 0);
    Write("30/stat", Stat(30, 20, 0, 0, 0));
    WriteThread(30, 20, 30, 0, 1, 0);
    Write("40/stat", Stat(40, 1, 0, 0, 0));
    WriteThread(40, 1, 40, 0, 1, 0);
    if (with_file) Write("10/task/10/children", "20 ");
    if (with_file) Write("20/task/20/children", "30 ");
    ProcessTasks tasks(machine_);
    tasks.Add(1, 10, true);
    for (int i = 0; i < 3; ++i) tasks.Scan(true);  // without the file a generation at a time
    EXPECT_THAT(tasks.pids(), testing::ElementsAre(10, 20, 30)) << with_file;
  }
}

TEST_F(StandInProc, WhatCameAndWentUnseenIsTheRest) {
  Write("10/stat", Stat(10, 1, 100, 50, 1));
  WriteThread(10, 1, 10, 10, 100'000'000, 0);
  ProcessTasks tasks(machine_);
  tasks.Add(1, 10, true);
  tasks.Scan(true);
  const uint32_t rest = tasks.births()[0].task;
  tasks.Read(true, false);
  EXPECT_EQ(RunOf(tasks, rest), 0U);  // what was before we came is not ours
  // Half a second of threads that are gone, and one of children that were waited for.
  Write("10/stat", Stat(10, 1, 100 + 60, 50 + 100, 1));
  WriteThread(10, 1, 10, 20, 200'000'000, 0);
  tasks.Read(false, false);
  EXPECT_EQ(RunOf(tasks, rest), 1'480'000'000U);  // but for two jiffies of rounding
}

TEST_F(StandInProc, AChildThatWasSeenIsNotCountedAgainWhenItEnds) {
  Write("10/stat", Stat(10, 1, 0, 0, 0));
  WriteThread(10, 1, 10, 0, 0, 0);
  Write("20/stat", Stat(20, 10, 100, 0, 0));
  WriteThread(20, 10, 20, 100, 1'000'000'000, 0);
  Write("10/task/10/children", "20");
  ProcessTasks tasks(machine_);
  tasks.Add(1, 10, true);
  tasks.Scan(true);
  const uint32_t rest = tasks.births()[0].task;
  tasks.Read(true, false);
  // It ends and is waited for; files that are held open go as they do in /proc.
  Write("20/stat", "");
  Write("20/task/20/stat", "");
  Write("20/task/20/schedstat", "");
  Write("10/task/10/children", "");
  Write("10/stat", Stat(10, 1, 0, 130, 0));
  tasks.Read(true, false);
  tasks.Read(true, false);
  EXPECT_EQ(RunOf(tasks, rest), 280'000'000U);  // what it used after it was last seen
  EXPECT_THAT(tasks.pids(), testing::ElementsAre(10));
  EXPECT_TRUE(tasks.IsAlive(1));
  tasks.Remove(1);
  EXPECT_FALSE(tasks.IsAlive(1));
}

TEST(ProcessTasks, ReadsThisProcess) {
  ProcessTasks tasks{Machine()};
  tasks.Add(0, getpid(), false);
  tasks.Scan(false);
  ASSERT_THAT(tasks.births(), SizeIs(testing::Ge(2)));
  tasks.Read(true, false);
  const clock_t start = clock();
  while (clock() - start < CLOCKS_PER_SEC / 10) {
  }
  uint64_t before = 0;
  for (const TaskSample& sample : tasks.samples()) before += sample.run_ns;
  tasks.Read(true, false);
  uint64_t after = 0;
  for (const TaskSample& sample : tasks.samples()) after += sample.run_ns;
  EXPECT_GE(after - before, 50'000'000U);
}

TEST(ProcessTasks, AShortChildIsNotLost) {
  const pid_t parent = fork();
  if (parent == 0) {
    for (int i = 0; i < 3; ++i) {
      const pid_t child = fork();
      if (child == 0) {
        const clock_t start = clock();
        while (clock() - start < CLOCKS_PER_SEC / 10) {
        }
        _exit(0);
      }
      waitpid(child, nullptr, 0);
    }
    for (;;) pause();
  }
  ProcessTasks tasks{Machine()};
  tasks.Add(1, parent, true);
  tasks.Scan(true);
  uint64_t most = 0;
  // Nothing is scanned again: none of the later children is ever seen.
  for (int i = 0; i < 1000 && most < 150'000'000; ++i) {
    tasks.Read(true, false);
    uint64_t all = 0;
    for (const TaskSample& sample : tasks.samples()) all += sample.run_ns;
    most = std::max(most, all);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  kill(parent, SIGKILL);
  waitpid(parent, nullptr, 0);
  EXPECT_GE(most, 150'000'000U);
}

TEST_F(StandInProc, CpuTimesCountGuestTimeOnceAndNotWhatWasStolen) {
  Write("stat",
        "cpu  1 2 3 4 5 6 7 8 9 10\ncpu0 100 20 30 400 50 6 7 80 90 10\ncpu2 1 0 0 0 0 0 0 0 0 0\n"
        "intr 5 4 3\nprocesses 4711\n");
  machine_.sysfs = root_ + "/sys";
  Write("sys/devices/system/cpu/cpu2/topology/physical_package_id", "1\n");
  CpuTimes times(machine_);
  ASSERT_TRUE(times.Read());
  ASSERT_THAT(times.cpus(), SizeIs(2));
  EXPECT_EQ(BusyNanos(times.cpus()[0]), 1'630'000'000U);
  EXPECT_EQ(times.cpus()[1].cpu, 2);
  EXPECT_EQ(times.cpus()[1].package, 1);
  EXPECT_EQ(times.forks(), 4711U);
  EXPECT_THAT(times.packages(), testing::ElementsAre(0, 0, 1));
}

}  // namespace
}  // namespace beryl::sources
