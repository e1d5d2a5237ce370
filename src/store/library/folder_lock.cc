#include "store/library/folder_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <thread>

#include <fmt/format.h>

#include "base/text.h"

namespace beryl::store {

FolderLock::~FolderLock() {
  if (fd_ >= 0) ::close(fd_);
}

Result<FolderLock> FolderLock::Take(const std::string& folder, std::chrono::milliseconds wait) {
  const std::string path = folder + "/library.lock";
  FolderLock lock(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (lock.fd_ < 0) return IoError(fmt::format("{}: {}", path, std::strerror(errno)));
  const auto end = std::chrono::steady_clock::now() + wait;
  while (::flock(lock.fd_, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK) return IoError(fmt::format("{}: {}", path, std::strerror(errno)));
    if (std::chrono::steady_clock::now() >= end) {
      std::array<char, 64> text{};
      const ssize_t got = ::pread(lock.fd_, text.data(), text.size(), 0);
      const std::string_view said(text.data(), got > 0 ? static_cast<size_t>(got) : 0);
      return Error{
          ErrorCode::kNotNow,
          fmt::format("{}: process {} has this library open; one process at a time can. "
                      "End it, ask it over its address if it is a server, or use a library "
                      "in PostgreSQL, which several servers share",
                      folder, said.empty() ? "?" : Printable(Trim(said)))};
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  const std::string mine = std::to_string(::getpid()) + "\n";
  (void)::ftruncate(lock.fd_, 0);
  (void)::pwrite(lock.fd_, mine.data(), mine.size(), 0);
  return lock;
}

}  // namespace beryl::store
