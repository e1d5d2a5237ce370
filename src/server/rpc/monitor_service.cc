#include "server/rpc/monitor_service.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "base/file.h"
#include "base/text.h"
#include "flows/measure_run.h"
#include "monitor.grpc.pb.h"
#include "server/rpc/messages.h"
#include "server/rpc/status.h"
#include "server/rpc/streams.h"
#include "store/store.h"
#include "types/provenance.h"
#include "views/views.h"

namespace beryl::server {
namespace {

namespace v1 = monitor::v1;
using Context = grpc::CallbackServerContext;
using Unary = grpc::ServerUnaryReactor;

constexpr int64_t kSoonestBatchNs = 50'000'000;
constexpr int64_t kLatestBatchNs = 60'000'000'000;
constexpr size_t kUsualQueue = 16;
constexpr uint64_t kMostToRead = 256'000'000;
constexpr int kMostDownloads = 16;  // of the user whom a service is for

Unary* Finish(Context* context, grpc::Status status) {
  Unary* reactor = context->DefaultReactor();
  reactor->Finish(std::move(status));
  return reactor;
}

// A time beyond int64 is as good as the longest there is.
Nanos NanosOf(uint64_t value) {
  constexpr uint64_t kMost = std::numeric_limits<int64_t>::max() / 4;
  return Nanos{static_cast<int64_t>(std::min(value, kMost))};
}

// What was recorded so far, as `beryl show --format json` has it.
Result<std::string> Measure(const UnnamedFile& file) {
  auto source = TRY(ByteSource::Open(file.path()));
  flows::RunInput run;
  TRY(store::Load(source, {}, run));
  Measurement measured = flows::MeasureRun(run, {});
  measured.provenance = MakeProvenance(MetersOf(run.power.channels));
  return views::Write(measured, views::Format::kJson, {});
}

// Answers a call by what `work` makes of the caller, a Result, and `tell` of that.
template <typename Work, typename Tell>
Unary* Reply(const Authenticator& authenticator, Context* context, Work work, Tell tell) {
  const auto caller = authenticator.CallerOf(*context);
  if (!caller) return Finish(context, StatusOf(caller.error()));
  auto answer = work(*caller);
  if (!answer) return Finish(context, StatusOf(answer.error()));
  tell(*answer);
  return Finish(context, grpc::Status::OK);
}

class MonitorService final : public v1::Monitor::CallbackService {
 public:
  MonitorService(Sessions& sessions, const Authenticator& authenticator, Worker& worker)
      : sessions_(sessions), authenticator_(authenticator), worker_(worker) {}

  Unary* Sources(Context* context, const v1::SourcesRequest* /*request*/,
                 v1::SourcesResponse* response) override {
    return Reply(
        authenticator_, context,
        [&](const Caller&) { return Result<std::string>(sessions_.report()); },
        [&](const std::string& report) { response->set_json(report); });
  }

  Unary* Start(Context* context, const v1::StartRequest* request,
               v1::StartResponse* response) override {
    return Reply(
        authenticator_, context,
        [&](const Caller& caller) {
          SessionRequest wanted;
          wanted.pids.assign(request->pids().begin(), request->pids().end());
          wanted.period = NanosOf(request->period_ns());
          wanted.name = request->name();
          wanted.keep = request->keep();
          return sessions_.Start(caller, wanted);
        },
        [&](const SessionSummary& started) {
          response->set_session(started.id);
          response->set_start_ns(static_cast<uint64_t>(started.start.value));
          response->set_period_ns(static_cast<uint64_t>(started.period.value));
        });
  }

  Unary* Stop(Context* context, const v1::StopRequest* request, v1::Session* response) override {
    return Reply(
        authenticator_, context,
        [&](const Caller& caller) {
          return sessions_.Stop(caller, request->session(), request->forget());
        },
        [&](const SessionSummary& summary) { Fill(summary, *response); });
  }

