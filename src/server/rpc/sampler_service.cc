#include "server/rpc/sampler_service.h"

#include <grpc/slice.h>
#include <sys/mman.h>

#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/wire_writer.h"
#include "server/rpc/status.h"

namespace beryl::server {
namespace {

namespace published = smaragdine::protos::sample;

constexpr int64_t kNanosOfMilli = 1'000'000;

std::optional<int32_t> PidOf(const auto& request) {
  if (!request.has_pid()) return std::nullopt;
  // No process has such a number, so it will not be found.
  if (request.pid() > std::numeric_limits<int32_t>::max()) return -1;
  return static_cast<int32_t>(request.pid());
}

// A sample file that a slice refers to.
struct Mapping {
  std::shared_ptr<PublishedSamples> samples;
  void* start = nullptr;
  size_t size = 0;
};

void Unmap(void* given) {
  const std::unique_ptr<Mapping> mapping(static_cast<Mapping*>(given));
  ::munmap(mapping->start, mapping->size);
}

// The field `data` of a ReadResponse: the concatenated bytes of the files.
std::optional<grpc::ByteBuffer> ResponseOf(const Sessions::Unread& unread) {
  size_t all = 0;
  for (const auto& samples : unread) all += samples->file().size();
  std::string head(1, static_cast<char>((1 << 3) | 2));
  PutVarint(head, all);
  std::vector<grpc::Slice> slices;
  slices.emplace_back(head);
  for (const auto& samples : unread) {
    const size_t size = samples->file().size();
    if (size == 0) continue;
    void* start = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, samples->file().fd(), 0);
    if (start == MAP_FAILED) return std::nullopt;
    auto mapping = std::make_unique<Mapping>(Mapping{samples, start, size});
    slices.emplace_back(grpc_slice_new_with_user_data(start, size, &Unmap, mapping.release()),
                        grpc::Slice::STEAL_REF);
  }
  return grpc::ByteBuffer(slices.data(), slices.size());
}

grpc::ServerUnaryReactor* Finish(grpc::CallbackServerContext* context, grpc::Status status) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  reactor->Finish(std::move(status));
  return reactor;
}

}  // namespace

grpc::ServerUnaryReactor* SamplerService::Start(grpc::CallbackServerContext* context,
                                                const published::StartRequest* request,
                                                published::StartResponse* /*response*/) {
  const auto caller = authenticator_.CallerOf(*context);
  if (!caller) return Finish(context, StatusOf(caller.error()));
  const auto pid = PidOf(*request);
  if (!pid) {
    return Finish(context, {grpc::StatusCode::INVALID_ARGUMENT, "Start needs a process id"});
  }
  constexpr uint64_t kLongest = 24UL * 3600 * 1000;
  const uint64_t period_ms = std::min(request->period(), kLongest);
  const auto started = sessions_.StartPublished(
      *caller, *pid, Nanos{static_cast<int64_t>(period_ms) * kNanosOfMilli});
  return Finish(context, started ? grpc::Status::OK : StatusOf(started.error()));
}

grpc::ServerUnaryReactor* SamplerService::Stop(grpc::CallbackServerContext* context,
                                               const published::StopRequest* request,
                                               published::StopResponse* /*response*/) {
  const auto caller = authenticator_.CallerOf(*context);
  if (!caller) return Finish(context, StatusOf(caller.error()));
  sessions_.StopPublished(*caller, PidOf(*request));
  return Finish(context, grpc::Status::OK);
}

grpc::ServerUnaryReactor* SamplerService::Read(grpc::CallbackServerContext* context,
                                               const grpc::ByteBuffer* request,
                                               grpc::ByteBuffer* response) {
  const auto caller = authenticator_.CallerOf(*context);
  if (!caller) return Finish(context, StatusOf(caller.error()));
  published::ReadRequest asked;
  grpc::ByteBuffer bytes(*request);
  if (const grpc::Status parsed =
          grpc::SerializationTraits<published::ReadRequest>::Deserialize(&bytes, &asked);
      !parsed.ok()) {
    return Finish(context, {grpc::StatusCode::INVALID_ARGUMENT, "this is not a ReadRequest"});
  }
  const auto unread = sessions_.ReadPublished(*caller, PidOf(asked));
  if (!unread) return Finish(context, StatusOf(unread.error()));
  // While it runs, the published server answers without data.
  if (!unread->has_value()) {
    const grpc::Slice nothing;
    *response = grpc::ByteBuffer(&nothing, 1);
    return Finish(context, grpc::Status::OK);
  }
  auto answer = ResponseOf(**unread);
  if (!answer) return Finish(context, {grpc::StatusCode::INTERNAL, "the samples cannot be read"});
  response->Swap(&*answer);
  return Finish(context, grpc::Status::OK);
}

}  // namespace beryl::server
