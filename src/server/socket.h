// Sockets, as much of them as listening and sending takes.
#pragma once

#include <cstdint>
#include <utility>

#include "base/result.h"
#include "base/units.h"
#include "server/address.h"

namespace beryl::server {

// Listens; fills in the port, if any would do. An Error says who may have it, for a port or path
// that is taken. The path of a Unix socket that nobody listens on any more is taken over.
Result<int> Listen(Address& address);

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

// Waits until it can be read from, or written to. False: it took longer than `patience`.
bool WaitFor(int fd, int16_t events, Nanos patience);

}  // namespace beryl::server
