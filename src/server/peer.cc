#include "server/peer.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstring>

#include "base/file.h"
#include "server/caller.h"

namespace beryl::server {
namespace {

constexpr size_t kMostOfTable = size_t{64} << 20;

std::optional<TcpEnd> EndOf(const sockaddr_storage& storage) {
  TcpEnd end;
  if (storage.ss_family == AF_INET) {
    const auto& address = reinterpret_cast<const sockaddr_in&>(storage);
    std::memcpy(end.address, &address.sin_addr, 4);
    end.port = ntohs(address.sin_port);
    return end;
  }
  if (storage.ss_family != AF_INET6) return std::nullopt;
  const auto& address = reinterpret_cast<const sockaddr_in6&>(storage);
  end.length = 16;
  std::memcpy(end.address, &address.sin6_addr, 16);
  end.port = ntohs(address.sin6_port);
  return end;
}

std::optional<uint32_t> OwnerIn(const char* path, const TcpEnd& client, const TcpEnd& server) {
  // Always the real /proc, whatever machine is measured: the connection is real, too.
  auto table = ByteSource::Open(path);
  if (!table) return std::nullopt;
  const auto text = ReadAll(*table, kMostOfTable);
  if (!text) return std::nullopt;
  return OwnerOfConnection(*text, client, server);
}

// 127.0.0.1 as ::ffff:127.0.0.1.
TcpEnd Mapped(const TcpEnd& end) {
  TcpEnd mapped;
  mapped.length = 16;
  mapped.port = end.port;
  mapped.address[10] = mapped.address[11] = 0xff;
  std::memcpy(mapped.address + 12, end.address, 4);
  return mapped;
}

}  // namespace

std::optional<uint32_t> OwnerOfPeer(int fd) {
  sockaddr_storage local{};
  sockaddr_storage remote{};
  socklen_t size = sizeof(local);
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&local), &size) != 0) return std::nullopt;
  if (local.ss_family == AF_UNIX) {
    ucred owner{};
    size = sizeof(owner);
    if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &owner, &size) != 0) return std::nullopt;
    return owner.uid;
  }
  size = sizeof(remote);
  if (::getpeername(fd, reinterpret_cast<sockaddr*>(&remote), &size) != 0) return std::nullopt;
  const auto server = EndOf(local);
  const auto client = EndOf(remote);
  if (!server || !client) return std::nullopt;
  if (client->length == 16) return OwnerIn("/proc/net/tcp6", *client, *server);
  if (const auto owner = OwnerIn("/proc/net/tcp", *client, *server)) return owner;
  // A client with a dual-stack socket, like gRPC's, is in the other table.
  return OwnerIn("/proc/net/tcp6", Mapped(*client), Mapped(*server));
}

}  // namespace beryl::server
