// Signals as messages: blocked for all threads that start later, and read on demand.
#pragma once

#include <sys/signalfd.h>

#include <optional>

#include "base/result.h"
#include "base/units.h"

namespace beryl::flows {

class SignalInbox {
 public:
  // SIGINT, SIGTERM, SIGHUP and SIGCHLD.
  static Result<SignalInbox> Open();
  SignalInbox(SignalInbox&& other) noexcept;
  SignalInbox& operator=(SignalInbox&&) = delete;
  ~SignalInbox();

  // Waits for a signal; returns nothing if none came in that time.
  std::optional<signalfd_siginfo> Wait(Nanos longest) const;

 private:
  explicit SignalInbox(int fd) : fd_(fd) {}
  int fd_ = -1;
};

}  // namespace beryl::flows
