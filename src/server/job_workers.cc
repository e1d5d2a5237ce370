#include "server/job_workers.h"

#include <sys/resource.h>

#include <chrono>
#include <utility>

namespace beryl::server {
namespace {

constexpr auto kPauseBetweenLooks = std::chrono::seconds(2);
constexpr int kLeastUrgent = 19;

// Of this thread and those that it starts: Linux counts niceness by thread.
void YieldToOthers() { ::setpriority(PRIO_PROCESS, 0, kLeastUrgent); }

}  // namespace

JobWorkers::JobWorkers(store::Library& library, size_t workers, Prepare prepare,
                       std::function<void(const std::string&)> say)
    : library_(library), prepare_(std::move(prepare)), say_(std::move(say)) {
  for (size_t i = 0; i < workers; ++i) {
    workers_.emplace_back([this](const std::stop_token& ending) {
      YieldToOthers();
      Work(ending);
    });
  }
}

JobWorkers::~JobWorkers() {
  Stop();
  workers_.clear();
}

void JobWorkers::Stop() {
  for (std::jthread& worker : workers_) worker.request_stop();
}

void JobWorkers::Wake() {
  {
    const std::lock_guard lock(mutex_);
    ++queued_;
  }
  changed_.notify_all();
}

void JobWorkers::Work(const std::stop_token& ending) {
  while (!ending.stop_requested()) {
    uint64_t queued = 0;
    {
      const std::lock_guard lock(mutex_);
      queued = queued_;
    }
    if (DoOne(ending)) continue;
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, ending, kPauseBetweenLooks, [&] { return queued_ != queued; });
  }
}

bool JobWorkers::DoOne(const std::stop_token& ending) {
  const auto job = library_.ClaimJob();
  if (!job) say_("jobs wait: " + job.error().message);
  if (!job || !*job) return false;
  const auto done = flows::RunJob(library_, **job, prepare_(**job), ending);
  if (!done) say_("job " + (*job)->id + ": " + done.error().message);
  return true;
}

}  // namespace beryl::server
