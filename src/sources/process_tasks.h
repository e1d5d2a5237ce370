// CPU time of every thread of the watched processes and of their descendants.
//
// A thread's time comes from its schedstat (nanoseconds) if the kernel has it, otherwise from its
// stat (jiffies). Threads and processes that come and go between two scans are not lost: the time
// of a process beyond that of its observed threads, and of its reaped children beyond the observed
// ones, counts as one more task, with thread id 0.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "sources/machine.h"
#include "sources/processes.h"
#include "sources/task_files.h"

namespace beryl::sources {

// Not thread-safe.
class ProcessTasks {
 public:
  explicit ProcessTasks(const Machine& machine, const TaskLimits& limits = {});

  // Starts to watch a process; Scan finds its threads and children.
  void Add(WatchId watch, int32_t pid, bool with_children, const Watcher& watcher = {});
  // Watches everything that a process starts from now on, and the orphans it adopts, but not the
  // process itself.
  void AddChildrenOf(WatchId watch, int32_t pid);
  void Remove(WatchId watch);

  // Looks for new threads, and with `children` for new processes.
  void Scan(bool children);
  // Looks which descendants run as another user by now, as a set-user-id program does. Of more than
  // 256 processes, it takes several calls to look at all.
  void CheckOwners();
  // Reads times. `all`: of every task, even if it has not run since.
  void Read(bool all, bool with_jiffies);

  struct Birth {
    uint32_t task;
    WatchId watch;
    int32_t pid;
    int32_t tid;
    char name[16];
  };
  // Tasks that the last Scan or Read found, and processes that have another name now: a program
  // that runs another one in its place (exec) keeps its number.
  std::span<const Birth> births() const { return births_; }
  // What the last Read found: tasks whose time grew, and new ones.
  std::span<const TaskSample> samples() const { return samples_; }
  // Tasks that have ended since the last call of ForgetEnded. Their last samples are read.
  std::span<const uint32_t> ended() const { return ended_; }
  void ForgetEnded() { ended_.clear(); }
  // Live watched processes, except those of watch 0.
  std::span<const int32_t> pids() const { return pids_; }
  // How many threads and processes of each confined watcher have files of their own.
  std::map<uint32_t, size_t> tasks_of_users() const { return files_.sizes(); }
  // Whether a watch has any process left.
  bool IsRunning(WatchId watch) const;
  const std::string& cpu_time() const { return cpu_time_; }

  // Reports the tasks of a watch again, as if they were new.
  void Announce(WatchId watch);

 private:
  static constexpr size_t kNone = ~size_t{0};

  struct Process {
    WatchId watch = 0;
    Watcher watcher;
    int32_t pid = 0;
    size_t parent = kNone;  // index into processes_
    bool with_children = true;
    bool only_children = false;  // the process itself is not watched
    bool alive = true;
    uint64_t ended = 0;    // the pass that saw it
    bool counted = false;  // own_base_ns and reaped_base_ns are set
    bool attached = false;
    bool is_foreign = false;  // runs as another user than its confined watcher
    std::shared_ptr<TaskFiles> files;
    uint16_t cpu = 0;
    uint64_t own_ns = 0;
    uint64_t own_base_ns = 0;
    uint64_t reaped_ns = 0;
    uint64_t reaped_base_ns = 0;
    uint64_t known_reaped_ns = 0;  // of observed children that have ended
    uint64_t seen_ns = 0;          // of its threads
    uint64_t foreign_ns = 0;       // of foreign descendants
    uint64_t passed_on_ns = 0;     // if foreign: what its ancestor has of that
    uint32_t rest_task = 0;
    uint64_t rest_ns = 0;
    bool rest_is_new = true;
  };
  struct Thread {
    size_t process = 0;
    int32_t tid = 0;
    uint32_t task = 0;
    char name[16] = {};
    uint8_t renamed = 0;  // how often
    std::shared_ptr<TaskFiles> files;
    uint64_t run_ns = 0;
    uint16_t cpu = 0;
    uint32_t user = 0;
    uint32_t system = 0;
    bool alive = true;
    bool is_new = true;
    bool attached = false;
  };

  size_t AddProcess(WatchId watch, const Watcher& watcher, int32_t pid, size_t parent);
  void AddChild(size_t parent, int32_t pid);
  bool IsFirstScan(size_t process) const;
  void TellRest(size_t process, std::string_view name);
  void ScanThreads(size_t process);
  void ScanChildren(size_t process);
  void ScanChildrenOfThread(size_t process, int32_t tid);
  void ScanAllProcesses();
  void AddThread(size_t process, int32_t tid);
  void Tell(uint32_t task, const Process& process, int32_t tid, std::string_view name);
  void ReadProcess(Process& process);
  static uint64_t KnownBelow(const Process& process);
  void PassUp(size_t parent, uint64_t ns);
  void ReadForeign(Process& process);
  void TellNewName(Thread& thread, std::string_view name);
  bool ReadThread(Thread& thread, bool all, bool with_jiffies);
  void ReadRest(Process& process, bool all);
  void Forget();
  template <typename Use>
  void ForEachNumberedEntry(const char* folder, Use&& use);

  std::string procfs_;
  TaskFileTable files_;
  std::string cpu_time_ = "schedstat";
  bool has_children_files_ = true;
  std::vector<Process> processes_;
  std::vector<Thread> threads_;
  std::unordered_map<uint64_t, size_t> known_threads_;    // by watch and tid
  std::unordered_map<uint64_t, size_t> known_processes_;  // by watch and pid
  uint64_t pass_ = 0;
  size_t next_owner_ = 0;
  uint32_t next_task_ = 0;
  bool some_ended_ = false;
  std::vector<Birth> births_;
  std::vector<TaskSample> samples_;
  std::vector<uint32_t> ended_;
  std::vector<int32_t> pids_;
  std::vector<char> buffer_;
  std::vector<char> entries_;
};

}  // namespace beryl::sources
