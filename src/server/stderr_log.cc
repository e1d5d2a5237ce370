#include "server/stderr_log.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <climits>

#include <fmt/format.h>

namespace beryl::server {
namespace {

// The whole of it or nothing, without waiting. A pipe that can be written to takes as much at once.
bool TryToWrite(int fd, std::string_view line) {
  ssize_t written = ::send(fd, line.data(), line.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (written < 0 && errno == ENOTSOCK) {
    pollfd wanted{fd, POLLOUT, 0};
    if (::poll(&wanted, 1, 0) <= 0 || (wanted.revents & POLLOUT) == 0) return false;
    written = ::write(fd, line.data(), line.size());
  }
  return written == static_cast<ssize_t>(line.size());
}

}  // namespace

void LineLog::Say(std::string_view what) {
  std::string line = fmt::format("{}{}", prefix_, what);
  if (line.size() >= PIPE_BUF) line.resize(PIPE_BUF - 1);
  line += '\n';
  const std::lock_guard lock(mutex_);
  if (untold_ > 0 && TryToWrite(fd_, fmt::format("{}{} lines were lost, as nobody read them\n",
                                                 prefix_, untold_))) {
    untold_ = 0;
  }
  if (untold_ == 0 && TryToWrite(fd_, line)) return;
  ++lost_;
  ++untold_;
}

uint64_t LineLog::lost() const {
  const std::lock_guard lock(mutex_);
  return lost_;
}

}  // namespace beryl::server
