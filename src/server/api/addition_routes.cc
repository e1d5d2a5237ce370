// What clients add to the library: runs, data sets, profiles and predictions.
#include <string>
#include <utility>
#include <vector>

#include "flows/library_dataset.h"
#include "flows/library_prediction.h"
#include "flows/library_profile.h"
#include "flows/library_run.h"
#include "flows/run_request.h"
#include "learn/energy_model_file.h"
#include "server/api/api.h"
#include "server/api/entry_upload.h"
#include "server/api/kept_request.h"
#include "server/api/library_entries.h"
#include "server/api/model_parameters.h"
#include "server/api/run_parameters.h"

namespace beryl::server {
namespace {

constexpr size_t kMostOfConfig = size_t{1} << 20;

Result<HttpAnswer> AddProfile(store::Library& library, Parameters& parameters,
                              const HttpRequest& request) {
  LibraryEntry said = AskForWords(parameters);
  TRY(CheckParameters(parameters));
  EntryFile file;
  file.stored = TRY(library.KeepFile(request.body));
  file.name = "profile.json";
  file.media_type = "application/json";
  said.files = {std::move(file)};
  return AddedAnswer(library, TRY(flows::AddProfileToLibrary(library, std::move(said))));
}

Result<HttpAnswer> AddPrediction(Api& api, store::Library& library, Parameters& parameters,
                                 const HttpRequest& request) {
  const flows::ModelRequest asked = AskForModel(parameters, request, true);
  const std::vector<std::string> profiles = parameters.List("profile");
  if (profiles.size() > 1) parameters.Refuse("profile", "a prediction is for one machine");
  const flows::ElectricityRequest place = AskForElectricity(parameters);
  LibraryEntry said = AskForWords(parameters);
  TRY(CheckParameters(parameters));
  std::vector<Note> notes;
  const Electricity electricity = TRY(flows::ChooseElectricity(place, notes));
  DescribedPrediction prediction =
      TRY(flows::PredictModel(asked, profiles, electricity,
                              [&](const std::string& name) { return api.FindPredictor(name); }));
  AppendNotes(prediction.notes, notes);
  said.request = WriteKeptRequest(request);
  const std::string result = views::Write(prediction, views::Format::kJson, {});
  return AddedAnswer(
      library, TRY(flows::AddPredictionToLibrary(library, prediction, result, std::move(said))));
}

UploadForm FormOfRuns() {
  UploadForm form;
  form.files = {{"run", FileRole::kRun}, {"ops", FileRole::kOps}, {"power", FileRole::kPower}};
  form.texts = {"rank", "name", "tag", "notes", "model", "machine", "accuracy"};
  form.add = [](store::Library& library, LibraryEntry run) -> Result<store::AddedEntry> {
    const auto options = TRY(flows::RunOptionsOf({}));
    return flows::AddRunToLibrary(library, std::move(run), options);
  };
  return form;
}

UploadForm FormOfDatasets() {
  UploadForm form;
  form.files = {{"file", FileRole::kOther}};
  form.texts = {"name", "tag", "notes", "model", "machine"};
  form.add = &flows::AddDatasetToLibrary;
  return form;
}

}  // namespace

void AddAdditionRoutes(Api& api, HttpRoutes& routes, uint64_t most_of_upload) {
  routes.Add({"POST", "/api/v1/runs", {}, HandleUpload(api, FormOfRuns()), most_of_upload});
  routes.Add({"POST", "/api/v1/datasets", {}, HandleUpload(api, FormOfDatasets()), most_of_upload});
  routes.Add({"POST",
              "/api/v1/profiles",
              HandleWithLibrary(api, &AddProfile),
              {},
              learn::kLargestEnergyModel});
  routes.Add({"POST",
              "/api/v1/predictions",
              HandleWithLibrary(api,
                                [&api](store::Library& library, Parameters& parameters,
                                       const HttpRequest& request) {
                                  return AddPrediction(api, library, parameters, request);
                                }),
              {},
              kMostOfConfig});
}

}  // namespace beryl::server
