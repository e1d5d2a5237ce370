#include "flows/signal_inbox.h"

#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include <fmt/format.h>

namespace beryl::flows {

Result<SignalInbox> SignalInbox::Open() {
  sigset_t signals;
  sigemptyset(&signals);
  std::signal(SIGCHLD, SIG_DFL);  // if ignored, the children's exit codes would be lost
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGCHLD}) {
    struct sigaction given {};
    // Signals that we were told to ignore (nohup) stay ignored.
    if (sigaction(signal, nullptr, &given) == 0 && given.sa_handler == SIG_IGN) continue;
    sigaddset(&signals, signal);
  }
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  const int fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
  if (fd < 0) return IoError(fmt::format("signalfd: {}", std::strerror(errno)));
  return SignalInbox(fd);
}

SignalInbox::SignalInbox(SignalInbox&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

SignalInbox::~SignalInbox() {
  if (fd_ >= 0) close(fd_);
}

std::optional<signalfd_siginfo> SignalInbox::Wait(Nanos longest) const {
  pollfd waiting{fd_, POLLIN, 0};
  if (poll(&waiting, 1, static_cast<int>(longest.value / 1'000'000)) <= 0) return std::nullopt;
  signalfd_siginfo info{};
  if (read(fd_, &info, sizeof(info)) != sizeof(info)) return std::nullopt;
  return info;
}

}  // namespace beryl::flows
