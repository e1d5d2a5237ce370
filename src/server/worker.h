// Runs long work, one piece after another, on its own thread, so that it delays nobody else.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace beryl::server {

// Thread-safe.
class Worker {
 public:
  // The argument says whether to do the work or only to cancel it.
  using Job = std::function<void(bool wanted)>;

  Worker();
  ~Worker();

  // False if too much is waiting, of this user or of all; the work is then not kept. What others
  // let wait does not count against root.
  bool Do(uint32_t uid, Job job);
  // Cancels all waiting and later work. Finishes the current piece.
  void Stop();

 private:
  void Run();

  std::mutex mutex_;
  std::condition_variable changed_;
  struct Piece {
    uint32_t uid;
    Job job;
  };
  std::deque<Piece> waiting_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace beryl::server
