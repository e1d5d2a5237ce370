// Jobs: asking for one, what became of it, its events as they happen, its result.
#include <atomic>
#include <chrono>
#include <cmath>
#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "flows/library_job.h"
#include "server/api/api.h"
#include "server/api/job_kinds.h"
#include "server/api/kept_request.h"
#include "server/api/library_entries.h"
#include "server/api/model_parameters.h"
#include "server/api/run_parameters.h"

namespace beryl::server {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr uint64_t kMostQueued = 1000;
constexpr int kMostWatchers = 256;
constexpr auto kPauseBetweenLooks = std::chrono::milliseconds(200);
constexpr auto kLongestSilence = std::chrono::seconds(15);
constexpr int64_t kLastId = int64_t{1} << 53;

HttpAnswer JobsAnswer(const JobList& list, views::Format format = views::Format::kJson) {
  return ResultAnswer(views::Write(list, format, {}), format, HttpReuse::kNever);
}

HttpAnswer JobAnswer(const store::Library& library, LibraryJob job) {
  JobList list;
  list.provenance = MakeProvenance({library.name()});
  list.page.jobs.push_back(std::move(job));
  return JobsAnswer(list);
}

Result<HttpAnswer> Enqueue(Api& api, const JobKind& kind, store::Library& library,
                           Parameters& parameters, const HttpRequest& request) {
  TRY(kind.prepare(api, library, parameters, request));
  if (TRY(library.Count()).queued >= kMostQueued) {
    return ProblemAnswer(503, fmt::format("{} jobs wait already; try again later", kMostQueued),
                         request.path);
  }
  auto job = TRY(library.Enqueue(std::string(kind.name), WriteKeptRequest(request)));
  if (api.on_new_job) api.on_new_job();
  const std::string place = "/api/v1/jobs/" + job.id;
  HttpAnswer answer = JobAnswer(library, std::move(job));
  answer.status = 202;
  answer.fields.push_back({"location", place});
  return answer;
}

Result<HttpAnswer> List(store::Library& library, Parameters& parameters,
                        const HttpRequest& /*request*/) {
  JobFilter filter;
  filter.state =
      FindJobState(parameters.Word("state", {"queued", "running", "done", "failed", "cancelled"}));
  std::vector<std::string> kinds;
  for (const JobKind& kind : JobKinds()) kinds.emplace_back(kind.name);
  filter.kind = parameters.Word("kind", kinds);
  const PageRequest page = AskForPage(parameters);
  const auto format = AskForFormat(parameters, views::kFormats<JobList>);
  TRY(CheckParameters(parameters));
  return JobsAnswer(TRY(flows::ListJobs(library, filter, page)), format);
}

Result<HttpAnswer> Show(store::Library& library, Parameters& parameters,
                        const HttpRequest& request) {
  TRY(CheckParameters(parameters));
  return JobAnswer(library, TRY(library.GetJob(request.parts.front())));
}

Result<HttpAnswer> Cancel(store::Library& library, Parameters& parameters,
                          const HttpRequest& request) {
  TRY(CheckParameters(parameters));
  return JobAnswer(library, TRY(library.CancelJob(request.parts.front())));
}

Result<HttpAnswer> SendResult(store::Library& library, Parameters& parameters,
                              const HttpRequest& request) {
  TRY(CheckParameters(parameters));
  const auto job = TRY(library.GetJob(request.parts.front()));
  if (job.state != JobState::kDone) {
    return Error{
        ErrorCode::kNotNow,
        fmt::format("the job is {}; only one that is done has a result", JobStateName(job.state))};
  }
  for (const EntryFile& file : job.files) {
    if (file.role != FileRole::kResult) continue;
    HttpAnswer answer = TRY(FileAnswer(library, file));
    // Made here: not what somebody uploaded.
    answer.type = TypeOf(views::Format::kJson);
    answer.fields.clear();
    return answer;
  }
  return Error{ErrorCode::kNotFound, "the job has no result"};
}

// The events of a job behind one that was seen, until it has ended.
class JobEvents : public HttpStream {
 public:
  JobEvents(store::Library& library, std::string id, int64_t seen,
            std::shared_ptr<std::atomic<int>> watchers)
      : library_(library), id_(std::move(id)), seen_(seen), watchers_(std::move(watchers)) {
    ++*watchers_;
  }
  JobEvents(const JobEvents&) = delete;
  JobEvents& operator=(const JobEvents&) = delete;
  ~JobEvents() override { --*watchers_; }