  // The whole file is read into memory for that: one after the other, and none that is too big.
  Unary* Read(Context* context, const v1::ReadRequest* request,
              v1::ReadResponse* response) override {
    const auto caller = authenticator_.CallerOf(*context);
    if (!caller) return Finish(context, StatusOf(caller.error()));
    auto file = sessions_.Open(*caller, request->session());
    if (!file) return Finish(context, StatusOf(file.error()));
    if ((*file)->size_on_disk() > kMostToRead) {
      return Finish(context,
                    {grpc::StatusCode::RESOURCE_EXHAUSTED,
                     fmt::format("the session's file has {}, but Read accepts up to {}; fetch it "
                                 "with Download and use beryl show",
                                 FormatBytes((*file)->size_on_disk()), FormatBytes(kMostToRead))});
    }
    Unary* reactor = context->DefaultReactor();
    const bool taken =
        worker_.Do(caller->uid, [reactor, response, file = std::move(*file)](bool wanted) {
          if (!wanted) {
            return reactor->Finish({grpc::StatusCode::UNAVAILABLE, "the monitor is shutting down"});
          }
          auto measured = Measure(*file);
          if (!measured) {
            return reactor->Finish({grpc::StatusCode::INTERNAL, measured.error().message});
          }
          response->set_json(std::move(*measured));
          reactor->Finish(grpc::Status::OK);
        });
    if (!taken) {
      reactor->Finish(
          {grpc::StatusCode::RESOURCE_EXHAUSTED, "too many calls of Read are waiting already"});
    }
    return reactor;
  }

  grpc::ServerWriteReactor<v1::Batch>* Stream(Context* context,
                                              const v1::StreamRequest* request) override {
    const auto caller = authenticator_.CallerOf(*context);
    if (!caller) return SendNothing<v1::Batch>(StatusOf(caller.error()));
    StreamOptions options;
    if (request->every_ns() > 0) {
      options.every =
          std::clamp(NanosOf(request->every_ns()), Nanos{kSoonestBatchNs}, Nanos{kLatestBatchNs});
    }
    options.queue = request->queue() == 0 ? kUsualQueue : request->queue();
    options.stop_when_gone = request->stop_when_gone();
    options.with_readings = !request->without_readings();
    auto queue = sessions_.Stream(*caller, request->session(), options);
    if (!queue) return SendNothing<v1::Batch>(StatusOf(queue.error()));
    return SendBatches(std::move(*queue));
  }

  Unary* OpenWindow(Context* context, const v1::OpenWindowRequest* request,
                    v1::OpenWindowResponse* response) override {
    return Reply(
        authenticator_, context,
        [&](const Caller& caller) {
          return sessions_.OpenWindow(caller, request->session(), request->name());
        },
        [&](const Sessions::OpenedWindow& opened) {
          response->set_window(opened.window);
          response->set_start_ns(static_cast<uint64_t>(opened.start.value));
        });
  }

  Unary* CloseWindow(Context* context, const v1::CloseWindowRequest* request,
                     v1::Window* response) override {
    return Reply(
        authenticator_, context,
        [&](const Caller& caller) {
          return sessions_.CloseWindow(caller, request->session(), request->window());
        },
        [&](const LiveWindow& window) { Fill(window, *response); });
  }

  grpc::ServerWriteReactor<v1::DownloadPart>* Download(
      Context* context, const v1::DownloadRequest* request) override {
    const auto caller = authenticator_.CallerOf(*context);
    if (!caller) return SendNothing<v1::DownloadPart>(StatusOf(caller.error()));
    auto file = sessions_.Open(*caller, request->session());
    if (!file) return SendNothing<v1::DownloadPart>(StatusOf(file.error()));
    // Each holds a part of the file in memory. The last who holds the file counts it back.
    if (downloads_->fetch_add(1) >= kMostDownloads) {
      downloads_->fetch_sub(1);
      return SendNothing<v1::DownloadPart>(
          {grpc::StatusCode::RESOURCE_EXHAUSTED,
           fmt::format("{} downloads are running already, the most for one user", kMostDownloads)});
    }
    const UnnamedFile* opened = file->get();
    return SendFile(std::shared_ptr<const UnnamedFile>(
        opened, [held = std::move(*file), downloads = downloads_](const UnnamedFile*) {
          downloads->fetch_sub(1);
        }));
  }

  Unary* List(Context* context, const v1::ListRequest* /*request*/,
              v1::ListResponse* response) override {
    return Reply(
        authenticator_, context,
        [&](const Caller& caller) {
          return Result<std::vector<SessionSummary>>(sessions_.List(caller));
        },
        [&](const std::vector<SessionSummary>& list) {
          for (const SessionSummary& summary : list) Fill(summary, *response->add_sessions());
        });
  }

 private:
  Sessions& sessions_;
  const Authenticator& authenticator_;
  Worker& worker_;
  std::shared_ptr<std::atomic<int>> downloads_ = std::make_shared<std::atomic<int>>(0);
};

}  // namespace

std::unique_ptr<grpc::Service> MakeMonitorService(Sessions& sessions,
                                                  const Authenticator& authenticator,
                                                  Worker& worker) {
  return std::make_unique<MonitorService>(sessions, authenticator, worker);
}

}  // namespace beryl::server
