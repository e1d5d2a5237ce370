#include "sources/task_files.h"

#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace beryl::sources {
namespace {

constexpr uint64_t kAllUsers = ~uint64_t{0};
constexpr uint64_t kProcesses = uint64_t{1} << 32;
using Line = std::array<char, 2048>;  // more than a stat has, and where a status has its ids

uint64_t UserOf(const Watcher& watcher) { return watcher.is_confined ? watcher.uid : kAllUsers; }

}  // namespace

TaskFiles::TaskFiles(const char* stat, const char* schedstat)
    : stat_(stat), schedstat_(schedstat == nullptr ? ProcFile() : ProcFile(schedstat)) {}

const StatLine& TaskFiles::StatOf(uint64_t pass) {
  if (std::exchange(stat_pass_, pass) != pass) {
    Line buffer;
    line_ = ReadStat(buffer);
    const size_t length = line_.name.copy(name_.data(), name_.size() - 1);
    line_.name = {name_.data(), length};
  }
  return line_;
}

const uint64_t* TaskFiles::RunOf(uint64_t pass) {
  if (std::exchange(run_pass_, pass) != pass) {
    Line buffer;
    const std::string_view text = schedstat_.Read(buffer);
    is_gone_ = text.empty();
    run_ns_ = ParseSchedstat(text);
  }
  return is_gone_ ? nullptr : &run_ns_;
}

std::shared_ptr<TaskFiles> TaskFileTable::Find(Tasks& tasks, uint64_t key) const {
  const auto known = tasks.find(key);
  if (known == tasks.end()) return nullptr;
  auto files = known->second.lock();
  Line buffer;
  // The number may be another task's by now.
  if (files && !files->stat_.Read(buffer).empty()) return files;
  tasks.erase(known);
  return nullptr;
}

bool TaskFileTable::HasRoom(const Tasks& tasks, const Watcher& watcher) const {
  return !watcher.is_confined || tasks.size() < limits_.tasks_of_user;
}

std::shared_ptr<TaskFiles> TaskFileTable::Keep(Tasks& tasks, uint64_t key, const Watcher& watcher,
                                               std::shared_ptr<TaskFiles> files) const {
  const int most = watcher.is_confined ? limits_.descriptors : limits_.descriptors_of_all;
  const bool has_schedstat = files->has_schedstat();
  files->stat_.LeaveFrom(most);
  files->schedstat_.LeaveFrom(most);
  if (!files->stat_.is_open() || files->has_schedstat() != has_schedstat) return nullptr;
  tasks[key] = files;
  return files;
}

std::shared_ptr<TaskFiles> TaskFileTable::OfProcess(const Watcher& watcher, int32_t pid,
                                                    bool must) {
  Tasks& tasks = tasks_[UserOf(watcher)];
  const uint64_t key = kProcesses | static_cast<uint32_t>(pid);
  if (auto known = Find(tasks, key)) return known;
  if (!must && !HasRoom(tasks, watcher)) return nullptr;
  const std::string stat = fmt::format("{}/{}/stat", procfs_, pid);
  return Keep(tasks, key, watcher, std::make_shared<TaskFiles>(stat.c_str(), nullptr));
}

std::shared_ptr<TaskFiles> TaskFileTable::OfThread(const Watcher& watcher, int32_t pid,
                                                   int32_t tid) {
  Tasks& tasks = tasks_[UserOf(watcher)];
  const uint64_t key = static_cast<uint32_t>(tid);
  if (auto known = Find(tasks, key)) return known;
  if (!HasRoom(tasks, watcher)) return nullptr;
  const std::string folder = fmt::format("{}/{}/task/{}", procfs_, pid, tid);
  return Keep(
      tasks, key, watcher,
      std::make_shared<TaskFiles>((folder + "/stat").c_str(), (folder + "/schedstat").c_str()));
}

void TaskFileTable::ForgetUnused() {
  for (auto& [user, tasks] : tasks_) {
    std::erase_if(tasks, [](const auto& entry) { return entry.second.expired(); });
  }
}

std::map<uint32_t, size_t> TaskFileTable::sizes() const {
  std::map<uint32_t, size_t> sizes;
  for (const auto& [user, tasks] : tasks_) {
    if (user != kAllUsers && !tasks.empty()) sizes[static_cast<uint32_t>(user)] = tasks.size();
  }
  return sizes;
}

bool RunsAs(const std::string& procfs, int32_t pid, uint32_t uid) {
  constexpr std::string_view kBegin = "\nUid:";
  Line buffer;
  const ProcFile file(fmt::format("{}/{}/status", procfs, pid).c_str());
  const std::string_view text = file.Read(buffer);
  const size_t at = text.find(kBegin);
  if (at == std::string_view::npos) return false;
  const std::string_view line = text.substr(at + kBegin.size());
  Words words(line.substr(0, line.find('\n')));
  for (int i = 0; i < 3; ++i) {
    if (words.done() || words.Number() != uid) return false;
  }
  return true;
}

}  // namespace beryl::sources
