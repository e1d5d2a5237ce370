#include "server/rpc/monitor_service.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "server/rpc/messages.h"
#include "server/rpc/status.h"
#include "server/rpc/streams.h"

namespace beryl::server {
namespace {

namespace v1 = monitor::v1;
using Context = grpc::CallbackServerContext;
using Unary = grpc::ServerUnaryReactor;

constexpr int64_t kSoonestBatchNs = 50'000'000;
constexpr int64_t kLatestBatchNs = 60'000'000'000;
constexpr size_t kUsualQueue = 16;
constexpr uint64_t kMostToRead = 256'000'000;

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

// Answers a call by what `work` makes of the caller, an Answer, and `tell` of that.
template <typename Work, typename Tell>
Unary* Reply(const Gate& gate, Context* context, Work work, Tell tell) {
  const auto caller = gate.Enter(*context);
  if (!caller) return Finish(context, StatusOf(caller.refused()));
  auto answer = work(*caller);
  if (!answer) return Finish(context, StatusOf(answer.refused()));
  return Finish(context, tell(*answer));
}

}  // namespace

Unary* MonitorService::Sources(Context* context, const v1::SourcesRequest* /*request*/,
                               v1::SourcesResponse* response) {
  return Reply(
      gate_, context, [&](const Caller&) { return Answer<std::string>(sessions_.report()); },
      [&](const std::string& report) {
        response->set_json(report);
        return grpc::Status::OK;
      });
}

Unary* MonitorService::Start(Context* context, const v1::StartRequest* request,
                             v1::StartResponse* response) {
  return Reply(
      gate_, context,
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
        return grpc::Status::OK;
      });
}

Unary* MonitorService::Stop(Context* context, const v1::StopRequest* request,
                            v1::Session* response) {
  return Reply(
      gate_, context,
      [&](const Caller& caller) {
        return sessions_.Stop(caller, request->session(), request->forget());
      },
      [&](const SessionSummary& summary) {
        Fill(summary, *response);
        return grpc::Status::OK;
      });
}

// The whole file is read into memory for that: one after the other, and none that is too big.
Unary* MonitorService::Read(Context* context, const v1::ReadRequest* request,
                            v1::ReadResponse* response) {
  const auto caller = gate_.Enter(*context);
  if (!caller) return Finish(context, StatusOf(caller.refused()));
  auto book = sessions_.Open(*caller, request->session());
  if (!book) return Finish(context, StatusOf(book.refused()));
  if ((*book)->file_bytes() > kMostToRead) {
    return Finish(context,
                  {grpc::StatusCode::RESOURCE_EXHAUSTED,
                   fmt::format("the session's file has {}, and Read takes up to {}; fetch "
                               "it by Download and use beryl show",
                               FormatBytes((*book)->file_bytes()), FormatBytes(kMostToRead))});
  }
  Unary* reactor = context->DefaultReactor();
  const bool taken = worker_.Do([reactor, response, book = std::move(*book)](bool wanted) {
    if (!wanted) {
      return reactor->Finish({grpc::StatusCode::UNAVAILABLE, "the monitor ends"});
    }
    auto measured = book->Measure();
    if (!measured) return reactor->Finish(StatusOf(measured.error()));
    response->set_json(std::move(*measured));
    reactor->Finish(grpc::Status::OK);
  });
  if (!taken) {
    reactor->Finish(
        {grpc::StatusCode::RESOURCE_EXHAUSTED, "too many calls of Read are waiting already"});
  }
  return reactor;
}

grpc::ServerWriteReactor<v1::Batch>* MonitorService::Stream(Context* context,
                                                            const v1::StreamRequest* request) {
  const auto caller = gate_.Enter(*context);
  if (!caller) return SendNothing<v1::Batch>(StatusOf(caller.refused()));
  StreamOptions options;
  if (request->every_ns() > 0) {
    options.every =
        std::clamp(NanosOf(request->every_ns()), Nanos{kSoonestBatchNs}, Nanos{kLatestBatchNs});
  }
  options.queue = request->queue() == 0 ? kUsualQueue : request->queue();
  options.stop_when_gone = request->stop_when_gone();
  options.with_readings = !request->without_readings();
  auto queue = sessions_.Stream(*caller, request->session(), options);
  if (!queue) return SendNothing<v1::Batch>(StatusOf(queue.refused()));
  return SendBatches(std::move(*queue));
}

Unary* MonitorService::OpenWindow(Context* context, const v1::OpenWindowRequest* request,
                                  v1::OpenWindowResponse* response) {
  return Reply(
      gate_, context,
      [&](const Caller& caller) {
        return sessions_.OpenWindow(caller, request->session(), request->name());
      },
      [&](const Sessions::OpenedWindow& opened) {
        response->set_window(opened.window);
        response->set_start_ns(static_cast<uint64_t>(opened.start.value));
        return grpc::Status::OK;
      });
}

Unary* MonitorService::CloseWindow(Context* context, const v1::CloseWindowRequest* request,
                                   v1::Window* response) {
  return Reply(
      gate_, context,
      [&](const Caller& caller) {
        return sessions_.CloseWindow(caller, request->session(), request->window());
      },
      [&](const WindowEnd& window) {
        Fill(window, *response);
        return grpc::Status::OK;
      });
}

grpc::ServerWriteReactor<v1::DownloadPart>* MonitorService::Download(
    Context* context, const v1::DownloadRequest* request) {
  const auto caller = gate_.Enter(*context);
  if (!caller) return SendNothing<v1::DownloadPart>(StatusOf(caller.refused()));
  auto book = sessions_.Open(*caller, request->session());
  if (!book) return SendNothing<v1::DownloadPart>(StatusOf(book.refused()));
  return SendFile(std::move(*book));
}

Unary* MonitorService::List(Context* context, const v1::ListRequest* /*request*/,
                            v1::ListResponse* response) {
  return Reply(
      gate_, context,
      [&](const Caller& caller) {
        return Answer<std::vector<SessionSummary>>(sessions_.List(caller));
      },
      [&](const std::vector<SessionSummary>& list) {
        for (const SessionSummary& summary : list) Fill(summary, *response->add_sessions());
        return grpc::Status::OK;
      });
}

}  // namespace beryl::server
