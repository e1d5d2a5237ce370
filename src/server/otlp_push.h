// Sends metrics periodically, on its own thread, so that a slow or missing collector delays nothing
// else.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "base/units.h"
#include "server/http/client.h"
#include "server/socket.h"

namespace beryl::server {

class OtlpPush {
 public:
  struct Options {
    HttpTarget target;  // an empty path becomes /v1/metrics
    Nanos interval;
    Nanos patience{3'000'000'000};
  };
  // `page` makes the content; `log` gets a line when sending starts to fail, and when it works
  // again.
  OtlpPush(Options options, std::function<std::string()> page,
           std::function<void(const std::string&)> log);
  ~OtlpPush();

  uint64_t sent() const;
  uint64_t failed() const;

 private:
  void Run();
  void Send();

  Options options_;
  std::function<std::string()> page_;
  std::function<void(const std::string&)> log_;
  OwnedFd stop_;  // an eventfd that cancels sending
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  uint64_t sent_ = 0;
  uint64_t failed_ = 0;
  bool failing_ = false;
  std::thread thread_;
};

}  // namespace beryl::server
