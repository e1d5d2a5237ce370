#include "sources/process_tasks.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>
#include <utility>

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
  // Of process 10 and its children, as far as they are written.
  ProcessTasks Watched() const {
    ProcessTasks tasks(machine_);
    tasks.Add(1, 10, true);
    tasks.Scan(true);
    return tasks;
  }
  static std::string Stat(int pid, int parent, int user, int reaped, int cpu) {
    return fmt::format(
        "{} (work) S {} 1 1 0 -1 0 0 0 0 0 {} 0 {} 0 20 0 1 0 100 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 17 "
        "{} 0 0",
        pid, parent, user, reaped, cpu);
  }
  static std::string StatusOf(int uid) {
    return fmt::format("Name:\twork\nUid:\t{0}\t{0}\t{0}\t{0}\nGid:\t0\n", uid);
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
  ProcessTasks tasks = Watched();
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

TEST_F(StandInProc, AProcessThatRunsAnotherProgramIsToldAgain) {
  const auto write = [&](const std::string& name, uint64_t run_ns) {
    std::string stat = Stat(10, 1, 5, 0, 0);
    stat.replace(stat.find("work"), 4, name);
    Write("10/stat", stat);
    Write("10/task/10/stat", stat);
    Write("10/task/10/schedstat", fmt::format("{} 0 1", run_ns));
  };
  write("sh", 1);
  ProcessTasks tasks = Watched();
  ASSERT_THAT(tasks.births(), SizeIs(2));  // the rest, and its only thread
  const uint32_t task = tasks.births()[1].task;
  EXPECT_STREQ(tasks.births()[1].name, "sh");
  tasks.Read(false, false);
  EXPECT_THAT(tasks.births(), IsEmpty());
  write("python3 with a long name", 2);
  tasks.Read(false, false);
  ASSERT_THAT(tasks.births(), SizeIs(1));
  EXPECT_EQ(tasks.births()[0].task, task);
  EXPECT_EQ(tasks.births()[0].tid, 10);
  EXPECT_STREQ(tasks.births()[0].name, "python3 with a ");
  // One that changes its name all the time is not followed for ever.
  size_t told = 0;
  for (uint64_t i = 3; i < 100; ++i) {
    write(fmt::format("name {}", i), i);
    tasks.Read(false, false);
    told += tasks.births().size();
  }
  EXPECT_EQ(told, 15U);
}

TEST_F(StandInProc, DoesWithJiffiesWhereThereIsNoSchedstat) {
  schedstat_ = false;
  Write("10/stat", Stat(10, 1, 5, 0, 0));
  WriteThread(10, 1, 10, 5, 0, 0);
  ProcessTasks tasks = Watched();
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
  ProcessTasks tasks = Watched();
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
  ProcessTasks tasks = Watched();
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
  EXPECT_TRUE(tasks.IsRunning(1));
  tasks.Remove(1);
  EXPECT_FALSE(tasks.IsRunning(1));
}

// What is kept of a task can be forgotten when it has ended, and not before.
TEST_F(StandInProc, TellsWhichTasksHaveEnded) {
  Write("10/stat", Stat(10, 1, 0, 0, 0));
  WriteThread(10, 1, 10, 0, 0, 0);
  WriteThread(10, 1, 11, 0, 0, 0);
  Write("20/stat", Stat(20, 10, 100, 0, 0));
  WriteThread(20, 10, 20, 100, 1'000'000'000, 0);
  Write("10/task/10/children", "20");
  ProcessTasks tasks = Watched();
  std::vector<uint32_t> of_child;
  std::vector<uint32_t> of_thread;
  std::vector<uint32_t> all;
  for (const ProcessTasks::Birth& birth : tasks.births()) {
    all.push_back(birth.task);
    if (birth.pid == 20) of_child.push_back(birth.task);
    if (birth.tid == 11) of_thread.push_back(birth.task);
  }
  ASSERT_THAT(all, SizeIs(5));  // three threads, and the rest of each process
  tasks.Read(true, false);
  EXPECT_THAT(tasks.ended(), IsEmpty());
  Write("10/task/11/stat", "");
  Write("10/task/11/schedstat", "");
  tasks.Read(true, false);
  EXPECT_THAT(tasks.ended(), testing::ElementsAreArray(of_thread));
  tasks.ForgetEnded();
  Write("20/stat", "");
  Write("20/task/20/stat", "");
  Write("20/task/20/schedstat", "");
  Write("10/task/10/children", "");
  tasks.Read(true, false);
  tasks.Read(true, false);
  EXPECT_THAT(tasks.ended(), testing::UnorderedElementsAreArray(of_child));
  tasks.Remove(1);
  all.erase(std::find(all.begin(), all.end(), of_thread[0]));
  EXPECT_THAT(tasks.ended(), testing::UnorderedElementsAreArray(all));
}

size_t OpenDescriptors() {
  return static_cast<size_t>(
      std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}));
}

