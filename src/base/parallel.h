// The same work on several threads.
#pragma once

#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace beryl {

// Calls work(0) here and work(1) to work(workers - 1) on threads of their own, fewer if the system
// gives no more, and returns when all have returned. What one of them throws is thrown here after
// that; `stop` is called first, from its thread, so that the others need not finish.
inline void InParallel(
    size_t workers, const std::function<void(size_t)>& work,
    const std::function<void()>& stop = [] {}) {
  std::mutex mutex;
  std::exception_ptr failed;  // the first
  const auto guarded = [&](size_t worker) {
    try {
      work(worker);
    } catch (...) {
      stop();
      const std::lock_guard lock(mutex);
      if (!failed) failed = std::current_exception();
    }
  };
  std::vector<std::thread> others;
  others.reserve(workers);
  try {
    for (size_t worker = 1; worker < workers; ++worker) others.emplace_back(guarded, worker);
  } catch (const std::exception&) {
    // No more threads, or no memory for one: those that started do all of it.
  }
  guarded(0);
  for (std::thread& other : others) other.join();
  if (failed) std::rethrow_exception(failed);
}

}  // namespace beryl
