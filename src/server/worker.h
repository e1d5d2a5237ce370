// Long work one piece after the other, on a thread of its own, so that it holds up nobody else.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace beryl::server {

// Any thread.
class Worker {
 public:
  // Told whether it is to be done, or only to be called off.
  using Job = std::function<void(bool wanted)>;

  Worker();
  ~Worker();

  // False: too much is waiting already; nothing is kept of it.
  bool Do(Job job);
  // What is waiting is called off, and so is what comes later. What is being done is finished.
  void Stop();

 private:
  void Run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> waiting_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace beryl::server
