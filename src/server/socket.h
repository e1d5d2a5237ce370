// The socket functions needed to listen and to send.
#pragma once

#include <string>
#include <utility>

#include "base/result.h"
#include "server/address.h"

namespace beryl::server {

// Listens; fills in the port if it was 0. For a port or path in use, the Error says who may have
// it, and `error` is errno. Takes over the path of a Unix socket that nobody listens on any more.
Result<int> Listen(Address& address, int* error = nullptr);

// Gives everybody the right to connect to the Unix socket at `path`: the user decides what is
// visible. Returns 0 or errno. In a folder that others may write, the path may name something else
// by now: a link is not followed, and EPERM is what anything but a socket of ours gets.
int LetEverybodyConnect(const std::string& path);

// A file descriptor that is closed on destruction.
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

}  // namespace beryl::server
