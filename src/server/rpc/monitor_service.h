// Our own service, for one user.
#pragma once

#include <grpcpp/grpcpp.h>

#include <memory>

#include "server/rpc/authenticator.h"
#include "server/sessions.h"
#include "server/worker.h"

namespace beryl::server {

// Its calls are in api/monitor.proto. What takes long is left to `worker`. All of these have to
// outlive it.
std::unique_ptr<grpc::Service> MakeMonitorService(Sessions& sessions,
                                                  const Authenticator& authenticator,
                                                  Worker& worker);

}  // namespace beryl::server
