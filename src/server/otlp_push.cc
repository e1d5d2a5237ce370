#include "server/otlp_push.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>

#include <fmt/format.h>

namespace beryl::server {

OtlpPush::OtlpPush(Options options, std::function<std::string()> page,
                   std::function<void(const std::string&)> log)
    : options_(std::move(options)),
      page_(std::move(page)),
      log_(std::move(log)),
      stop_(::eventfd(0, EFD_CLOEXEC)) {
  if (options_.target.path.empty() || options_.target.path == "/") {
    options_.target.path = "/v1/metrics";
  }
  thread_ = std::thread([this] { Run(); });
}

OtlpPush::~OtlpPush() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  const uint64_t one = 1;
  while (::write(stop_.get(), &one, sizeof(one)) < 0 && errno == EINTR) {
  }
  thread_.join();
}

uint64_t OtlpPush::sent() const {
  const std::lock_guard lock(mutex_);
  return sent_;
}

uint64_t OtlpPush::failed() const {
  const std::lock_guard lock(mutex_);
  return failed_;
}

void OtlpPush::Run() {
  const auto interval = std::chrono::nanoseconds(options_.interval.value);
  auto next = std::chrono::steady_clock::now() + interval;
  std::unique_lock lock(mutex_);
  while (!changed_.wait_until(lock, next, [&] { return stopping_; })) {
    lock.unlock();
    Send();
    lock.lock();
    // A missed send is not repeated: energy is cumulative.
    next = std::max(next + interval, std::chrono::steady_clock::now());
  }
}

void OtlpPush::Send() {
  const auto status =
      Post(options_.target, "application/json", page_(), options_.patience, stop_.get());
  const bool ok = status && *status >= 200 && *status < 300;
  std::string what;
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return;
    ++(ok ? sent_ : failed_);
    if (ok == !failing_) return;
    failing_ = !ok;
    const std::string where = options_.target.host + ":" + options_.target.port;
    what = ok ? fmt::format("OTLP: {} accepts metrics again; {} were not sent", where, failed_)
              : fmt::format(
                    "OTLP: metrics cannot be sent: {}; retrying",
                    status ? fmt::format("{} answers {}", where, *status) : status.error().message);
  }
  if (log_) log_(what);
}

}  // namespace beryl::server
