// What the meters of this machine read now, as server-sent events.
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "server/api/api.h"

namespace beryl::server {
namespace {

constexpr int64_t kMostLooks = 1'000'000;
constexpr long kMostWatchers = 64;

// A watch of the meters that goes on while somebody looks. Thread-safe.
class LiveLooks {
 public:
  explicit LiveLooks(std::unique_ptr<flows::PowerWatch> watch) : watch_(std::move(watch)) {}

  // The event after the one of that number, which becomes `seen`; empty: there is none yet;
  // nothing: the meters can no longer be read.
  std::optional<std::string> After(uint64_t& seen) {
    const std::lock_guard lock(mutex_);
    auto look = watch_->Next();
    if (!look) return std::nullopt;
    if (*look) {
      std::string text = views::Write(**look, views::Format::kJson, {});
      while (text.ends_with('\n')) text.pop_back();
      event_ = fmt::format("id: {}\nevent: power\ndata: {}\n\n", ++number_, text);
    }
    if (seen == number_) return "";
    seen = number_;
    return event_;
  }
  uint64_t number() {
    const std::lock_guard lock(mutex_);
    return number_;
  }

 private:
  std::mutex mutex_;
  std::unique_ptr<flows::PowerWatch> watch_;
  uint64_t number_ = 0;  // of the last look
  std::string event_;
};

class LiveStream : public HttpStream {
 public:
  LiveStream(std::shared_ptr<LiveLooks> looks, std::optional<int64_t> count)
      : looks_(std::move(looks)), seen_(looks_->number()), left_(count) {}
  std::optional<std::string> Next() override {
    if (left_ == 0) return std::nullopt;
    auto event = looks_->After(seen_);
    if (left_ && event && !event->empty()) --*left_;
    return event;
  }

 private:
  const std::shared_ptr<LiveLooks> looks_;
  uint64_t seen_;
  std::optional<int64_t> left_;
};

// Starts the watch for the first who looks, and lends it to the others.
class SharedLooks {
 public:
  explicit SharedLooks(flows::WatchOptions options) : options_(std::move(options)) {}
  Result<std::shared_ptr<LiveLooks>> Take() {
    const std::lock_guard lock(mutex_);
    if (auto looks = looks_.lock()) {
      if (looks.use_count() <= kMostWatchers) return looks;
      return Error{ErrorCode::kNotNow, "too many look at the meters already"};
    }
    auto watch = flows::PowerWatch::Start(options_);
    // A machine without a meter is not a failure of the server.
    if (!watch) return Error{ErrorCode::kNotFound, watch.error().message};
    auto looks = std::make_shared<LiveLooks>(*std::move(watch));
    looks_ = looks;
    return looks;
  }

 private:
  const flows::WatchOptions options_;
  std::mutex mutex_;
  std::weak_ptr<LiveLooks> looks_;
};

}  // namespace

void AddLiveRoute(HttpRoutes& routes, const flows::WatchOptions& options) {
  auto handler =
      Handle([shared = std::make_shared<SharedLooks>(options)](
                 Parameters& parameters, const HttpRequest& /*request*/) -> Result<HttpAnswer> {
        const auto count = parameters.Whole("count", 1, kMostLooks);
        TRY(CheckParameters(parameters));
        HttpAnswer answer;
        answer.type = "text/event-stream";
        answer.fields.push_back({"x-accel-buffering", "no"});  // nginx would collect events
        answer.stream = std::make_shared<LiveStream>(TRY(shared->Take()), count);
        return answer;
      });
  routes.Add({"GET", "/api/v1/live", std::move(handler), {}, {}, true});
}

}  // namespace beryl::server
