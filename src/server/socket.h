// Sockets, as much of them as listening and sending takes.
#pragma once

#include <chrono>
#include <cstdint>
#include <utility>

#include "base/result.h"
#include "base/units.h"
#include "server/address.h"

namespace beryl::server {

// Listens; fills in the port, if any would do. An Error says who may have it, for a port or path
// that is taken, and `error` is errno. The path of a Unix socket that nobody listens on any more is
// taken over.
Result<int> Listen(Address& address, int* error = nullptr);

// A file descriptor that is closed with it.
class OwnedFd {
 public:
  explicit OwnedFd(int fd = -1) : fd_(fd) {}
  OwnedFd(OwnedFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  OwnedFd& operator=(OwnedFd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~OwnedFd();
  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

// How long something may take, all its steps together, and what ends it before that.
class Deadline {
 public:
  // `stop`: an eventfd that becomes readable when nobody wants it any more; -1: none.
  explicit Deadline(Nanos patience, int stop = -1);
  // Waits until `fd` can be read from, or written to. False: it is too late, or not wanted.
  bool WaitFor(int fd, int16_t events) const;

 private:
  std::chrono::steady_clock::time_point end_;
  int stop_;
};

}  // namespace beryl::server
