// What a server of HTTP allows its clients. Each limit has a status of its own.
#pragma once

#include <climits>
#include <cstddef>
#include <cstdint>

#include "base/units.h"

namespace beryl::server {

struct HttpLimits {
  size_t head_bytes = 8192;                  // 431; of it, 414 for a longer target:
  size_t target_bytes = 4096;                //
  uint64_t body_bytes = uint64_t{64} << 10;  // 413; a route may have a limit of its own
  size_t connections = 128;                  // 503
  size_t connections_of_peer = 16;           // 429; of a local user, or of an address
  size_t streams = 64;                       // 503; answers that are made while they are sent
  size_t waiting = 1024;                     // 503; requests that wait for a worker
  Nanos head_patience{3'000'000'000};        // 408; for a whole head
  // For a whole body or answer, 408, and beyond this it needs `least_bytes_per_s` on the average.
  Nanos body_patience{10'000'000'000};
  uint64_t least_bytes_per_s = 16 << 10;
  Nanos idle_patience{60'000'000'000};  // between two requests; then the connection is closed
  size_t workers = 1;                   // threads that make answers
  size_t slow_workers = 1;              // further ones, for those that take seconds
  size_t cache_bytes = 0;               // of answers that are kept (HttpReuse::kKeep)
  int descriptors = INT_MAX;            // numbers from here on are left to root
};

}  // namespace beryl::server
