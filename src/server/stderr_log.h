// The monitor's messages on stderr. The reader may be slow or gone, and must not block or end
// anything: a line that cannot be written at once is dropped and counted. What a line quotes may
// come from a client: control characters are replaced, so that no client can forge a line.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

namespace beryl::server {

// Thread-safe.
class LineLog {
 public:
  // Every line begins with `prefix`. `tell_lost`: the line that follows once there is room again.
  using TellLost = std::string (*)(uint64_t lines);
  LineLog(int fd, std::string prefix, TellLost tell_lost = nullptr);
  ~LineLog();
  LineLog(const LineLog&) = delete;
  LineLog& operator=(const LineLog&) = delete;

  void Say(std::string_view what);
  uint64_t lost() const;

 private:
  bool TryToWrite(std::string_view line);

  const int given_;
  const int own_;  // the same pipe or terminal, opened again so as not to block; -1: none
  const std::string prefix_;
  const TellLost tell_lost_;
  mutable std::mutex mutex_;
  bool cut_ = false;     // a line was written in part
  uint64_t lost_ = 0;    // ever
  uint64_t untold_ = 0;  // dropped since the last line that was written
};

// How many lines others may cause: a few at once, then a few a minute. Not thread-safe.
class LineQuota {
 public:
  using Clock = std::chrono::steady_clock;
  LineQuota(uint32_t at_once, Clock::duration each);
  // Whether one more line may be written now. If so, `unsaid` is how many were suppressed since the
  // last one.
  bool Take(Clock::time_point now, uint64_t& unsaid);

 private:
  const uint32_t at_once_;
  const Clock::duration each_;
  uint32_t left_;
  Clock::time_point refilled_;
  uint64_t unsaid_ = 0;
};

}  // namespace beryl::server
