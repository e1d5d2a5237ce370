// The threads of a server that do the jobs of its library.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "flows/library_job.h"
#include "store/library.h"

namespace beryl::server {

// Their work yields to everything else that the machine does. Thread-safe.
class JobWorkers {
 public:
  // What a job is to do. Called on the workers.
  using Prepare = std::function<Result<flows::JobTask>(const LibraryJob&)>;
  // `say`: told what goes wrong with the library.
  JobWorkers(store::Library& library, size_t workers, Prepare prepare,
             std::function<void(const std::string&)> say);
  // Waits until they have ended.
  ~JobWorkers();

  // They take no further job; the library has back what runs, which ends when it can.
  void Stop();

  // A job was queued here. Jobs of other servers are found within a few seconds.
  void Wake();

 private:
  void Work(const std::stop_token& ending);
  // Whether there was one.
  bool DoOne(const std::stop_token& ending);

  store::Library& library_;
  const Prepare prepare_;
  const std::function<void(const std::string&)> say_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  uint64_t queued_ = 0;  // calls of Wake
  std::vector<std::jthread> workers_;
};

}  // namespace beryl::server
