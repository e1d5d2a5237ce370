// The files of watched threads and processes: open once for all watches of a watcher, and read once
// in a pass.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>

#include "sources/proc_file.h"
#include "sources/processes.h"

namespace beryl::sources {

class TaskFiles {
 public:
  TaskFiles(const char* stat, const char* schedstat);
  TaskFiles(const TaskFiles&) = delete;
  TaskFiles& operator=(const TaskFiles&) = delete;

  bool has_schedstat() const { return schedstat_.is_open(); }
  // Reads now, into the caller's buffer.
  StatLine ReadStat(std::span<char> buffer) const { return ParseStatLine(stat_.Read(buffer)); }
  // What was read in this pass, for the first who asks in it. Of the name, the 15 bytes that the
  // kernel lets a program have; it stays here until the next pass.
  const StatLine& StatOf(uint64_t pass);
  // Nanoseconds of the schedstat; nothing if the task is gone.
  const uint64_t* RunOf(uint64_t pass);

 private:
  friend class TaskFileTable;
  ProcFile stat_;
  ProcFile schedstat_;
  uint64_t stat_pass_ = 0;
  StatLine line_;
  std::array<char, 16> name_;
  uint64_t run_pass_ = 0;
  uint64_t run_ns_ = 0;
  bool is_gone_ = false;
};

// Not thread-safe. Passes count from 1.
class TaskFileTable {
 public:
  TaskFileTable(std::string procfs, const TaskLimits& limits)
      : procfs_(std::move(procfs)), limits_(limits) {}

  // The files of a process, or of a thread: none if it is gone or a limit is reached. `must`: even
  // if the user has too many tasks.
  std::shared_ptr<TaskFiles> OfProcess(const Watcher& watcher, int32_t pid, bool must);
  std::shared_ptr<TaskFiles> OfThread(const Watcher& watcher, int32_t pid, int32_t tid);
  // Forgets the files that nobody holds any more.
  void ForgetUnused();
  // How many threads and processes of each confined watcher have files.
  std::map<uint32_t, size_t> sizes() const;

 private:
  // By thread id, or by process id above 32 bits.
  using Tasks = std::unordered_map<uint64_t, std::weak_ptr<TaskFiles>>;
  std::shared_ptr<TaskFiles> Find(Tasks& tasks, uint64_t key) const;
  std::shared_ptr<TaskFiles> Keep(Tasks& tasks, uint64_t key, const Watcher& watcher,
                                  std::shared_ptr<TaskFiles> files) const;
  bool HasRoom(const Tasks& tasks, const Watcher& watcher) const;

  const std::string procfs_;
  const TaskLimits limits_;
  std::map<uint64_t, Tasks> tasks_;  // by user, if confined; else one for all
};

// Whether a process has no other user ids than this one. False if it is gone.
bool RunsAs(const std::string& procfs, int32_t pid, uint32_t uid);

}  // namespace beryl::sources
