#include "server/api/job_kinds.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "flows/find_model.h"
#include "flows/learn_machine.h"
#include "flows/library_dataset.h"
#include "flows/library_profile.h"
#include "models/models.h"
#include "server/api/kept_request.h"
#include "server/api/library_entries.h"
#include "server/api/run_parameters.h"
#include "types/library_json.h"

namespace beryl::server {
namespace {

using flows::JobOutcome;
using flows::JobTask;

constexpr size_t kMostOfConfig = size_t{1} << 20;
constexpr int64_t kMostSeeds = 10'000;
constexpr int64_t kLargestSeed = int64_t{1} << 53;  // that JSON writes exactly

// Two jobs at a time leave no CPU idle.
int ThreadsOfJob() {
  return static_cast<int>(std::max(1U, std::thread::hardware_concurrency() / 2));
}

// The options of `beryl train` and `evaluate`, under the same names.
learn::TrainOptions AskForLearning(Parameters& parameters) {
  learn::TrainOptions options;
  std::vector<std::pair<std::string, Method>> methods;
  for (const MethodLook& look : Methods()) {
    if (!look.help.empty()) methods.emplace_back(look.name, look.method);
  }
  options.method = parameters.Choice("method", methods, options.method);
  options.features = parameters.Choice<FeatureSet>("features",
                                                   {{"all", FeatureSet::kAll},
                                                    {"resource", FeatureSet::kResource},
                                                    {"model", FeatureSet::kModel}},
                                                   options.features);
  options.seed = static_cast<uint64_t>(parameters.Whole("seed", 0, kLargestSeed).value_or(0));
  options.pue = parameters.Number("pue", 0).value_or(options.pue);
  options.threads = ThreadsOfJob();
  return options;
}

Result<JobTask> PrepareEvaluation(Api& /*api*/, store::Library& library, Parameters& parameters,
                                  const HttpRequest& request) {
  const learn::TrainOptions options = AskForLearning(parameters);
  const auto seeds = static_cast<uint64_t>(parameters.Whole("seeds", 1, kMostSeeds).value_or(5));
  const auto leave = parameters.Choice<FoldBy>(
      "leave", {{"model", FoldBy::kModel}, {"family", FoldBy::kFamily}, {"size", FoldBy::kSize}},
      FoldBy::kModel);
  const std::string test = parameters.Text("test");
  if (!test.empty() && parameters.IsGiven("leave")) parameters.Refuse("leave", "contradicts test");
  TRY(CheckParameters(parameters));
  const auto dataset = TRY(FindEntry(library, request.parts.front(), EntryKind::kDataset));
  std::optional<LibraryEntry> tested;
  if (!test.empty()) {
    auto found = FindEntry(library, test, EntryKind::kDataset);
    if (!found) return Error{found.error().code, found.error().message, {"test"}};
    tested = *std::move(found);
  }
  return JobTask{"learning and testing", [=, &library](WorkWatch& watch) -> Result<JobOutcome> {
                   learn::TrainOptions watched = options;
                   watched.watch = &watch;
                   auto data = TRY(flows::ReadLibraryDataset(library, dataset, true));
                   std::optional<Dataset> other;
                   if (tested) other = TRY(flows::ReadLibraryDataset(library, *tested, true));
                   const auto evaluation = TRY(flows::EvaluateMethod(
                       std::move(data), std::move(other), watched, seeds, leave));
                   return flows::JsonOutcome(library, "evaluation.json",
                                             views::Write(evaluation, views::Format::kJson, {}));
                 }};
}

// "RUN:NAME" or "NAME" of runs in a data set, as "RUN=NAME". A file of the server is no model.
std::vector<std::string> AskForModelsOfRuns(Parameters& parameters) {
  std::vector<std::string> models = parameters.Texts("model");
  for (std::string& text : models) {
    const size_t colon = text.find(':');
    const std::string name = colon == std::string::npos ? text : text.substr(colon + 1);
    if (const auto known = models::FindConfig(name); !known) {
      parameters.Refuse("model", known.error().message);
    }
    if (colon != std::string::npos) text[colon] = '=';
  }
  return models;
}

Result<JobTask> PrepareTraining(Api& /*api*/, store::Library& library, Parameters& parameters,
                                const HttpRequest& request) {
  const learn::TrainOptions options = AskForLearning(parameters);
  const std::vector<std::string> models = AskForModelsOfRuns(parameters);
  LibraryEntry said = AskForWords(parameters);
  said.machine = parameters.Text("machine");
  TRY(CheckParameters(parameters));
  const auto dataset = TRY(FindEntry(library, request.parts.front(), EntryKind::kDataset));
  if (said.machine.empty()) said.machine = dataset.machine;
  if (said.name.empty()) said.name = dataset.name;
  return JobTask{"learning", [=, &library](WorkWatch& watch) -> Result<JobOutcome> {
                   learn::TrainOptions watched = options;
                   watched.watch = &watch;
                   auto data = TRY(flows::ReadLibraryDataset(library, dataset, true, models));
                   const auto model = TRY(flows::TrainMachine(data, watched, said.machine));
                   auto outcome =
                       TRY(flows::JsonOutcome(library, "profile.json", flows::WriteProfile(model)));
                   EntryFile file = outcome.results.front();
                   file.role = FileRole::kOther;
                   outcome.entries = {flows::ProfileEntry(model, file, said)};
                   return outcome;
                 }};
}

Result<JobTask> PrepareSweep(Api& api, store::Library& library, Parameters& parameters,
                             const HttpRequest& request) {
  if (!request.body.empty() && !IsJsonObject(request.body)) {
    return InvalidError("config.json: it is not one JSON object");
  }
  auto series =
      std::make_shared<flows::VariantSeries>(TRY(AskForVariants(api, parameters, request, true)));
  return JobTask{"predicting variants", [=, &library](WorkWatch& watch) -> Result<JobOutcome> {
                   const Sweep sweep = TRY(series->Rest(&watch));
                   return flows::JsonOutcome(library, "sweep.json",
                                             views::Write(sweep, views::Format::kJson, {}));
                 }};
}

constexpr std::array<JobKind, 3> kKinds = {{
    {"evaluate", "/api/v1/datasets/{id}/evaluate", 0, &PrepareEvaluation},
    {"train", "/api/v1/datasets/{id}/train", 0, &PrepareTraining},
    {"sweep", "/api/v1/sweeps", kMostOfConfig, &PrepareSweep},
}};

}  // namespace

std::span<const JobKind> JobKinds() { return kKinds; }

Result<JobTask> TaskOf(Api& api, store::Library& library, const LibraryJob& job) {
  const auto kind = std::find_if(kKinds.begin(), kKinds.end(),
                                 [&](const JobKind& known) { return known.name == job.kind; });
  if (kind == kKinds.end()) {
    return InvalidError(fmt::format("this program does no jobs of the kind '{}'; a later one may",
                                    Printable(job.kind)));
  }
  const HttpRequest request = TRY(ReadKeptRequest(job.request));
  if (kind->path.find('{') != std::string_view::npos && request.parts.empty()) {
    return InvalidError("the request of the job does not say of what it is");
  }
  Parameters parameters(request);
  auto task = kind->prepare(api, library, parameters, request);
  if (task || parameters.Wrong().empty()) return task;
  const ProblemPart& wrong = parameters.Wrong().front();
  return MisuseError(fmt::format("{}: {}", wrong.parameter, wrong.detail));
}

}  // namespace beryl::server
