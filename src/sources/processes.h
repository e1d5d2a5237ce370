// Processes and their CPU time, as reported by a sampler.
#pragma once

#include <climits>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "sources/machine.h"

namespace beryl::sources {

// CPU times for clients of the published monitor: the columns of /proc/stat.
struct CpuJiffies {
  uint16_t cpu = 0;
  uint16_t package = 0;
  uint64_t columns[10] = {};  // user nice system idle iowait irq softirq steal guest guest_nice
};

// A task that is running or new.
struct TaskSample {
  uint32_t task = 0;  // number of the task since the sampler started
  uint16_t cpu = 0;
  uint64_t run_ns = 0;
  uint32_t user_jiffies = 0;
  uint32_t system_jiffies = 0;
};

// The processes whose parent is not to be seen, but for the kernel's threads: to watch them is to
// watch every program.
std::vector<int32_t> RootProcesses(const Machine& machine);

// Whether a process exists and has not ended.
bool IsRunning(const Machine& machine, int32_t pid);

// Identifies a watched process tree.
using WatchId = uint32_t;

// For whom a process tree is watched.
struct Watcher {
  uint32_t uid = 0;
  // Within the limits of one user, and of descendants that run as another user there is only a sum,
  // in that of the ancestor that started them.
  bool is_confined = false;
};

// What watching may take. Of tasks beyond it there are no times of their own: those of threads are
// in the sum of their process, those of processes in that of their parent once they have ended.
struct TaskLimits {
  size_t tasks_of_user = ~size_t{0};  // threads and processes, of a confined watcher
  // File descriptors with these numbers and above are left to others.
  int descriptors = INT_MAX;  // for confined watchers
  int descriptors_of_all = INT_MAX;
};

struct TaskBirth {
  uint32_t task = 0;
  WatchId watch = 0;  // 0: the sampling program itself
  int32_t pid = 0;
  int32_t tid = 0;
  std::string_view name;
};

}  // namespace beryl::sources
