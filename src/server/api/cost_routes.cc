// Accuracy against energy, of a data set or of what is stored; and what electricity costs.
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "datasets/datasets.h"
#include "flows/analyse_data.h"
#include "flows/electricity.h"
#include "flows/library_dataset.h"
#include "flows/library_prediction.h"
#include "server/api/api.h"
#include "server/api/library_entries.h"
#include "server/api/model_parameters.h"
#include "server/api/run_parameters.h"

namespace beryl::server {
namespace {

constexpr size_t kMostOfAccuracies = size_t{1} << 20;
constexpr double kAnyNumber = -std::numeric_limits<double>::max();

analyze::TradeoffOptions AskForLimits(Parameters& parameters) {
  analyze::TradeoffOptions options;
  if (const auto budget = parameters.Number("budget", 0)) options.budget = Joules{*budget};
  options.target = parameters.Number("target", kAnyNumber);
  return options;
}

// Stored runs or predictions, with the accuracies that they were given.
Result<HttpAnswer> TradeOffStored(store::Library& library, Parameters& parameters,
                                  const HttpRequest& /*request*/) {
  const EntryFilter filter = AskForRanked(parameters);
  std::string by =
      parameters.Word("by", {"energy_j", "machine_j", "per_step_j", "per_query_j", "per_token_j"});
  if (by.empty()) by = "energy_j";
  const auto options = AskForLimits(parameters);
  const auto format = AskForFormat(parameters, views::kFormats<Tradeoff>);
  TRY(CheckParameters(parameters));
  const auto tradeoff = TRY(flows::TradeOffLibrary(library, filter, by, options));
  return ResultAnswer(views::Write(tradeoff, format, {}), format, HttpReuse::kCheck);
}

// The models of a data set; the body is a table of their accuracies.
Result<HttpAnswer> TradeOffDataset(Api& api, store::Library& library, Parameters& parameters,
                                   const HttpRequest& request) {
  const std::string model = parameters.Text("model");
  const std::string profile = parameters.Text("profile");
  analyze::TradeoffOptions options = AskForLimits(parameters);
  options.batch_size = parameters.Number("batch", 0);
  options.seq_len = parameters.Number("seq", 0);
  const auto format = AskForFormat(parameters, views::kFormats<Tradeoff>);
  TRY(CheckParameters(parameters));
  const auto dataset = TRY(FindEntry(library, request.parts.front(), EntryKind::kDataset));
  flows::DataWithAccuracies input;
  std::vector<Note> notes;
  input.accuracy_file = "accuracies";
  input.accuracies = TRY(datasets::ReadAccuracies(request.body, input.accuracy_file, notes));
  if (!profile.empty()) input.profile = TRY(api.FindPredictor(profile))->profile();
  input.data = TRY(flows::ReadLibraryDataset(library, dataset, false));
  const auto tradeoff = TRY(flows::TradeOff(std::move(input), model, options, notes));
  return ResultAnswer(views::Write(tradeoff, format, {}), format, HttpReuse::kNever);
}

Result<HttpAnswer> ShowRegions(Parameters& parameters, const HttpRequest& /*request*/) {
  const auto format = AskForFormat(parameters, views::kFormats<ElectricityTable>);
  TRY(CheckParameters(parameters));
  return ResultAnswer(views::Write(TRY(flows::ListRegions()), format, {}), format);
}

}  // namespace

void AddCostRoutes(Api& api, HttpRoutes& routes) {
  routes.Add("GET", "/api/v1/regions", Handle(&ShowRegions));
  routes.Add({"GET", "/api/v1/tradeoff", HandleWithLibrary(api, &TradeOffStored), {}, {}, true});
  auto of_dataset = HandleWithLibrary(
      api, [&api](store::Library& library, Parameters& parameters, const HttpRequest& request) {
        return TradeOffDataset(api, library, parameters, request);
      });
  routes.Add({"POST",
              "/api/v1/datasets/{id}/tradeoff",
              std::move(of_dataset),
              {},
              kMostOfAccuracies,
              true});
}

}  // namespace beryl::server
