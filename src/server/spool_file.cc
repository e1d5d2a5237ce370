#include "server/spool_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <fmt/format.h>

namespace beryl::server {

Result<SpoolFile> SpoolFile::Create(const std::string& folder) {
  // Not from the environment of whoever started a program that has more rights than he.
  const char* temporary = ::secure_getenv("TMPDIR");
  std::string path = !folder.empty() ? folder : temporary != nullptr ? temporary : "/var/tmp";
  path += "/beryl-session-XXXXXX";
  const int fd = ::mkostemp(path.data(), O_CLOEXEC);
  if (fd < 0) {
    return IoError(
        fmt::format("'{}': cannot keep a session there: {}; set TMPDIR to a folder "
                    "that can be written",
                    path, std::strerror(errno)));
  }
  auto file = GrowingFile::Open(path);
  ::unlink(path.c_str());
  if (!file) {
    ::close(fd);
    return file.error();
  }
  return SpoolFile(std::move(*file), fd);
}

SpoolFile::SpoolFile(SpoolFile&& other) noexcept
    : file_(std::move(other.file_)), fd_(std::exchange(other.fd_, -1)) {}

SpoolFile& SpoolFile::operator=(SpoolFile&& other) noexcept {
  std::swap(file_, other.file_);
  std::swap(fd_, other.fd_);
  return *this;
}

SpoolFile::~SpoolFile() {
  if (fd_ >= 0) ::close(fd_);
}

Result<size_t> SpoolFile::Read(uint64_t offset, std::span<char> buffer) const {
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

uint64_t SpoolFile::size_on_disk() const {
  struct stat status {};
  return ::fstat(fd_, &status) == 0 ? static_cast<uint64_t>(status.st_size) : 0;
}

std::string SpoolFile::path() const { return fmt::format("/proc/self/fd/{}", fd_); }

}  // namespace beryl::server
