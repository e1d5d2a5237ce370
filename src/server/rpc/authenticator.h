// Identifies the user of a call. Every connected user has a server with its own authenticator, so a
// call can never be taken for another user's.
#pragma once

#include <grpcpp/grpcpp.h>

#include <cstdint>
#include <functional>
#include <string>

#include "server/caller.h"

namespace beryl::server {

class Authenticator {
 public:
  // `connection_of` finds a connection by gRPC's name for its client. 0: it is closed; nothing:
  // connections cannot be distinguished.
  Authenticator(uint32_t uid, std::string token,
                std::function<uint64_t(const std::string&)> connection_of);

  // Refuses calls without the token, if one is required, and calls of a closed connection.
  Result<Caller> CallerOf(const grpc::CallbackServerContext& context) const;

 private:
  uint32_t uid_;
  std::string token_;  // empty: not required
  std::function<uint64_t(const std::string&)> connection_of_;
};

}  // namespace beryl::server
