#include "server/rpc/streams.h"

#include <mutex>
#include <span>
#include <utility>

#include "server/rpc/messages.h"
#include "server/rpc/status.h"

namespace beryl::server {
namespace {

constexpr size_t kPartBytes = 256 * 1024;

class BatchReactor final : public grpc::ServerWriteReactor<monitor::v1::Batch> {
 public:
  explicit BatchReactor(std::shared_ptr<BatchQueue> queue)
      : queue_(std::move(queue)), slot_(std::make_shared<ReactorSlot>()) {
    slot_->reactor = this;
    queue_->Attach([slot = slot_] {
      const std::lock_guard lock(slot->mutex);
      if (slot->reactor != nullptr) slot->reactor->WriteNext();
    });
    // Tells the client at once that it is served.
    StartSendInitialMetadata();
    const std::lock_guard lock(slot_->mutex);
    WriteNext();
  }

  void OnWriteDone(bool ok) override {
    const std::lock_guard lock(slot_->mutex);
    writing_ = false;
    // A write in progress when the client left may still succeed; nothing else ends the call.
    if (!ok || cancelled_) {
      return End(grpc::Status(grpc::StatusCode::CANCELLED, "the client is gone"));
    }
    if (message_.last()) return End(grpc::Status::OK);
    WriteNext();
  }
  void OnCancel() override {
    queue_->Detach();
    const std::lock_guard lock(slot_->mutex);
    cancelled_ = true;
    if (!writing_) End(grpc::Status::CANCELLED);
  }
  void OnDone() override {
    queue_->Detach();
    {
      const std::lock_guard lock(slot_->mutex);
      slot_->reactor = nullptr;
    }
    delete this;
  }

 private:
  // Lets a call from the queue find out that the reactor is gone.
  struct ReactorSlot {
    // A write may complete, and report that on this thread, before the call that started it
    // returns.
    std::recursive_mutex mutex;
    BatchReactor* reactor = nullptr;
  };

  void WriteNext() {
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
  std::shared_ptr<ReactorSlot> slot_;
  monitor::v1::Batch message_;
  bool writing_ = false;
  bool cancelled_ = false;
  bool ended_ = false;
};

class FileReactor final : public grpc::ServerWriteReactor<monitor::v1::DownloadPart> {
 public:
  explicit FileReactor(std::shared_ptr<const UnnamedFile> file) : file_(std::move(file)) {
    WriteNext();
  }

  void OnWriteDone(bool ok) override {
    if (!ok) return Finish(grpc::Status::CANCELLED);
    WriteNext();
  }
  void OnDone() override { delete this; }

 private:
  void WriteNext() {
    std::string& part = *message_.mutable_bytes();
    part.resize(kPartBytes);
    const auto got = file_->Read(offset_, std::span(part));
    if (!got) return Finish(StatusOf(got.error()));
    if (*got == 0) return Finish(grpc::Status::OK);
    part.resize(*got);
    offset_ += *got;
    StartWrite(&message_);
  }

  std::shared_ptr<const UnnamedFile> file_;
  uint64_t offset_ = 0;
  monitor::v1::DownloadPart message_;
};

}  // namespace

grpc::ServerWriteReactor<monitor::v1::Batch>* SendBatches(std::shared_ptr<BatchQueue> queue) {
  return new BatchReactor(std::move(queue));
}

grpc::ServerWriteReactor<monitor::v1::DownloadPart>* SendFile(
    std::shared_ptr<const UnnamedFile> file) {
  return new FileReactor(std::move(file));
}

}  // namespace beryl::server
