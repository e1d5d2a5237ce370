#include "server/peer_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace beryl::server {

HttpPeer PeerOf(int fd, const HttpLimits& limits) {
  sockaddr_storage storage{};
  socklen_t size = sizeof(storage);
  char text[INET6_ADDRSTRLEN] = "";
  bool is_near = true;
  if (::getpeername(fd, reinterpret_cast<sockaddr*>(&storage), &size) == 0) {
    if (storage.ss_family == AF_INET) {
      const auto& address = reinterpret_cast<const sockaddr_in&>(storage);
      ::inet_ntop(AF_INET, &address.sin_addr, text, sizeof(text));
      is_near = (ntohl(address.sin_addr.s_addr) >> 24) == 127;
    } else if (storage.ss_family == AF_INET6) {
      const auto& address = reinterpret_cast<const sockaddr_in6&>(storage);
      ::inet_ntop(AF_INET6, &address.sin6_addr, text, sizeof(text));
      is_near = IN6_IS_ADDR_LOOPBACK(&address.sin6_addr) != 0;
    }
  }
  return {text[0] == '\0' ? "local" : text,
          is_near ? limits.connections : limits.connections_of_peer};
}

}  // namespace beryl::server
