#include "server/worker.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace beryl::server {
namespace {

constexpr size_t kMostWaiting = 64;
constexpr std::ptrdiff_t kMostOfUser = 8;

}  // namespace

Worker::Worker() : thread_([this] { Run(); }) {}

Worker::~Worker() { Stop(); }

bool Worker::Do(uint32_t uid, Job job) {
  {
    const std::lock_guard lock(mutex_);
    const auto of_user = std::count_if(waiting_.begin(), waiting_.end(),
                                       [&](const Piece& piece) { return piece.uid == uid; });
    if (of_user >= kMostOfUser || (uid != 0 && waiting_.size() >= kMostWaiting)) return false;
    if (!stopping_) {
      waiting_.push_back({uid, std::move(job)});
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
    const Job job = std::move(waiting_.front().job);
    waiting_.pop_front();
    const bool wanted = !stopping_;
    lock.unlock();
    job(wanted);
    lock.lock();
  }
}

}  // namespace beryl::server
