#include "server/rpc/streams.h"

#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "server/rpc/messages.h"
#include "server/rpc/status.h"

namespace beryl::server {
namespace {

constexpr size_t kPartBytes = 256 * 1024;

class BatchReactor final : public grpc::ServerWriteReactor<monitor::v1::Batch> {
 public:
  explicit BatchReactor(std::shared_ptr<BatchQueue> queue)
      : queue_(std::move(queue)), link_(std::make_shared<Link>()) {
    link_->reactor = this;
    queue_->Attach([link = link_] {
      const std::lock_guard lock(link->mutex);
      if (link->reactor != nullptr) link->reactor->Go();
    });
    // So that the client knows at once that it is being served.
    StartSendInitialMetadata();
    const std::lock_guard lock(link_->mutex);
    Go();
  }

  void OnWriteDone(bool ok) override {
    const std::lock_guard lock(link_->mutex);
    writing_ = false;
    // A write that was under way when the client went may still end well; nobody else ends the
    // call.
    if (!ok || cancelled_) {
      return End(grpc::Status(grpc::StatusCode::CANCELLED, "the client is gone"));
    }
    if (message_.last()) return End(grpc::Status::OK);
    Go();
  }
  void OnCancel() override {
    queue_->Detach();
    const std::lock_guard lock(link_->mutex);
    cancelled_ = true;
    if (!writing_) End(grpc::Status::CANCELLED);
  }
  void OnDone() override {
    queue_->Detach();
    {
      const std::lock_guard lock(link_->mutex);
      link_->reactor = nullptr;
    }
    delete this;
  }

 private:
  // What a call from the queue may still find when the reactor is gone.
  struct Link {
    // A write may be over, and tell so on this very thread, before the call that started it is.
    std::recursive_mutex mutex;
    BatchReactor* reactor = nullptr;
  };

  void Go() {
    if (writing_ || ended_ || cancelled_) return;
    auto batch = queue_->Take();
    if (!batch) return;
    message_.Clear();
    Fill(*batch, message_);
    writing_ = true;
    StartWrite(&message_);
  }
  void End(grpc::Status status) {
    if (std::exchange(ended_, true)) return;
    Finish(std::move(status));
  }

  std::shared_ptr<BatchQueue> queue_;
  std::shared_ptr<Link> link_;
  monitor::v1::Batch message_;
  bool writing_ = false;
  bool cancelled_ = false;
  bool ended_ = false;
};

class FileReactor final : public grpc::ServerWriteReactor<monitor::v1::DownloadPart> {
 public:
  explicit FileReactor(std::shared_ptr<SessionBook> book) : book_(std::move(book)) { Go(); }

  void OnWriteDone(bool ok) override {
    if (!ok) return Finish(grpc::Status::CANCELLED);
    Go();
  }
  void OnDone() override { delete this; }

 private:
  void Go() {
    std::string& part = *message_.mutable_bytes();
    part.resize(kPartBytes);
    const auto got = book_->ReadFile(offset_, std::span(part));
    if (!got) return Finish(StatusOf(got.error()));
    if (*got == 0) return Finish(grpc::Status::OK);
    part.resize(*got);
    offset_ += *got;
    StartWrite(&message_);
  }

  std::shared_ptr<SessionBook> book_;
  uint64_t offset_ = 0;
  monitor::v1::DownloadPart message_;
};

}  // namespace

grpc::ServerWriteReactor<monitor::v1::Batch>* SendBatches(std::shared_ptr<BatchQueue> queue) {
  return new BatchReactor(std::move(queue));
}

grpc::ServerWriteReactor<monitor::v1::DownloadPart>* SendFile(std::shared_ptr<SessionBook> book) {
  return new FileReactor(std::move(book));
}

}  // namespace beryl::server
