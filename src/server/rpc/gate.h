// Who a call is from. There is a server for every user that has connected, and each has its gate:
// so a call can never be taken for another user's.
#pragma once

#include <grpcpp/grpcpp.h>

#include <cstdint>
#include <functional>
#include <string>

#include "server/answer.h"
#include "server/caller.h"

namespace beryl::server {

class Gate {
 public:
  // `connection_of` tells a connection by gRPC's name for its client, 0: it is closed; nothing:
  // connections cannot be told apart.
  Gate(uint32_t uid, std::string token, std::function<uint64_t(const std::string&)> connection_of);

  // Refuses calls without the token, where one is asked for, and calls of a connection that is
  // gone.
  Answer<Caller> Enter(const grpc::CallbackServerContext& context) const;

 private:
  uint32_t uid_;
  std::string token_;  // empty: none is needed
  std::function<uint64_t(const std::string&)> connection_of_;
};

}  // namespace beryl::server
