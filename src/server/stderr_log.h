// What the monitor says on stderr. Nobody may be reading it, or no more: that must neither end nor
// hold up anything, so what cannot be written at once is lost, and counted.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

namespace beryl::server {

// Any thread.
class LineLog {
 public:
  // Every line begins with `prefix`.
  LineLog(int fd, std::string prefix) : fd_(fd), prefix_(std::move(prefix)) {}

  void Say(std::string_view what);
  uint64_t lost() const;

 private:
  const int fd_;
  const std::string prefix_;
  mutable std::mutex mutex_;
  uint64_t lost_ = 0;    // ever
  uint64_t untold_ = 0;  // of those, since the last line that was written
};

}  // namespace beryl::server
