#include "server/rpc/library_log.h"

#include <google/protobuf/stubs/logging.h>
#include <grpc/support/log.h>

#include <chrono>
#include <mutex>

#include <fmt/format.h>

#include "server/stderr_log.h"

namespace beryl::server {
namespace {

constexpr uint32_t kAtOnce = 8;
constexpr std::chrono::seconds kEach{10};

void (*g_log)(const std::string&) = nullptr;

void Pass(const char* library, const char* message) {
  static std::mutex mutex;
  static LineQuota quota(kAtOnce, kEach);
  uint64_t unsaid = 0;
  {
    const std::lock_guard lock(mutex);
    if (!quota.Take(LineQuota::Clock::now(), unsaid)) return;
  }
  g_log(unsaid == 0
            ? fmt::format("{}: {}", library, message)
            : fmt::format("{}: {} ({} messages before were left out)", library, message, unsaid));
}

void PassGrpc(gpr_log_func_args* what) { Pass("grpc", what->message); }

void PassProtobuf(google::protobuf::LogLevel level, const char* /*file*/, int /*line*/,
                  const std::string& message) {
  if (level >= google::protobuf::LOGLEVEL_WARNING) Pass("protobuf", message.c_str());
}

}  // namespace

void TakeLibraryLogs(void (*log)(const std::string&)) {
  g_log = log;
  gpr_set_log_function(&PassGrpc);
  // Which of gRPC's messages reach that function is GRPC_VERBOSITY's to say: errors, by default.
  google::protobuf::SetLogHandler(&PassProtobuf);
}

}  // namespace beryl::server
