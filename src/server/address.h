// Where to listen: "unix:/run/beryl/monitor.sock", "127.0.0.1:50051", "[::1]:50051",
// "localhost:50051".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace beryl::server {

struct Address {
  std::string path;   // of a Unix socket; else empty
  std::string host;   // a numeric address, without brackets
  uint16_t port = 0;  // 0: any free port
  bool is_ipv6 = false;

  bool is_unix() const { return !path.empty(); }
  // Reachable only from this machine.
  bool is_local() const;
  std::string text() const;
};

// An Error says what is expected. Host names other than localhost are not looked up: a service must
// not depend on a resolver.
Result<Address> ParseAddress(std::string_view text);

}  // namespace beryl::server
