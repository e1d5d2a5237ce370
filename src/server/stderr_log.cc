#include "server/stderr_log.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"

namespace beryl::server {
namespace {

// O_NONBLOCK on the descriptor itself would apply to all who share it, and without it, a pipe that
// has room may be full when it is written to. A pipe of another user may not be opened again.
int OpenAgain(int fd) {
  struct stat status {};
  if (::fstat(fd, &status) != 0 || !(S_ISFIFO(status.st_mode) || S_ISCHR(status.st_mode))) {
    return -1;
  }
  return ::open(fmt::format("/proc/self/fd/{}", fd).c_str(),
                O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

std::string LinesLost(uint64_t lines) {
  return fmt::format("{} log lines were lost because nobody read them", lines);
}

}  // namespace

LineLog::LineLog(int fd, std::string prefix, TellLost tell_lost)
    : given_(fd),
      own_(OpenAgain(fd)),
      prefix_(std::move(prefix)),
      tell_lost_(tell_lost != nullptr ? tell_lost : &LinesLost) {}

LineLog::~LineLog() {
  if (own_ >= 0) ::close(own_);
}

// A pipe takes a line of up to PIPE_BUF bytes as a whole or not at all; a terminal may cut it.
bool LineLog::TryToWrite(std::string_view line) {
  ssize_t written = -1;
  if (own_ >= 0) {
    written = ::write(own_, line.data(), line.size());
  } else {
    written = ::send(given_, line.data(), line.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (written < 0 && errno == ENOTSOCK) {
      pollfd wanted{given_, POLLOUT, 0};
      if (::poll(&wanted, 1, 0) <= 0 || (wanted.revents & POLLOUT) == 0) return false;
      written = ::write(given_, line.data(), line.size());
    }
  }
  if (written > 0) cut_ = written < static_cast<ssize_t>(line.size());
  return written == static_cast<ssize_t>(line.size());
}

void LineLog::Say(std::string_view what) {
  std::string line = prefix_ + Printable(what.substr(0, PIPE_BUF));
  if (line.size() >= PIPE_BUF - 1) line.resize(PIPE_BUF - 2);
  line += '\n';
  const std::lock_guard lock(mutex_);
  if (cut_) line.insert(0, 1, '\n');
  if (untold_ > 0 &&
      TryToWrite(fmt::format("{}{}{}\n", cut_ ? "\n" : "", prefix_, tell_lost_(untold_)))) {
    untold_ = 0;
  }
  if (untold_ == 0 && TryToWrite(line)) return;
  ++lost_;
  ++untold_;
}

uint64_t LineLog::lost() const {
  const std::lock_guard lock(mutex_);
  return lost_;
}

LineQuota::LineQuota(uint32_t at_once, Clock::duration each)
    : at_once_(at_once), each_(each), left_(at_once), refilled_(Clock::now()) {}

bool LineQuota::Take(Clock::time_point now, uint64_t& unsaid) {
  const auto more = std::max<Clock::rep>(0, (now - refilled_) / each_);
  refilled_ += more * each_;
  left_ = static_cast<uint32_t>(std::min<Clock::rep>(at_once_, left_ + more));
  if (left_ == 0) {
    ++unsaid_;
    return false;
  }
  --left_;
  unsaid = std::exchange(unsaid_, 0);
  return true;
}

}  // namespace beryl::server
