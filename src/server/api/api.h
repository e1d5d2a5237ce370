// The API, /api/v1: requests become calls of flows, and results are written by the views that the
// command line uses. docs/serve.md is for its users, api/openapi.yaml its contract.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "flows/predict_model.h"
#include "flows/watch_power.h"
#include "server/api/parameters.h"
#include "server/http/finished_answer.h"
#include "server/http/routes.h"
#include "store/library.h"
#include "views/views.h"

namespace beryl::server {

// Who predicts, by the name or the id of a profile. Read once each. Thread-safe.
class Predictors {
 public:
  Result<flows::SharedPredictor> Find(const std::string& profile);
  Result<flows::SharedPredictor> Find(store::Library& library, const LibraryEntry& profile);

 private:
  std::mutex mutex_;
  std::map<std::string, flows::SharedPredictor> by_name_;
};

// The answers that were made of stored content last: what is under an id never changes, so only
// whether it is still there has to be asked again. Thread-safe.
class SharedAnswers {
 public:
  explicit SharedAnswers(size_t most_bytes = size_t{64} << 20) : cache_(most_bytes) {}
  std::optional<HttpAnswer> Find(const std::string& key);
  void Keep(const std::string& key, const HttpAnswer& answer);

 private:
  std::mutex mutex_;
  AnswerCache cache_;
};

struct Api {
  // By the name of a profile that ships with the program, or by the id of one in the library.
  Result<flows::SharedPredictor> FindPredictor(const std::string& profile);

  Predictors predictors;
  store::Library* library = nullptr;  // if there is one, it outlives all requests
  SharedAnswers of_runs;
  std::function<void()> on_new_job = {};  // wakes who does jobs, if there is anybody here
};

// A handler of the API: what it returns as an error, what it throws, and parameters that nobody
// asked for, become problems.
using ApiHandler = std::function<Result<HttpAnswer>(Parameters&, const HttpRequest&)>;
HttpHandler Handle(ApiHandler handler);
// What a handler does, of a call that takes its body in pieces.
HttpAnswer AnswerOfError(Error error, Parameters& parameters, const HttpRequest& request);

// A handler of what is in the library. Without a library, the answer is 503.
using LibraryHandler =
    std::function<Result<HttpAnswer>(store::Library&, Parameters&, const HttpRequest&)>;
HttpHandler HandleWithLibrary(Api& api, LibraryHandler handler);
HttpAnswer NoLibrary(const HttpRequest& request);

// An error that holds what is wrong with the parameters; nothing is wrong: success. Every handler
// calls it once it has asked for all parameters.
Status CheckParameters(Parameters& parameters);

std::string_view TypeOf(views::Format format);
// The answer of a result; without `reuse` of one that stays the same as long as the program does.
HttpAnswer ResultAnswer(std::string body, views::Format format, HttpReuse reuse = HttpReuse::kKeep);

// All that a request for variants of a model says: those of `sweep`, of several profiles, or both.
// `may_name`: as for AskForModel.
Result<flows::VariantSeries> AskForVariants(Api& api, Parameters& parameters,
                                            const HttpRequest& request, bool may_name = false);

// Routes of models that were never run: models, profiles, describe, predict, sweep.
void AddModelRoutes(Api& api, HttpRoutes& routes);

// Routes of the library: what is in it, what is added to it, and the analyses of its runs.
void AddEntryRoutes(Api& api, HttpRoutes& routes);
void AddAdditionRoutes(Api& api, HttpRoutes& routes, uint64_t most_of_upload);
void AddAnalysisRoutes(Api& api, HttpRoutes& routes);
// Runs and models side by side.
void AddCompareRoute(Api& api, HttpRoutes& routes);

// Accuracy against energy, and what electricity costs.
void AddCostRoutes(Api& api, HttpRoutes& routes);
// Work that takes more than a moment: asking for it, and what became of it.
void AddJobRoutes(Api& api, HttpRoutes& routes);

// What the meters of this machine read now. Those who look share one watch of them.
void AddLiveRoute(HttpRoutes& routes, const flows::WatchOptions& options);

// The OpenAPI document and its schemas.
void AddContractRoutes(HttpRoutes& routes);

// The page that the program contains, and what it names.
void AddPageRoutes(HttpRoutes& routes);

}  // namespace beryl::server
