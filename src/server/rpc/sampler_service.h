// The published service, for one user.
#pragma once

#include <grpcpp/grpcpp.h>

#include "server/rpc/gate.h"
#include "server/sessions.h"
#include "smaragdine.grpc.pb.h"

namespace beryl::server {

// Read is answered with bytes as they stand in the file, which may be many: as a message they would
// take several times their size in memory.
using SamplerBase = smaragdine::protos::sample::Sampler::WithCallbackMethod_Start<
    smaragdine::protos::sample::Sampler::WithCallbackMethod_Stop<
        smaragdine::protos::sample::Sampler::WithRawCallbackMethod_Read<
            smaragdine::protos::sample::Sampler::Service>>>;

class SamplerService final : public SamplerBase {
 public:
  SamplerService(Sessions& sessions, const Gate& gate) : sessions_(sessions), gate_(gate) {}

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
  const Gate& gate_;
};

}  // namespace beryl::server
