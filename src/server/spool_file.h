// A file without a name: it is gone when it is closed, however the program ends.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/file.h"
#include "base/result.h"

namespace beryl::server {

// Appending is for one thread at a time; reading may go on at the same time.
class SpoolFile {
 public:
  // In `folder`; empty: that of $TMPDIR, or /var/tmp, which is a disk where /tmp may be memory.
  static Result<SpoolFile> Create(const std::string& folder);
  SpoolFile(SpoolFile&& other) noexcept;
  SpoolFile& operator=(SpoolFile&& other) noexcept;
  ~SpoolFile();

  GrowingFile& file() { return file_; }
  uint64_t size() const { return file_.size(); }
  // The same for any thread, while another appends.
  uint64_t size_on_disk() const;
  Result<size_t> Read(uint64_t offset, std::span<char> buffer) const;
  // A name under which this process can open it again.
  std::string path() const;
  int fd() const { return fd_; }

 private:
  SpoolFile(GrowingFile file, int fd) : file_(std::move(file)), fd_(fd) {}
  GrowingFile file_;
  int fd_ = -1;
};

}  // namespace beryl::server
