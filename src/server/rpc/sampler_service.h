// The published service, for one user.
#pragma once

#include <grpcpp/grpcpp.h>

#include "server/rpc/authenticator.h"
#include "server/sessions.h"
#include "smaragdine.grpc.pb.h"

namespace beryl::server {

// Answers Read with the bytes of the file, which may be many: as a message they would take several
// times their size in memory.
using SamplerBase = smaragdine::protos::sample::Sampler::WithCallbackMethod_Start<
    smaragdine::protos::sample::Sampler::WithCallbackMethod_Stop<
        smaragdine::protos::sample::Sampler::WithRawCallbackMethod_Read<
            smaragdine::protos::sample::Sampler::Service>>>;

class SamplerService final : public SamplerBase {
 public:
  SamplerService(Sessions& sessions, const Authenticator& authenticator)
      : sessions_(sessions), authenticator_(authenticator) {}

  grpc::ServerUnaryReactor* Start(grpc::CallbackServerContext* context,
                                  const smaragdine::protos::sample::StartRequest* request,
                                  smaragdine::protos::sample::StartResponse* response) override;
  grpc::ServerUnaryReactor* Stop(grpc::CallbackServerContext* context,
                                 const smaragdine::protos::sample::StopRequest* request,
                                 smaragdine::protos::sample::StopResponse* response) override;
  grpc::ServerUnaryReactor* Read(grpc::CallbackServerContext* context,
                                 const grpc::ByteBuffer* request,
                                 grpc::ByteBuffer* response) override;

 private:
  Sessions& sessions_;
  const Authenticator& authenticator_;
};

}  // namespace beryl::server
