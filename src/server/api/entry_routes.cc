// What is in the library, of any kind: list, get, change, remove, and the files as they were given;
// and which entries need least.
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "flows/library_prediction.h"
#include "flows/open_library.h"
#include "server/api/api.h"
#include "server/api/library_entries.h"
#include "server/api/model_parameters.h"
#include "server/api/run_parameters.h"

namespace beryl::server {
namespace {

constexpr size_t kMostOfPatch = size_t{1} << 20;

Result<HttpAnswer> List(EntryKind kind, store::Library& library, Parameters& parameters,
                        const HttpRequest& /*request*/) {
  flows::ListRequest list;
  list.filter = AskForFilter(parameters, kind);
  if (kind == EntryKind::kRun) {
    list.filter.form = FindRunForm(parameters.Word("form", {"run-file", "recording", "traces"}));
  }
  list.page = AskForPage(parameters);
  const auto format = AskForFormat(parameters, views::kFormats<EntryList>);
  TRY(CheckParameters(parameters));
  return EntriesAnswer(TRY(flows::ListLibrary(library, list)), format);
}

Result<HttpAnswer> Show(EntryKind kind, store::Library& library, Parameters& parameters,
                        const HttpRequest& request) {
  TRY(CheckParameters(parameters));
  return EntryAnswer(library, TRY(FindEntry(library, request.parts.front(), kind)));
}

Result<HttpAnswer> Change(EntryKind kind, store::Library& library, Parameters& parameters,
                          const HttpRequest& request) {
  TRY(CheckParameters(parameters));
  const std::string& id = request.parts.front();
  TRY(FindEntry(library, id, kind));
  std::vector<ProblemPart> wrong;
  const EntryPatch patch = TRY(ReadEntryPatch(request.body, wrong));
  if (!wrong.empty()) {
    return ProblemAnswer(422, "the body has members that cannot be used", request.path, wrong);
  }
  HttpAnswer answer = EntryAnswer(library, TRY(library.Change(id, patch)));
  answer.reuse = HttpReuse::kNever;
  return answer;
}

Result<HttpAnswer> Remove(EntryKind kind, store::Library& library, Parameters& parameters,
                          const HttpRequest& request) {
  TRY(CheckParameters(parameters));
  const std::string& id = request.parts.front();
  TRY(FindEntry(library, id, kind));
  HttpAnswer answer = EntryAnswer(library, TRY(library.Remove(id)));
  answer.reuse = HttpReuse::kNever;
  return answer;
}

Result<HttpAnswer> SendFile(EntryKind kind, store::Library& library, Parameters& parameters,
                            const HttpRequest& request) {
  const std::string digest = parameters.Text("digest");
  TRY(CheckParameters(parameters));
  const auto entry = TRY(FindEntry(library, request.parts.front(), kind));
  if (digest.empty() && entry.files.size() == 1) return FileAnswer(library, entry.files.front());
  std::vector<std::string> there;
  for (const EntryFile& file : entry.files) {
    if (file.stored.digest == digest) return FileAnswer(library, file);
    there.push_back(file.stored.digest);
  }
  const std::string which = fmt::format("{}", fmt::join(there, ", "));
  if (!digest.empty()) {
    return Error{ErrorCode::kNotFound,
                 fmt::format("there is no file of that digest; there are {}", which)};
  }
  return MisuseError(
      fmt::format("there are {} files: say by its digest which, {}", there.size(), which),
      {"digest"});
}

// Runs and predictions, those that need least first.
Result<HttpAnswer> ShowLeaders(store::Library& library, Parameters& parameters,
                               const HttpRequest& /*request*/) {
  constexpr int64_t kMost = 1000;
  const EntryFilter filter = AskForRanked(parameters);
  std::string by = parameters.Word("by", flows::FigureNames());
  if (by.empty()) by = "energy_j";
  const auto most = parameters.Whole("max_results", 1, kMost).value_or(100);
  const auto format = AskForFormat(parameters, views::kFormats<EntryList>);
  TRY(CheckParameters(parameters));
  return EntriesAnswer(TRY(flows::RankLibrary(library, filter, by, static_cast<size_t>(most))),
                       format);
}

using AnswerOfKind = Result<HttpAnswer> (*)(EntryKind, store::Library&, Parameters&,
                                            const HttpRequest&);

HttpHandler HandlerOf(Api& api, EntryKind kind, AnswerOfKind answer) {
  return HandleWithLibrary(api, [kind, answer](store::Library& library, Parameters& parameters,
                                               const HttpRequest& request) {
    return answer(kind, library, parameters, request);
  });
}

}  // namespace

void AddEntryRoutes(Api& api, HttpRoutes& routes) {
  constexpr std::pair<const char*, EntryKind> kPlaces[] = {
      {"/api/v1/runs", EntryKind::kRun},
      {"/api/v1/datasets", EntryKind::kDataset},
      {"/api/v1/predictions", EntryKind::kPrediction}};
  for (const auto& [place, kind] : kPlaces) {
    const std::string one = std::string(place) + "/{id}";
    routes.Add("GET", place, HandlerOf(api, kind, &List));
    routes.Add("GET", one, HandlerOf(api, kind, &Show));
    routes.Add({"PATCH", one, HandlerOf(api, kind, &Change), {}, kMostOfPatch});
    routes.Add("DELETE", one, HandlerOf(api, kind, &Remove));
    routes.Add("GET", one + "/file", HandlerOf(api, kind, &SendFile));
  }
  routes.Add("DELETE", "/api/v1/profiles/{name}", HandlerOf(api, EntryKind::kProfile, &Remove));
  routes.Add("GET", "/api/v1/leaderboard", HandleWithLibrary(api, &ShowLeaders));
}

}  // namespace beryl::server
