#include "server/worker.h"

#include <utility>

namespace beryl::server {
namespace {

constexpr size_t kMostWaiting = 64;

}  // namespace

Worker::Worker() : thread_([this] { Run(); }) {}

Worker::~Worker() { Stop(); }

bool Worker::Do(Job job) {
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() >= kMostWaiting) return false;
    if (!stopping_) {
      waiting_.push_back(std::move(job));
      changed_.notify_one();
      return true;
    }
  }
  job(false);
  return true;
}

void Worker::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void Worker::Run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return stopping_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    const Job job = std::move(waiting_.front());
    waiting_.pop_front();
    const bool wanted = !stopping_;
    lock.unlock();
    job(wanted);
    lock.lock();
  }
}

}  // namespace beryl::server
