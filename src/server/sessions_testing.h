// Sessions on scripted meters, for tests.
#pragma once

#include <unistd.h>

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "server/scripted_meters_testing.h"
#include "server/sessions.h"

namespace beryl::server {

// Waits for the effect of another thread; long, because machines are noisy.
inline bool Eventually(const std::function<bool()>& holds) {
  for (int i = 0; i < 2000; ++i) {
    if (holds()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}

class ScriptedSessions {
 protected:
  void Open(SessionsOptions options = {}, Guard guard = OwnGuard()) {
    options.drain_every = Nanos{2'000'000};
    options.log = [this](const std::string& line) {
      const std::lock_guard lock(mutex_);
      log_ += line + "\n";
    };
    sessions_ = std::make_unique<Sessions>(meters_, guard, options);
    sessions_->ConnectionOpened(me_.connection);
  }
  static Guard OwnGuard() { return {"/proc", geteuid(), true}; }
  SessionRequest Own() const { return {{getpid()}, {}, "test", false}; }
  std::string log() {
    const std::lock_guard lock(mutex_);
    return log_;
  }

  ScriptedMeters meters_;
  std::mutex mutex_;
  std::string log_;
  Caller me_{geteuid(), 1};
  std::unique_ptr<Sessions> sessions_;
};

}  // namespace beryl::server
