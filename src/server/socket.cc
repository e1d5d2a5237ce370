#include "server/socket.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

namespace beryl::server {
namespace {

constexpr int kBacklog = 128;

Error CannotListen(const Address& address, const std::string& why) {
  return IoError(fmt::format("cannot listen on {}: {}", address.text(), why));
}

struct AnySocketAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
};

AnySocketAddress SocketAddressOf(const Address& address) {
  AnySocketAddress any;
  if (address.is_unix()) {
    auto& local = reinterpret_cast<sockaddr_un&>(any.storage);
    local.sun_family = AF_UNIX;
    address.path.copy(local.sun_path, sizeof(local.sun_path) - 1);
    any.size = sizeof(local);
  } else if (address.is_ipv6) {
    auto& local = reinterpret_cast<sockaddr_in6&>(any.storage);
    local.sin6_family = AF_INET6;
    local.sin6_port = htons(address.port);
    inet_pton(AF_INET6, address.host.c_str(), &local.sin6_addr);
    any.size = sizeof(local);
  } else {
    auto& local = reinterpret_cast<sockaddr_in&>(any.storage);
    local.sin_family = AF_INET;
    local.sin_port = htons(address.port);
    inet_pton(AF_INET, address.host.c_str(), &local.sin_addr);
    any.size = sizeof(local);
  }
  return any;
}

// A socket of a monitor that was killed is left behind; one that somebody answers at is not ours.
bool IsLeftBehind(const Address& address) {
  struct stat status {};
  if (::stat(address.path.c_str(), &status) != 0 || !S_ISSOCK(status.st_mode)) return false;
  const OwnedFd probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  AnySocketAddress any = SocketAddressOf(address);
  return ::connect(probe.get(), any.get(), any.size) != 0 && errno == ECONNREFUSED;
}

}  // namespace

OwnedFd::~OwnedFd() {
  if (fd_ >= 0) ::close(fd_);
}

Result<int> Listen(Address& address, int* error) {
  const auto fail = [&](int code) {
    if (error != nullptr) *error = code;
    const std::string why = std::strerror(code);
    return CannotListen(address,
                        code == EADDRINUSE
                            ? why + "; is a monitor running already? --listen takes another address"
                            : why);
  };
  const int family = address.is_unix() ? AF_UNIX : address.is_ipv6 ? AF_INET6 : AF_INET;
  OwnedFd fd(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (fd.get() < 0) return fail(errno);
  const int on = 1;
  if (address.is_unix()) {
    if (IsLeftBehind(address)) ::unlink(address.path.c_str());
  } else {
    ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (address.is_ipv6) ::setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
  }
  AnySocketAddress any = SocketAddressOf(address);
  if (::bind(fd.get(), any.get(), any.size) != 0 || ::listen(fd.get(), kBacklog) != 0) {
    return fail(errno);
  }
  // Everybody may knock: who it is decides what he may see.
  if (address.is_unix()) ::chmod(address.path.c_str(), 0666);
  any.size = sizeof(any.storage);
  if (address.port == 0 && !address.is_unix() &&
      ::getsockname(fd.get(), any.get(), &any.size) == 0) {
    address.port = ntohs(address.is_ipv6 ? reinterpret_cast<sockaddr_in6&>(any.storage).sin6_port
                                         : reinterpret_cast<sockaddr_in&>(any.storage).sin_port);
  }
  return fd.release();
}

Deadline::Deadline(Nanos patience, int stop)
    : end_(std::chrono::steady_clock::now() + std::chrono::nanoseconds(patience.value)),
      stop_(stop) {}

bool Deadline::WaitFor(int fd, int16_t events) const {
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        end_ - std::chrono::steady_clock::now());
    if (left.count() <= 0) return false;
    std::array<pollfd, 2> wanted = {pollfd{fd, events, 0}, pollfd{stop_, POLLIN, 0}};
    const int ready = ::poll(wanted.data(), stop_ < 0 ? 1 : 2, static_cast<int>(left.count()));
    if (ready < 0 && errno != EINTR) return false;
    if (ready > 0) return wanted[1].revents == 0;
  }
}

}  // namespace beryl::server
