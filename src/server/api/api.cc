#include "server/api/api.h"

#include <exception>
#include <utility>

#include "flows/library_profile.h"
#include "server/api/problem.h"

namespace beryl::server {
Result<flows::SharedPredictor> Predictors::Find(const std::string& profile) {
  const std::lock_guard lock(mutex_);
  const auto known = by_name_.find(profile);
  if (known != by_name_.end()) return known->second;
  auto predictor = TRY(flows::FindPredictorByName(profile));
  by_name_.emplace(profile, predictor);
  return predictor;
}

Result<flows::SharedPredictor> Predictors::Find(store::Library& library,
                                                const LibraryEntry& profile) {
  const std::lock_guard lock(mutex_);
  const auto known = by_name_.find(profile.id);
  if (known != by_name_.end()) return known->second;
  auto model = TRY(flows::ReadLibraryProfile(library, profile));
  model.name = profile.name;
  auto predictor = std::make_shared<const flows::ModelPredictor>(std::move(model));
  by_name_.emplace(profile.id, predictor);
  return flows::SharedPredictor(std::move(predictor));
}

Result<flows::SharedPredictor> Api::FindPredictor(const std::string& profile) {
  if (library == nullptr || !IsLibraryId(profile)) return predictors.Find(profile);
  const auto entry = library->Get(profile);
  // Names may look like ids. `predictors` may still have a profile that was removed.
  if (!entry && entry.error().code == ErrorCode::kNotFound) {
    return flows::FindPredictorByName(profile);
  }
  if (!entry) return entry.error();
  if (entry->kind == EntryKind::kProfile) return predictors.Find(*library, *entry);
  return MisuseError(
      "'" + profile + "' is a " + std::string(EntryKindName(entry->kind)) + ", not a profile",
      {"profile"});
}

Status CheckParameters(Parameters& parameters) {
  if (parameters.Wrong().empty()) return {};
  return MisuseError("the request has parameters that cannot be used");
}

HttpAnswer AnswerOfError(Error error, Parameters& parameters, const HttpRequest& request) {
  const auto& wrong = parameters.Wrong();
  if (!wrong.empty() && error.code == ErrorCode::kMisuse) {
    return ProblemAnswer(400, error.message, request.path, wrong);
  }
  return ProblemAnswer(error, request.path);
}

HttpHandler Handle(ApiHandler handler) {
  return [handler = std::move(handler)](const HttpRequest& request) -> HttpAnswer {
    Parameters parameters(request);
    try {
      auto answer = handler(parameters, request);
      if (answer) return *std::move(answer);
      return AnswerOfError(std::move(answer).error(), parameters, request);
    } catch (const std::bad_alloc&) {
      return ProblemAnswer(503, "there is not enough memory for this answer", request.path);
    } catch (const std::exception&) {
      return ProblemAnswer(500, "the answer could not be made", request.path);
    }
  };
}

HttpAnswer NoLibrary(const HttpRequest& request) {
  return ProblemAnswer(503, "this server has no library; its messages say why", request.path);
}

HttpHandler HandleWithLibrary(Api& api, LibraryHandler handler) {
  return Handle([&api, handler = std::move(handler)](
                    Parameters& parameters, const HttpRequest& request) -> Result<HttpAnswer> {
    if (api.library == nullptr) return NoLibrary(request);
    auto answer = handler(*api.library, parameters, request);
    if (answer) return answer;
    // Where the library is concerns nobody but who runs the server.
    Error error = std::move(answer).error();
    const std::string place = api.library->name() + ": ";
    if (error.message.starts_with(place)) error.message.erase(0, place.size());
    return error;
  });
}

std::optional<HttpAnswer> SharedAnswers::Find(const std::string& key) {
  const std::lock_guard lock(mutex_);
  const auto kept = cache_.Find(key);
  return kept ? std::optional(kept->answer) : std::nullopt;
}

void SharedAnswers::Keep(const std::string& key, const HttpAnswer& answer) {
  auto kept = std::make_shared<FinishedAnswer>();
  kept->answer = answer;
  const std::lock_guard lock(mutex_);
  cache_.Keep(key, std::move(kept));
}

std::string_view TypeOf(views::Format format) {
  switch (format) {
    case views::Format::kCsv:
      return "text/csv; charset=utf-8";
    case views::Format::kSvg:
      return "image/svg+xml";
    case views::Format::kHtml:
      return "text/html; charset=utf-8";
    case views::Format::kJsonl:
      return "application/jsonl";
    case views::Format::kTable:
      return "text/plain; charset=utf-8";
    case views::Format::kFolded:
      return "text/plain; charset=utf-8";
    case views::Format::kPprof:
    case views::Format::kPerfetto:
    case views::Format::kTfevents:
      return "application/octet-stream";
    default:
      return "application/json";
  }
}

HttpAnswer ResultAnswer(std::string body, views::Format format, HttpReuse reuse) {
  HttpAnswer answer;
  answer.type = TypeOf(format);
  answer.body = std::move(body);
  answer.reuse = reuse;
  return answer;
}

}  // namespace beryl::server
