#include "server/socket.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

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

// A killed monitor leaves its socket behind; a socket that answers belongs to another monitor.
bool IsLeftBehind(const Address& address) {
  struct stat status {};
  if (::lstat(address.path.c_str(), &status) != 0 || !S_ISSOCK(status.st_mode)) return false;
  const OwnedFd probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  AnySocketAddress any = SocketAddressOf(address);
  return ::connect(probe.get(), any.get(), any.size) != 0 && errno == ECONNREFUSED;
}

}  // namespace

OwnedFd::~OwnedFd() {
  if (fd_ >= 0) ::close(fd_);
}

// fchmod does not take a descriptor of a path, so the path of the descriptor is used.
int LetEverybodyConnect(const std::string& path) {
  const OwnedFd file(::open(path.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  if (file.get() < 0) return errno;
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return errno;
  if (!S_ISSOCK(status.st_mode) || status.st_uid != ::geteuid()) return EPERM;
  return ::chmod(fmt::format("/proc/self/fd/{}", file.get()).c_str(), 0666) == 0 ? 0 : errno;
}

Result<int> Listen(Address& address, int* error) {
  const auto fail = [&](int code) {
    if (error != nullptr) *error = code;
    const std::string why = std::strerror(code);
    return CannotListen(
        address,
        code == EADDRINUSE ? why + "; is a monitor running already? choose another address" : why);
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
  if (address.is_unix()) {
    if (const int code = LetEverybodyConnect(address.path); code != 0) return fail(code);
  }
  any.size = sizeof(any.storage);
  if (address.port == 0 && !address.is_unix() &&
      ::getsockname(fd.get(), any.get(), &any.size) == 0) {
    address.port = ntohs(address.is_ipv6 ? reinterpret_cast<sockaddr_in6&>(any.storage).sin6_port
                                         : reinterpret_cast<sockaddr_in&>(any.storage).sin_port);
  }
  return fd.release();
}

}  // namespace beryl::server
