// A file without a name: it disappears when it is closed, however the program ends.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/file.h"
#include "base/result.h"

namespace beryl::server {

// One thread at a time appends; others may read meanwhile.
class UnnamedFile {
 public:
  // In `folder`; if empty, in $TMPDIR or /var/tmp, which is a disk where /tmp may be memory.
  static Result<UnnamedFile> Create(const std::string& folder);
  UnnamedFile(UnnamedFile&& other) noexcept;
  UnnamedFile& operator=(UnnamedFile&& other) noexcept;
  ~UnnamedFile();

  GrowingFile& file() { return file_; }
  uint64_t size() const { return file_.size(); }
  // Thread-safe, even while another thread appends.
  uint64_t size_on_disk() const;
  Result<size_t> Read(uint64_t offset, std::span<char> buffer) const;
  // A name under which this process can open it again.
  std::string path() const;
  int fd() const { return fd_; }

 private:
  UnnamedFile(GrowingFile file, int fd) : file_(std::move(file)), fd_(fd) {}
  GrowingFile file_;
  int fd_ = -1;
};

}  // namespace beryl::server
