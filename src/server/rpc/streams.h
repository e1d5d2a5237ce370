// The two answers that come in parts. A reactor belongs to gRPC from its birth on and ends itself.
#pragma once

#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>

#include "monitor.pb.h"
#include "server/batch_queue.h"
#include "server/meters.h"

namespace beryl::server {

// Sends batches as they come; ends after the last one, or when the client goes away.
grpc::ServerWriteReactor<monitor::v1::Batch>* SendBatches(std::shared_ptr<BatchQueue> queue);
// Sends the file of a book up to its end.
grpc::ServerWriteReactor<monitor::v1::DownloadPart>* SendFile(std::shared_ptr<SessionBook> book);
// Sends nothing but why not.
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
