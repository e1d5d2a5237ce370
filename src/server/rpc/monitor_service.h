// Our own service, for one user.
#pragma once

#include <grpcpp/grpcpp.h>

#include "monitor.grpc.pb.h"
#include "server/rpc/gate.h"
#include "server/sessions.h"
#include "server/worker.h"

namespace beryl::server {

class MonitorService final : public monitor::v1::Monitor::CallbackService {
 public:
  // What takes long is left to `worker`.
  MonitorService(Sessions& sessions, const Gate& gate, Worker& worker)
      : sessions_(sessions), gate_(gate), worker_(worker) {}

  grpc::ServerUnaryReactor* Sources(grpc::CallbackServerContext* context,
                                    const monitor::v1::SourcesRequest* request,
                                    monitor::v1::SourcesResponse* response) override;
  grpc::ServerUnaryReactor* Start(grpc::CallbackServerContext* context,
                                  const monitor::v1::StartRequest* request,
                                  monitor::v1::StartResponse* response) override;
  grpc::ServerUnaryReactor* Stop(grpc::CallbackServerContext* context,
                                 const monitor::v1::StopRequest* request,
                                 monitor::v1::Session* response) override;
  grpc::ServerUnaryReactor* Read(grpc::CallbackServerContext* context,
                                 const monitor::v1::ReadRequest* request,
                                 monitor::v1::ReadResponse* response) override;
  grpc::ServerWriteReactor<monitor::v1::Batch>* Stream(
      grpc::CallbackServerContext* context, const monitor::v1::StreamRequest* request) override;
  grpc::ServerUnaryReactor* OpenWindow(grpc::CallbackServerContext* context,
                                       const monitor::v1::OpenWindowRequest* request,
                                       monitor::v1::OpenWindowResponse* response) override;
  grpc::ServerUnaryReactor* CloseWindow(grpc::CallbackServerContext* context,
                                        const monitor::v1::CloseWindowRequest* request,
                                        monitor::v1::Window* response) override;
  grpc::ServerWriteReactor<monitor::v1::DownloadPart>* Download(
      grpc::CallbackServerContext* context, const monitor::v1::DownloadRequest* request) override;
  grpc::ServerUnaryReactor* List(grpc::CallbackServerContext* context,
                                 const monitor::v1::ListRequest* request,
                                 monitor::v1::ListResponse* response) override;

 private:
  Sessions& sessions_;
  const Gate& gate_;
  Worker& worker_;
};

}  // namespace beryl::server
