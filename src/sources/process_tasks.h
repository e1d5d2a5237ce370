// CPU time of every thread of the watched processes and of their descendants.
//
// A thread's time comes from its schedstat (nanoseconds) where the kernel has it, else from its
// stat (jiffies). Threads and processes that come and go between two looks are not lost: what a
// process is said to have used beyond its threads that were seen, and what its children that were
// waited for used beyond those that were seen, is the time of one more task, with the thread id 0.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "sources/proc_file.h"
#include "sources/sources.h"

namespace beryl::sources {

// Used by one thread at a time.
class ProcessTasks {
 public:
  explicit ProcessTasks(const Machine& machine);

  // Begins to watch a process; its threads and children are found by Scan.
  void Add(WatchId watch, int32_t pid, bool with_children);
  // Watches all that a process starts from now on, and what is handed to it when its own parent
  // ends, but not the process itself.
  void AddChildrenOf(WatchId watch, int32_t pid);
  void Remove(WatchId watch);

  // Looks for new threads, and with `children` for new processes.
  void Scan(bool children);
  // Reads times. `all`: of every task, also those that have not run since.
  void Read(bool all, bool with_jiffies);

  struct Birth {
    uint32_t task;
    WatchId watch;
    int32_t pid;
    int32_t tid;
    char name[16];
  };
  // Tasks that the last Scan or Read found.
  std::span<const Birth> births() const { return births_; }
  // Of the last Read: what grew, and what is new.
  std::span<const TaskSample> samples() const { return samples_; }
  // Processes that are watched and live, but for those of watch 0.
  std::span<const int32_t> pids() const { return pids_; }
  // Whether a watch has any process left.
  bool IsAlive(WatchId watch) const;
  const std::string& cpu_time() const { return cpu_time_; }

  // Tells the tasks of a watch again, as if they were new.
  void Announce(WatchId watch);

 private:
  static constexpr size_t kNone = ~size_t{0};

  struct Process {
    WatchId watch = 0;
    int32_t pid = 0;
    size_t parent = kNone;  // index into processes_
    bool with_children = true;
    bool only_children = false;  // the process itself is not watched
    bool alive = true;
    bool counted = false;  // own_base_ns and reaped_base_ns are set
    bool attached = false;
    ProcFile stat;
    uint16_t cpu = 0;
    uint64_t own_ns = 0;
    uint64_t own_base_ns = 0;
    uint64_t reaped_ns = 0;
    uint64_t reaped_base_ns = 0;
    uint64_t known_reaped_ns = 0;  // of children that were seen and have ended
    uint64_t seen_ns = 0;          // of its threads
    uint32_t rest_task = 0;
    uint64_t rest_ns = 0;
    bool rest_is_new = true;
  };
  struct Thread {
    size_t process = 0;
    int32_t tid = 0;
    uint32_t task = 0;
    ProcFile schedstat;
    ProcFile stat;
    uint64_t run_ns = 0;
    uint16_t cpu = 0;
    uint32_t user = 0;
    uint32_t system = 0;
    bool alive = true;
    bool is_new = true;
    bool attached = false;
  };

  size_t AddProcess(WatchId watch, int32_t pid, size_t parent, bool attached);
  void ScanThreads(size_t process);
  void ScanChildren(size_t process);
  void ScanChildrenOfThread(size_t process, int32_t tid);
  void ScanAllProcesses();
  void AddThread(size_t process, int32_t tid);
  void Tell(uint32_t task, const Process& process, int32_t tid, std::string_view name);
  void ReadProcess(Process& process);
  bool ReadThread(Thread& thread, bool all, bool with_jiffies);
  void ReadRest(Process& process, bool all);
  void Forget();
  template <typename Use>
  void ForEachNumberedEntry(const char* folder, Use&& use);

  std::string procfs_;
  std::string cpu_time_ = "schedstat";
  bool has_children_files_ = true;
  std::vector<Process> processes_;
  std::vector<Thread> threads_;
  std::unordered_map<uint64_t, size_t> known_threads_;    // by watch and tid
  std::unordered_map<uint64_t, size_t> known_processes_;  // by watch and pid
  uint32_t next_task_ = 0;
  bool some_ended_ = false;
  std::vector<Birth> births_;
  std::vector<TaskSample> samples_;
  std::vector<int32_t> pids_;
  std::vector<char> buffer_;
  std::vector<char> entries_;
};

}  // namespace beryl::sources
