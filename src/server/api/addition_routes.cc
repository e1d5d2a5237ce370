// What clients add to the library: runs, profiles and predictions.
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/json_writer.h"
#include "base/text.h"
#include "flows/library_prediction.h"
#include "flows/library_profile.h"
#include "learn/energy_model_file.h"
#include "server/api/api.h"
#include "server/api/library_entries.h"
#include "server/api/model_parameters.h"
#include "server/api/run_upload.h"

namespace beryl::server {
namespace {

constexpr size_t kMostOfConfig = size_t{1} << 20;

LibraryEntry AskForWords(Parameters& parameters) {
  LibraryEntry said;
  said.name = parameters.Text("name");
  said.tags = parameters.Texts("tag");
  said.notes = parameters.Text("notes");
  return said;
}

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

// {"parameters": {"batch": ["8"]}, "config": {...}}: what to ask for to have it again.
std::string RequestText(const HttpRequest& request) {
  JsonWriter json;
  json.BeginObject().Key("parameters").BeginObject();
  std::map<std::string, std::vector<std::string>> values;
  if (const auto given = ParseQuery(request.query)) {
    for (const HttpField& field : *given) {
      values[Printable(field.name)].push_back(Printable(field.value));
    }
  }
  for (const auto& [name, list] : values) json.Member(name, list);
  json.End();
  if (!request.body.empty()) json.Key("config").Json(Trim(request.body));
  json.End();
  return json.Take();
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
  said.request = RequestText(request);
  const std::string result = views::Write(prediction, views::Format::kJson, {});
  return AddedAnswer(
      library, TRY(flows::AddPredictionToLibrary(library, prediction, result, std::move(said))));
}

}  // namespace

void AddAdditionRoutes(Api& api, HttpRoutes& routes, uint64_t most_of_upload) {
  routes.Add({"POST", "/api/v1/runs", {}, HandleRunUpload(api), most_of_upload});
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
