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
// Room that is kept from the start, so that finding tasks rarely allocates.
constexpr size_t kUsualTasks = 256;
// Twice rounded down: user and system time.
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

ProcessTasks::ProcessTasks(const Machine& machine)
    : procfs_(machine.procfs), buffer_(kTextBytes), entries_(kEntryBytes) {
  processes_.reserve(kUsualTasks);
  threads_.reserve(kUsualTasks);
  births_.reserve(kUsualTasks);
  samples_.reserve(kUsualTasks);
  pids_.reserve(kUsualTasks);
}

void ProcessTasks::Add(WatchId watch, int32_t pid, bool with_children) {
  const size_t index = AddProcess(watch, pid, kNone, true);
  processes_[index].with_children = with_children;
}

void ProcessTasks::AddChildrenOf(WatchId watch, int32_t pid) {
  Process& process = processes_[AddProcess(watch, pid, kNone, true)];
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

bool ProcessTasks::IsAlive(WatchId watch) const {
  return std::any_of(processes_.begin(), processes_.end(), [&](const Process& process) {
    return process.watch == watch && process.alive;
  });
}

size_t ProcessTasks::AddProcess(WatchId watch, int32_t pid, size_t parent, bool attached) {
  const size_t index = processes_.size();
  if (!known_processes_.emplace(Key(watch, pid), index).second)
    return known_processes_[Key(watch, pid)];
  Process& process = processes_.emplace_back();
  process.watch = watch;
  process.pid = pid;
  process.parent = parent;
  process.attached = attached;
  process.stat = ProcFile(MakePath("{}/{}/stat", procfs_, pid));
  process.rest_task = next_task_++;
  if (watch != 0) pids_.push_back(pid);
  return index;
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

// Folders of /proc by the system call itself: opendir allocates at every look.
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
  // Children that are found are scanned in the same go: the list grows while it is walked.
  for (size_t i = 0; i < processes_.size(); ++i) {
    if (!processes_[i].alive) continue;
    if (!processes_[i].only_children) ScanThreads(i);
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
  thread.stat = ProcFile(MakePath("{}/{}/task/{}/stat", procfs_, process.pid, tid));
  const StatLine line = ParseStatLine(thread.stat.Read(buffer_));
  if (!line.ok) return;  // gone already, or out of file descriptors: its process's rest has it
  thread.schedstat = ProcFile(MakePath("{}/{}/task/{}/schedstat", procfs_, process.pid, tid));
  if (!thread.schedstat.is_open()) cpu_time_ = "stat";
  thread.task = next_task_++;
  thread.attached = process.attached && !process.counted;
  known_threads_.emplace(Key(process.watch, tid), threads_.size());
  if (std::exchange(processes_[process_index].rest_is_new, false)) {
    Tell(process.rest_task, process, 0, line.name);
  }
  Tell(thread.task, process, tid, line.name);
  threads_.push_back(std::move(thread));
}

void ProcessTasks::ScanChildren(size_t parent) {
  if (processes_[parent].only_children) {
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
    if (tid == pid && !processes_[parent].stat.Read(buffer_).empty()) has_children_files_ = false;
    return;
  }
  Words words(file.Read(buffer_));
  while (!words.done()) {
    const auto child = static_cast<int32_t>(words.Number());
    if (child <= 0 || known_processes_.contains(Key(watch, child))) continue;
    AddProcess(watch, child, parent, false);
  }
}

void ProcessTasks::ScanAllProcesses() {
  ForEachNumberedEntry(procfs_.c_str(), [&](int32_t pid) {
    const ProcFile file(MakePath("{}/{}/stat", procfs_, pid));
    const StatLine line = ParseStatLine(file.Read(buffer_));
    if (!line.ok) return;
    const size_t before = processes_.size();
    for (size_t i = 0; i < before; ++i) {
      const Process& parent = processes_[i];
      if (parent.pid != line.parent || !parent.alive || !parent.with_children) continue;
      if (known_processes_.contains(Key(parent.watch, pid))) continue;
      const size_t index = AddProcess(parent.watch, pid, i, false);
      AddThread(index, pid);
    }
  });
}

void ProcessTasks::Read(bool all, bool with_jiffies) {
  samples_.clear();
  births_.clear();
  // Parents stand before their children: a child that ends in between is then counted by itself,
  // not a second time by its parent.
  for (Process& process : processes_) ReadProcess(process);
  for (Thread& thread : threads_) {
    if (ReadThread(thread, all, with_jiffies)) {
      samples_.push_back({thread.task, thread.cpu, thread.run_ns, thread.user, thread.system});
    }
  }
  for (Process& process : processes_) ReadRest(process, all);
  Forget();
}

void ProcessTasks::ReadProcess(Process& process) {
  if (!process.alive) return;
  const StatLine line = ParseStatLine(process.stat.Read(buffer_));
  if (!line.ok) {
    process.alive = false;
    some_ended_ = true;
    if (process.parent != kNone) {
      processes_[process.parent].known_reaped_ns += process.own_ns + process.reaped_ns;
    }
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

// Whether there is something to tell.
bool ProcessTasks::ReadThread(Thread& thread, bool all, bool with_jiffies) {
  if (!thread.alive) return false;
  const uint64_t before = thread.run_ns;
  if (thread.schedstat.is_open()) {
    const std::string_view text = thread.schedstat.Read(buffer_);
    if (text.empty()) {
      thread.alive = false;
      some_ended_ = true;
      return false;
    }
    thread.run_ns = std::max(before, ParseSchedstat(text));
  }
  if (thread.run_ns == before && !all && !thread.is_new && !with_jiffies &&
      thread.schedstat.is_open()) {
    return false;
  }
  const StatLine line = ParseStatLine(thread.stat.Read(buffer_));
  if (line.ok) {
    thread.cpu = line.cpu;
    thread.user = static_cast<uint32_t>(line.user);
    thread.system = static_cast<uint32_t>(line.system);
    if (!thread.schedstat.is_open()) {
      thread.run_ns = std::max(before, ToNanos(line.user + line.system));
    }
  } else if (!thread.schedstat.is_open()) {
    thread.alive = false;
    some_ended_ = true;
    return false;
  }
  const bool is_new = std::exchange(thread.is_new, false);
  // What an attached thread used before is not its process's since then.
  if (!is_new || !thread.attached) processes_[thread.process].seen_ns += thread.run_ns - before;
  return is_new || all || with_jiffies || thread.run_ns != before;
}

void ProcessTasks::ReadRest(Process& process, bool all) {
  if (process.rest_is_new && !process.only_children) return;  // not told yet
  const double slack = process.attached ? kJiffiesOfSlack * NanosPerJiffy() : 0;
  double used = 0;
  if (!process.only_children) used += static_cast<double>(process.own_ns - process.own_base_ns);
  if (process.with_children) {
    used += static_cast<double>(process.reaped_ns - process.reaped_base_ns);
  }
  const double known = static_cast<double>(process.seen_ns + process.known_reaped_ns) + slack;
  const uint64_t before = process.rest_ns;
  if (used > known) process.rest_ns = std::max(before, static_cast<uint64_t>(used - known));
  if (process.only_children) {
    if (process.rest_ns == 0) return;
    // The time of those that were gone before anybody looked, under no process's number.
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
    if (process.watch == watch && process.alive && !process.rest_is_new && !process.only_children) {
      Tell(process.rest_task, process, 0, ParseStatLine(process.stat.Read(buffer_)).name);
    }
  }
  for (const Thread& thread : threads_) {
    const Process& process = processes_[thread.process];
    if (process.watch != watch || !thread.alive) continue;
    Tell(thread.task, process, thread.tid, ParseStatLine(thread.stat.Read(buffer_)).name);
  }
}

// Gives back what belongs to tasks that have ended. Indices change.
void ProcessTasks::Forget() {
  if (!std::exchange(some_ended_, false)) return;
  std::erase_if(threads_, [&](const Thread& thread) { return !thread.alive; });
  // A process whose children are still known keeps its place, so that their ends are booked to it.
  std::vector<size_t> place(processes_.size(), kNone);
  std::vector<bool> needed(processes_.size(), false);
  for (size_t i = processes_.size(); i-- > 0;) {
    needed[i] = needed[i] || processes_[i].alive;
    if (needed[i] && processes_[i].parent != kNone) needed[processes_[i].parent] = true;
  }
  size_t kept = 0;
  for (size_t i = 0; i < processes_.size(); ++i) {
    if (!needed[i]) continue;
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
    if (process.watch != 0 && !process.only_children) pids_.push_back(process.pid);
  }
  known_threads_.clear();
  std::erase_if(threads_, [&](const Thread& thread) { return place[thread.process] == kNone; });
  for (size_t i = 0; i < threads_.size(); ++i) {
    threads_[i].process = place[threads_[i].process];
    known_threads_.emplace(Key(processes_[threads_[i].process].watch, threads_[i].tid), i);
  }
}

}  // namespace beryl::sources
