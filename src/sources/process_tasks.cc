#include "sources/process_tasks.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <utility>

#include <fmt/format.h>

namespace beryl::sources {
namespace {

constexpr size_t kTextBytes = size_t{16} << 10;  // hundreds of children in one line
constexpr size_t kEntryBytes = size_t{32} << 10;
// Reserved capacity, so that finding tasks rarely allocates.
constexpr size_t kUsualTasks = 256;
// Each takes about ten microseconds.
constexpr size_t kOwnersAtOnce = 256;
// A process that changes its name all the time is not followed for ever.
constexpr uint8_t kMostNewNames = 16;
// User and system time are both rounded down.
constexpr double kJiffiesOfSlack = 2;

uint64_t Key(WatchId watch, int32_t id) {
  return (uint64_t{watch} << 32) | static_cast<uint32_t>(id);
}

struct Path {
  char text[1024];
  operator const char*() const { return text; }  // NOLINT(google-explicit-constructor)
};

template <typename... Arguments>
Path MakePath(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  Path path;
  const auto result = fmt::format_to_n(path.text, sizeof(path.text) - 1, format,
                                       std::forward<Arguments>(arguments)...);
  *result.out = '\0';
  return path;
}

uint64_t ToNanos(uint64_t jiffies) {
  return static_cast<uint64_t>(static_cast<double>(jiffies) * NanosPerJiffy());
}

}  // namespace

bool IsRunning(const Machine& machine, int32_t pid) {
  char buffer[kTextBytes];
  const ProcFile file(MakePath("{}/{}/stat", machine.procfs, pid));
  const StatLine line = ParseStatLine(file.Read(buffer));
  return line.ok && line.state != 'Z' && line.state != 'X';
}

ProcessTasks::ProcessTasks(const Machine& machine, const TaskLimits& limits)
    : procfs_(machine.procfs),
      files_(machine.procfs, limits),
      buffer_(kTextBytes),
      entries_(kEntryBytes) {
  processes_.reserve(kUsualTasks);
  threads_.reserve(kUsualTasks);
  births_.reserve(kUsualTasks);
  samples_.reserve(kUsualTasks);
  ended_.reserve(kUsualTasks);
  pids_.reserve(kUsualTasks);
}

void ProcessTasks::Add(WatchId watch, int32_t pid, bool with_children, const Watcher& watcher) {
  const size_t index = AddProcess(watch, watcher, pid, kNone);
  processes_[index].attached = true;
  processes_[index].with_children = with_children;
}

void ProcessTasks::AddChildrenOf(WatchId watch, int32_t pid) {
  Process& process = processes_[AddProcess(watch, {}, pid, kNone)];
  process.attached = true;
  process.only_children = true;
  std::erase(pids_, pid);
}

void ProcessTasks::Remove(WatchId watch) {
  for (Process& process : processes_) {
    if (process.watch == watch) process.alive = false;
  }
  for (Thread& thread : threads_) {
    if (processes_[thread.process].watch == watch) thread.alive = false;
  }
  some_ended_ = true;
  Forget();
}

bool ProcessTasks::IsRunning(WatchId watch) const {
  return std::any_of(processes_.begin(), processes_.end(), [&](const Process& process) {
    return process.watch == watch && process.alive;
  });
}

// Whether what is found now was there before its watch began.
bool ProcessTasks::IsFirstScan(size_t process) const {
  while (processes_[process].parent != kNone) process = processes_[process].parent;
  return processes_[process].attached && !processes_[process].counted;
}

size_t ProcessTasks::AddProcess(WatchId watch, const Watcher& watcher, int32_t pid, size_t parent) {
  const size_t index = processes_.size();
  if (!known_processes_.emplace(Key(watch, pid), index).second)
    return known_processes_[Key(watch, pid)];
  Process& process = processes_.emplace_back();
  process.watch = watch;
  process.watcher = watcher;
  process.pid = pid;
  process.parent = parent;
  process.files = files_.OfProcess(watcher, pid, parent == kNone);
  process.rest_task = next_task_++;
  if (watch != 0) pids_.push_back(pid);
  return index;
}

void ProcessTasks::AddChild(size_t parent, int32_t pid) {
  const WatchId watch = processes_[parent].watch;
  const Watcher watcher = processes_[parent].watcher;
  const size_t index = AddProcess(watch, watcher, pid, parent);
  Process& child = processes_[index];
  if (!child.files) {
    // It is looked for again: there may be room by then.
    known_processes_.erase(Key(watch, pid));
    if (watch != 0) pids_.pop_back();
    processes_.pop_back();
    return;
  }
  if (!watcher.is_confined || RunsAs(procfs_, pid, watcher.uid)) return;
  child.is_foreign = true;
  child.attached = IsFirstScan(parent);
  if (watch != 0) pids_.pop_back();
}

// If there are many processes, each call checks some of them.
void ProcessTasks::CheckOwners() {
  const size_t count = std::min(processes_.size(), kOwnersAtOnce);
  for (size_t n = 0; n < count; ++n) {
    const size_t i = next_owner_++ % processes_.size();
    Process& process = processes_[i];
    if (!process.watcher.is_confined || !process.alive || process.is_foreign) continue;
    if (RunsAs(procfs_, process.pid, process.watcher.uid)) continue;
    process.is_foreign = true;
    const uint64_t used =
        process.own_ns - process.own_base_ns + process.reaped_ns - process.reaped_base_ns;
    process.passed_on_ns = used - std::min(used, process.known_reaped_ns);
    for (Thread& thread : threads_) {
      if (thread.process == i) thread.alive = false;
    }
    some_ended_ = true;
  }
  Forget();
}

void ProcessTasks::Tell(uint32_t task, const Process& process, int32_t tid, std::string_view name) {
  Birth& birth = births_.emplace_back();
  birth.task = task;
  birth.watch = process.watch;
  birth.pid = process.pid;
  birth.tid = tid;
  const size_t length = std::min(name.size(), sizeof(birth.name) - 1);
  if (length > 0) std::memcpy(birth.name, name.data(), length);
  birth.name[length] = '\0';
}

// Reads folders of /proc with the system call itself: opendir allocates each time.
template <typename Use>
void ProcessTasks::ForEachNumberedEntry(const char* folder, Use&& use) {
  const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  for (;;) {
    const ssize_t got = getdents64(fd, entries_.data(), entries_.size());
    if (got <= 0) break;
    for (ssize_t at = 0; at < got;) {
      uint16_t length = 0;
      const char* entry = entries_.data() + at;
      std::memcpy(&length, entry + offsetof(dirent64, d_reclen), sizeof(length));
      const std::string_view name(entry + offsetof(dirent64, d_name));
      int32_t number = 0;
      const auto [stop, error] = std::from_chars(name.data(), name.data() + name.size(), number);
      if (error == std::errc() && stop == name.data() + name.size() && number > 0) use(number);
      at += length;
    }
  }
  close(fd);
}

void ProcessTasks::Scan(bool children) {
  births_.clear();
  // Scans newly found children in the same pass: the list grows during the loop.
  for (size_t i = 0; i < processes_.size(); ++i) {
    if (!processes_[i].alive) continue;
    if (!processes_[i].only_children && !processes_[i].is_foreign) ScanThreads(i);
    if (children && has_children_files_ && processes_[i].with_children) ScanChildren(i);
  }
  if (children && !has_children_files_) ScanAllProcesses();
}

void ProcessTasks::ScanThreads(size_t process) {
  ForEachNumberedEntry(MakePath("{}/{}/task", procfs_, processes_[process].pid), [&](int32_t tid) {
    if (known_threads_.contains(Key(processes_[process].watch, tid))) return;
    AddThread(process, tid);
  });
}

void ProcessTasks::AddThread(size_t process_index, int32_t tid) {
  const Process& process = processes_[process_index];
  Thread thread;
  thread.process = process_index;
  thread.tid = tid;
  thread.files = files_.OfThread(process.watcher, process.pid, tid);
  if (!thread.files) {
    // Gone already, or beyond the limits: its process's rest includes it.
    if (process.rest_is_new && process.files) {
      TellRest(process_index, process.files->ReadStat(buffer_).name);
    }
    return;
  }
  const StatLine line = thread.files->ReadStat(buffer_);
  if (!line.ok) return;
  if (!thread.files->has_schedstat()) cpu_time_ = "stat";
  thread.task = next_task_++;
  thread.attached = process.attached && !process.counted;
  known_threads_.emplace(Key(process.watch, tid), threads_.size());
  TellRest(process_index, line.name);
  Tell(thread.task, process, tid, line.name);
  std::memcpy(thread.name, births_.back().name, sizeof(thread.name));
  threads_.push_back(std::move(thread));
}

void ProcessTasks::TellRest(size_t process, std::string_view name) {
  if (name.empty() || !std::exchange(processes_[process].rest_is_new, false)) return;
  Tell(processes_[process].rest_task, processes_[process], 0, name);
}

void ProcessTasks::ScanChildren(size_t parent) {
  if (processes_[parent].only_children || processes_[parent].is_foreign) {
    ForEachNumberedEntry(MakePath("{}/{}/task", procfs_, processes_[parent].pid),
                         [&](int32_t tid) { ScanChildrenOfThread(parent, tid); });
    return;
  }
  const size_t before = threads_.size();
  for (size_t i = 0; i < before; ++i) {
    if (threads_[i].process != parent || !threads_[i].alive) continue;
    ScanChildrenOfThread(parent, threads_[i].tid);
  }
}

void ProcessTasks::ScanChildrenOfThread(size_t parent, int32_t tid) {
  const int32_t pid = processes_[parent].pid;
  const WatchId watch = processes_[parent].watch;
  const ProcFile file(MakePath("{}/{}/task/{}/children", procfs_, pid, tid));
  if (!file.is_open()) {
    // Either the thread is gone or the kernel has no such files.
    if (tid == pid && processes_[parent].files && processes_[parent].files->ReadStat(buffer_).ok) {
      has_children_files_ = false;
    }
    return;
  }
  Words words(file.Read(buffer_));
  while (!words.done()) {
    const auto child = static_cast<int32_t>(words.Number());
    if (child <= 0 || known_processes_.contains(Key(watch, child))) continue;
    AddChild(parent, child);
  }
}

void ProcessTasks::ScanAllProcesses() {
  ForEachNumberedEntry(procfs_.c_str(), [&](int32_t pid) {
    const ProcFile file(MakePath("{}/{}/stat", procfs_, pid));
    const StatLine line = ParseStatLine(file.Read(buffer_));
    if (!line.ok) return;
    const size_t before = processes_.size();
    for (size_t i = 0; i < before; ++i) {
      const Process& parent = processes_[i];  // until one is added
      if (parent.pid != line.parent || !parent.alive || !parent.with_children) continue;
      if (known_processes_.contains(Key(parent.watch, pid))) continue;
      AddChild(i, pid);
      const auto added = known_processes_.find(Key(processes_[i].watch, pid));
      if (added != known_processes_.end() && !processes_[added->second].is_foreign) {
        AddThread(added->second, pid);
      }
    }
  });
}

void ProcessTasks::Read(bool all, bool with_jiffies) {
  samples_.clear();
  births_.clear();
  ++pass_;
  // Parents come before their children: a child that ends in between is counted by itself, and not
  // again by its parent.
  for (Process& process : processes_) ReadProcess(process);
  for (Thread& thread : threads_) {
    if (ReadThread(thread, all, with_jiffies)) {
      samples_.push_back({thread.task, thread.cpu, thread.run_ns, thread.user, thread.system});
    }
  }
  for (Process& process : processes_) ReadForeign(process);
  for (Process& process : processes_) ReadRest(process, all);
  Forget();
}

// The time of the ended descendants of a process, as far as it is known: what its own file says, or
// what was seen of those that ended since.
uint64_t ProcessTasks::KnownBelow(const Process& process) {
  const uint64_t told = process.reaped_ns - process.reaped_base_ns;
  return process.reaped_base_ns + std::max(told, process.known_reaped_ns);
}

// Whoever waits for an ended process is told its time, and that of all it waited for: if a parent
// ended along with it, the parent's parent. An orphan is not waited for by any of them.
void ProcessTasks::PassUp(size_t parent, uint64_t ns) {
  while (parent != kNone && ns > 0) {
    Process& process = processes_[parent];
    const uint64_t before = KnownBelow(process);
    process.known_reaped_ns += ns;
    if (process.alive || process.ended != pass_) return;
    ns = KnownBelow(process) - before;
    parent = process.parent;
  }
}

void ProcessTasks::ReadProcess(Process& process) {
  if (!process.alive) return;
  const StatLine line = process.files ? process.files->StatOf(pass_) : StatLine();
  if (!line.ok) {
    process.alive = false;
    process.ended = pass_;
    some_ended_ = true;
    PassUp(process.parent, process.own_ns + KnownBelow(process));
    return;
  }
  process.cpu = line.cpu;
  process.own_ns = ToNanos(line.user + line.system);
  process.reaped_ns = ToNanos(line.children_user + line.children_system);
  if (!std::exchange(process.counted, true) && process.attached) {
    process.own_base_ns = process.own_ns;
    process.reaped_base_ns = process.reaped_ns;
  }
}

// Gives what a foreign process has used to the nearest ancestor that is told apart.
void ProcessTasks::ReadForeign(Process& process) {
  if (!process.is_foreign || process.parent == kNone) return;
  const uint64_t all =
      process.own_ns - process.own_base_ns + process.reaped_ns - process.reaped_base_ns;
  const uint64_t used = all - std::min(all, process.known_reaped_ns);
  if (used <= process.passed_on_ns) return;
  size_t ancestor = process.parent;
  while (processes_[ancestor].is_foreign && processes_[ancestor].parent != kNone) {
    ancestor = processes_[ancestor].parent;
  }
  processes_[ancestor].foreign_ns += used - std::exchange(process.passed_on_ns, used);
}

void ProcessTasks::TellNewName(Thread& thread, std::string_view name) {
  const Process& process = processes_[thread.process];
  if (thread.tid != process.pid || name == thread.name) return;
  if (name.empty() || thread.renamed == kMostNewNames) return;
  ++thread.renamed;
  Tell(thread.task, process, thread.tid, name);
  std::memcpy(thread.name, births_.back().name, sizeof(thread.name));
}

// Whether there is something to report.
bool ProcessTasks::ReadThread(Thread& thread, bool all, bool with_jiffies) {
  if (!thread.alive) return false;
  const uint64_t before = thread.run_ns;
  const bool has_schedstat = thread.files->has_schedstat();
  if (has_schedstat) {
    const uint64_t* run_ns = thread.files->RunOf(pass_);
    if (run_ns == nullptr) {
      thread.alive = false;
      some_ended_ = true;
      return false;
    }
    thread.run_ns = std::max(before, *run_ns);
  }
  if (thread.run_ns == before && !all && !thread.is_new && !with_jiffies && has_schedstat) {
    return false;
  }
  const StatLine& line = thread.files->StatOf(pass_);
  if (line.ok) {
    TellNewName(thread, line.name);
    thread.cpu = line.cpu;
    thread.user = static_cast<uint32_t>(line.user);
    thread.system = static_cast<uint32_t>(line.system);
    if (!has_schedstat) {
      thread.run_ns = std::max(before, ToNanos(line.user + line.system));
    }
  } else if (!has_schedstat) {
    thread.alive = false;
    some_ended_ = true;
    return false;
  }
  const bool is_new = std::exchange(thread.is_new, false);
  // What an attached thread used before does not belong to its process since then.
  if (!is_new || !thread.attached) processes_[thread.process].seen_ns += thread.run_ns - before;
  return is_new || all || with_jiffies || thread.run_ns != before;
}

void ProcessTasks::ReadRest(Process& process, bool all) {
  if (process.rest_is_new && !process.only_children) return;  // not reported yet
  if (process.is_foreign && process.parent != kNone) return;  // its ancestor reports it
  const double slack = process.attached ? kJiffiesOfSlack * NanosPerJiffy() : 0;
  double used = 0;
  if (!process.only_children) used += static_cast<double>(process.own_ns - process.own_base_ns);
  if (process.with_children) {
    used += static_cast<double>(process.reaped_ns - process.reaped_base_ns);
  }
  used += static_cast<double>(process.foreign_ns);
  const double known = static_cast<double>(process.seen_ns + process.known_reaped_ns) + slack;
  const uint64_t before = process.rest_ns;
  if (used > known) process.rest_ns = std::max(before, static_cast<uint64_t>(used - known));
  if (process.only_children) {
    if (process.rest_ns == 0) return;
    // The time of processes that were gone before the first scan, under no process's number.
    if (std::exchange(process.rest_is_new, false)) {
      Process nobody;
      nobody.watch = process.watch;
      Tell(process.rest_task, nobody, 0, "(ended unseen)");
    }
  }
  if (all || process.rest_ns != before) {
    samples_.push_back({process.rest_task, process.cpu, process.rest_ns, 0, 0});
  }
}

void ProcessTasks::Announce(WatchId watch) {
  for (const Process& process : processes_) {
    const bool is_told = !process.rest_is_new && !process.only_children && process.files != nullptr;
    if (process.watch == watch && process.alive && is_told) {
      Tell(process.rest_task, process, 0, process.files->ReadStat(buffer_).name);
    }
  }
  for (const Thread& thread : threads_) {
    const Process& process = processes_[thread.process];
    if (process.watch != watch || !thread.alive) continue;
    Tell(thread.task, process, thread.tid, thread.files->ReadStat(buffer_).name);
  }
}

// Frees the entries of tasks that have ended. Indices change.
void ProcessTasks::Forget() {
  if (!std::exchange(some_ended_, false)) return;
  const auto forget_threads = [&](auto&& is_over) {
    std::erase_if(threads_, [&](const Thread& thread) {
      if (!is_over(thread)) return false;
      ended_.push_back(thread.task);
      return true;
    });
  };
  forget_threads([](const Thread& thread) { return !thread.alive; });
  // A process with known children keeps its place, so that it is charged for their end.
  std::vector<size_t> place(processes_.size(), kNone);
  std::vector<bool> needed(processes_.size(), false);
  for (size_t i = processes_.size(); i-- > 0;) {
    needed[i] = needed[i] || processes_[i].alive;
    if (needed[i] && processes_[i].parent != kNone) needed[processes_[i].parent] = true;
  }
  size_t kept = 0;
  for (size_t i = 0; i < processes_.size(); ++i) {
    if (!needed[i]) {
      ended_.push_back(processes_[i].rest_task);
      continue;
    }
    place[i] = kept;
    if (kept != i) processes_[kept] = std::move(processes_[i]);
    ++kept;
  }
  processes_.resize(kept);
  known_processes_.clear();
  pids_.clear();
  for (size_t i = 0; i < kept; ++i) {
    Process& process = processes_[i];
    if (process.parent != kNone) process.parent = place[process.parent];
    if (!process.alive) continue;
    known_processes_.emplace(Key(process.watch, process.pid), i);
    const bool is_told = !process.only_children && !process.is_foreign;
    if (process.watch != 0 && is_told) pids_.push_back(process.pid);
  }
  known_threads_.clear();
  forget_threads([&](const Thread& thread) { return place[thread.process] == kNone; });
  for (size_t i = 0; i < threads_.size(); ++i) {
    threads_[i].process = place[threads_[i].process];
    known_threads_.emplace(Key(processes_[threads_[i].process].watch, threads_[i].tid), i);
  }
  files_.ForgetUnused();
}

}  // namespace beryl::sources
