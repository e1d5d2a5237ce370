// Who is at the other end of a local connection.
#pragma once

#include <cstdint>
#include <optional>

namespace beryl::server {

// The user, as the kernel reports it: the peer credentials of a Unix socket, or the owner of the
// client's socket in the table of TCP connections. Nothing if unknown.
std::optional<uint32_t> OwnerOfPeer(int fd);

}  // namespace beryl::server