  std::optional<std::string> Next() override {
    if (has_ended_) return std::nullopt;
    const auto now = SteadyClock::now();
    if (now < next_look_) return "";
    next_look_ = now + kPauseBetweenLooks;
    std::string text;
    if (last_word_ == SteadyClock::time_point()) text = "retry: 1000\n\n";
    const auto events = library_.EventsAfter(id_, seen_);
    // The client comes back, and is told why.
    if (!events) return std::nullopt;
    for (const JobEvent& event : *events) {
      text += fmt::format("id: {}\nevent: {}\ndata: {}\n\n", event.id, event.name, event.body);
      seen_ = event.id;
      const auto state = FindJobState(event.name);
      has_ended_ = state && HasEnded(*state);
    }
    if (text.empty() && now - last_word_ >= kLongestSilence) text = ": it goes on\n\n";
    if (!text.empty()) last_word_ = now;
    return text;
  }

 private:
  store::Library& library_;
  const std::string id_;
  int64_t seen_;
  const std::shared_ptr<std::atomic<int>> watchers_;
  bool has_ended_ = false;
  SteadyClock::time_point next_look_;
  SteadyClock::time_point last_word_;
};

// The last event that the client has: as a browser says it when it comes back, or as a parameter.
int64_t AskForLastEvent(Parameters& parameters, const HttpRequest& request) {
  const int64_t after = parameters.Whole("after", 0, kLastId).value_or(0);
  const std::string_view said = request.Field("last-event-id");
  if (said.empty()) return after;
  const auto id = ParseNumber(said);
  const bool is_id = id && *id >= 0 && *id <= kLastId && std::floor(*id) == *id;
  if (!is_id) parameters.Refuse("last-event-id", "expected the id of an event, a whole number");
  return is_id ? static_cast<int64_t>(*id) : 0;
}

HttpHandler HandleEvents(Api& api) {
  auto watchers = std::make_shared<std::atomic<int>>(0);
  return HandleWithLibrary(
      api,
      [watchers](store::Library& library, Parameters& parameters,
                 const HttpRequest& request) -> Result<HttpAnswer> {
        const int64_t seen = AskForLastEvent(parameters, request);
        TRY(CheckParameters(parameters));
        const auto job = TRY(library.GetJob(request.parts.front()));
        // Nothing will follow: a browser that is told 204 does not come back.
        if (HasEnded(job.state) && seen >= job.last_event) return HttpAnswer{.status = 204};
        if (*watchers >= kMostWatchers) {
          return Error{ErrorCode::kNotNow, "too many watch jobs already; ask for the job instead"};
        }
        HttpAnswer answer;
        answer.type = "text/event-stream";
        answer.fields.push_back({"x-accel-buffering", "no"});  // nginx would collect events
        answer.stream = std::make_shared<JobEvents>(library, job.id, seen, watchers);
        return answer;
      });
}

}  // namespace

void AddJobRoutes(Api& api, HttpRoutes& routes) {
  for (const JobKind& kind : JobKinds()) {
    auto enqueue = HandleWithLibrary(
        api,
        [&api, &kind](store::Library& library, Parameters& parameters, const HttpRequest& request) {
          return Enqueue(api, kind, library, parameters, request);
        });
    routes.Add({"POST", std::string(kind.path), std::move(enqueue), {}, kind.most});
  }
  routes.Add("GET", "/api/v1/jobs", HandleWithLibrary(api, &List));
  routes.Add("GET", "/api/v1/jobs/{id}", HandleWithLibrary(api, &Show));
  routes.Add("DELETE", "/api/v1/jobs/{id}", HandleWithLibrary(api, &Cancel));
  routes.Add("GET", "/api/v1/jobs/{id}/events", HandleEvents(api));
  routes.Add("GET", "/api/v1/jobs/{id}/result", HandleWithLibrary(api, &SendResult));
}

}  // namespace beryl::server
