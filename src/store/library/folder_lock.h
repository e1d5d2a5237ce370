// A folder belongs to one process at a time.
#pragma once

#include <chrono>
#include <string>
#include <utility>

#include "base/result.h"

namespace beryl::store {

// Held until it is destroyed, or its process ends, however it ends.
class FolderLock {
 public:
  FolderLock() = default;
  FolderLock(FolderLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FolderLock& operator=(FolderLock&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~FolderLock();

  // Waits so long at most. kNotNow: another process has it; the message says which.
  static Result<FolderLock> Take(const std::string& folder, std::chrono::milliseconds wait);

 private:
  explicit FolderLock(int fd) : fd_(fd) {}
  int fd_ = -1;
};

}  // namespace beryl::store