TEST_F(StandInProc, WatchesOfAUserShareTheirFiles) {
  Write("10/stat", Stat(10, 1, 5, 0, 0));
  Write("10/status", StatusOf(1000));
  for (int tid = 10; tid < 60; ++tid) WriteThread(10, 1, tid, 3, 30'000'000, 0);
  ProcessTasks tasks(machine_);
  const size_t before = OpenDescriptors();
  for (WatchId watch = 1; watch <= 6; ++watch) {
    tasks.Add(watch, 10, true, {1000, true});
    tasks.Scan(true);
    EXPECT_THAT(tasks.births(), SizeIs(51));
    EXPECT_EQ(OpenDescriptors(), before + 101);
  }
  EXPECT_THAT(tasks.tasks_of_users(), testing::ElementsAre(std::pair(1000U, size_t{51})));
  WriteThread(10, 1, 11, 4, 41'000'000, 2);
  tasks.Read(true, false);
  EXPECT_THAT(tasks.samples(), SizeIs(6 * 51));
  // What one watch ends is still read for the others.
  for (WatchId watch = 1; watch <= 5; ++watch) tasks.Remove(watch);
  WriteThread(10, 1, 11, 5, 51'000'000, 2);
  tasks.Read(false, false);
  ASSERT_THAT(tasks.samples(), SizeIs(1));
  EXPECT_EQ(tasks.samples()[0].run_ns, 51'000'000U);
  tasks.Remove(6);
  EXPECT_EQ(OpenDescriptors(), before);
  EXPECT_THAT(tasks.tasks_of_users(), IsEmpty());
}

// Half a second is used by threads beyond a limit: it is in the rest of their process.
TEST_F(StandInProc, BeyondTheLimitsTheRestHasTheThreads) {
  TaskLimits of_tasks;
  of_tasks.tasks_of_user = 3;  // the process and two threads
  TaskLimits of_descriptors;
  of_descriptors.descriptors = static_cast<int>(OpenDescriptors()) + 6;
  for (const TaskLimits& limits : {of_tasks, of_descriptors}) {
    Write("10/stat", Stat(10, 1, 5, 0, 0));
    Write("10/status", StatusOf(1000));
    for (int tid = 10; tid < 30; ++tid) WriteThread(10, 1, tid, 0, 0, 0);
    ProcessTasks tasks(machine_, limits);
    tasks.Add(1, 10, true, {1000, true});
    tasks.Scan(true);
    EXPECT_GE(tasks.births().size(), 2U);
    EXPECT_LE(tasks.births().size(), 4U);
    const uint32_t rest = tasks.births()[0].task;
    tasks.Read(true, false);
    Write("10/stat", Stat(10, 1, 5 + 50, 0, 0));
    tasks.Read(false, false);
    EXPECT_EQ(RunOf(tasks, rest), 480'000'000U);  // but for two jiffies of rounding
    // Others are not affected.
    tasks.Add(2, 10, true, {});
    tasks.Scan(true);
    EXPECT_THAT(tasks.births(), SizeIs(testing::Ge(21)));
    EXPECT_EQ(tasks.cpu_time(), "schedstat");
  }
}

