#include "server/unnamed_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"

namespace beryl::server {

Result<UnnamedFile> UnnamedFile::Create(const std::string& folder) {
  // Ignores the environment if the program has more rights than its caller.
  const char* temporary = ::secure_getenv("TMPDIR");
  const std::string where = !folder.empty()        ? folder
                            : temporary != nullptr ? temporary
                                                   : "/var/tmp";
  std::string path = where + "/beryl-session-XXXXXX";
  const int fd = ::mkostemp(path.data(), O_CLOEXEC);
  if (fd < 0) {
    return IoError(fmt::format("'{}': cannot keep the recordings of sessions there: {}; {}",
                               Printable(where), std::strerror(errno),
                               folder.empty() ? "set TMPDIR to a folder that can be written"
                                              : "give a folder that can be written"));
  }
  ::unlink(path.c_str());
  const int written = ::fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (written < 0) {
    ::close(fd);
    return IoError(
        fmt::format("'{}': cannot keep a session there: {}", path, std::strerror(errno)));
  }
  return UnnamedFile(GrowingFile::Of(written, path), fd);
}

UnnamedFile::UnnamedFile(UnnamedFile&& other) noexcept
    : file_(std::move(other.file_)), fd_(std::exchange(other.fd_, -1)) {}

UnnamedFile& UnnamedFile::operator=(UnnamedFile&& other) noexcept {
  std::swap(file_, other.file_);
  std::swap(fd_, other.fd_);
  return *this;
}

UnnamedFile::~UnnamedFile() {
  if (fd_ >= 0) ::close(fd_);
}

Result<size_t> UnnamedFile::Read(uint64_t offset, std::span<char> buffer) const {
  size_t done = 0;
  while (done < buffer.size()) {
    const ssize_t got =
        ::pread(fd_, buffer.data() + done, buffer.size() - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return IoError(fmt::format("a session's file: {}", std::strerror(errno)));
    if (got == 0) break;
    done += static_cast<size_t>(got);
  }
  return done;
}

uint64_t UnnamedFile::size_on_disk() const {
  struct stat status {};
  return ::fstat(fd_, &status) == 0 ? static_cast<uint64_t>(status.st_size) : 0;
}

std::string UnnamedFile::path() const { return fmt::format("/proc/self/fd/{}", fd_); }

}  // namespace beryl::server
