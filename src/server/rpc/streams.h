// The two streaming answers. gRPC owns a reactor from its creation; the reactor deletes itself.
#pragma once

#include <grpcpp/grpcpp.h>

#include <memory>

#include "monitor.pb.h"
#include "server/batch_queue.h"
#include "server/unnamed_file.h"

namespace beryl::server {

// Sends batches as they arrive; ends after the last one, or when the client goes away.
grpc::ServerWriteReactor<monitor::v1::Batch>* SendBatches(std::shared_ptr<BatchQueue> queue);
// Sends a file up to its end.
grpc::ServerWriteReactor<monitor::v1::DownloadPart>* SendFile(
    std::shared_ptr<const UnnamedFile> file);
// Sends only an error status.
template <typename Message>
grpc::ServerWriteReactor<Message>* SendNothing(grpc::Status status) {
  class Reactor final : public grpc::ServerWriteReactor<Message> {
   public:
    explicit Reactor(grpc::Status why) { this->Finish(std::move(why)); }
    void OnDone() override { delete this; }
  };
  return new Reactor(std::move(status));
}

}  // namespace beryl::server