TEST_F(StandInProc, WhatRunsAsAnotherUserIsASum) {
  Write("10/stat", Stat(10, 1, 0, 0, 0));
  Write("10/status", StatusOf(1000));
  WriteThread(10, 1, 10, 0, 1, 0);
  Write("10/task/10/children", "20 40");
  Write("20/stat", Stat(20, 10, 700, 0, 0));  // a set-user-id program, with an hour behind it
  Write("20/status", "Name:\tsudo\nUid:\t1000\t0\t0\t0\nGid:\t0\n");
  WriteThread(20, 10, 20, 0, 1, 0);
  Write("20/task/20/children", "30");
  Write("30/stat", Stat(30, 20, 0, 0, 0));
  Write("30/status", StatusOf(0));
  WriteThread(30, 20, 30, 0, 1, 0);
  Write("40/stat", Stat(40, 10, 0, 0, 0));
  Write("40/status", StatusOf(1000));
  WriteThread(40, 10, 40, 0, 1, 0);
  ProcessTasks tasks(machine_);
  tasks.Add(1, 10, true, {1000, true});
  tasks.Scan(true);
  for (const auto& birth : tasks.births()) {
    EXPECT_THAT(birth.pid, testing::AnyOf(10, 40)) << birth.tid;
  }
  EXPECT_THAT(tasks.pids(), testing::ElementsAre(10, 40));
  const uint32_t rest = tasks.births()[0].task;
  tasks.Read(true, false);
  EXPECT_EQ(RunOf(tasks, rest), 0U);
  Write("20/stat", Stat(20, 10, 700 + 30, 0, 0));
  Write("30/stat", Stat(30, 20, 20, 0, 0));
  tasks.Read(true, false);
  EXPECT_EQ(RunOf(tasks, rest), 480'000'000U);  // but for two jiffies of rounding

  // A child becomes another user's: from then on it is in the sum, too.
  Write("40/status", StatusOf(0));
  tasks.CheckOwners();
  tasks.Scan(true);
  EXPECT_THAT(tasks.births(), IsEmpty());
  EXPECT_THAT(tasks.pids(), testing::ElementsAre(10));
  tasks.Read(true, false);
  Write("40/stat", Stat(40, 10, 10, 0, 0));
  tasks.Read(true, false);
  EXPECT_EQ(RunOf(tasks, rest), 580'000'000U);

  // They end and are waited for: nothing is counted twice.
  Write("30/stat", "");
  Write("20/task/20/children", "");
  Write("20/stat", Stat(20, 10, 700 + 30, 20, 0));
  tasks.Read(true, false);
  for (const char* pid : {"20", "40"}) Write(std::string(pid) + "/stat", "");
  Write("10/task/10/children", "");
  Write("10/stat", Stat(10, 1, 0, 730 + 20 + 10, 0));
  for (int i = 0; i < 3; ++i) tasks.Read(true, false);
  EXPECT_EQ(RunOf(tasks, rest), 580'000'000U);

  // Root sees all of it.
  Write("20/stat", Stat(20, 10, 0, 0, 0));
  Write("10/task/10/children", "20");
  tasks.Add(2, 10, true, {0, false});
  tasks.Scan(true);
  EXPECT_THAT(tasks.pids(), testing::IsSupersetOf({10, 20}));
}

// make runs a shell, which runs a compiler: all of them end between two readings, and make is then
// told what the compiler used, which was seen as its own.
TEST_F(StandInProc, WhatAChainOfChildrenUsedIsNotCountedAgainWhereItEnds) {
  const auto write = [&](int pid, int parent, int user, int reaped) {
    Write(fmt::format("{}/stat", pid), Stat(pid, parent, user, reaped, 0));
    WriteThread(pid, parent, pid, user, static_cast<uint64_t>(user) * 10'000'000, 0);
  };
  for (const bool attached : {true, false}) {
    std::filesystem::remove_all(root_);
    write(10, 1, 1, 0);
    if (!attached) Write("10/task/10/children", "");
    const auto add_children = [&] {
      write(20, 10, 1, 0);
      write(30, 20, 1, 0);
      write(40, 30, 1000, 0);
      Write("10/task/10/children", "20");
      Write("20/task/20/children", "30");
      Write("30/task/30/children", "40");
    };
    if (attached) add_children();
    ProcessTasks tasks = Watched();
    tasks.Read(true, false);
    if (!attached) {
      add_children();
      tasks.Scan(true);
      tasks.Read(true, false);
    }
    EXPECT_THAT(tasks.samples(), SizeIs(8)) << "a thread and the rest of each";
    write(10, 1, 1, 1002);
    Write("10/task/10/children", "");
    for (const int pid : {20, 30, 40}) {
      Write(fmt::format("{}/stat", pid), "");
      Write(fmt::format("{0}/task/{0}/stat", pid), "");
      Write(fmt::format("{0}/task/{0}/schedstat", pid), "");
    }
    for (int i = 0; i < 2; ++i) {
      tasks.Read(true, false);
      for (const TaskSample& sample : tasks.samples()) {
        EXPECT_LT(sample.run_ns, 100'000'000U) << attached << " " << i;
      }
    }
  }
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
