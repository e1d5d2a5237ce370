// Who an HTTP connection is from, by its address.
#pragma once

#include "server/http/server.h"

namespace beryl::server {

// Connections of one address share what a peer may have; those of this machine, where a proxy may
// be, have all there are.
HttpPeer PeerOf(int fd, const HttpLimits& limits);

}  // namespace beryl::server
