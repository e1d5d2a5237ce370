#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "flows/describe_model.h"
#include "flows/find_model.h"
#include "flows/irene_tree.h"
#include "flows/list_models.h"
#include "flows/list_profiles.h"
#include "flows/open_library.h"
#include "server/api/api.h"
#include "server/api/library_entries.h"
#include "server/api/model_parameters.h"

namespace beryl::server {
namespace {

constexpr size_t kMostOfConfig = size_t{1} << 20;

// Nothing of that name is no failure of the server, and not of the request's form.
template <typename Value>
Result<Value> OrNotFound(Result<Value> found) {
  if (found) return found;
  return Error{ErrorCode::kNotFound, found.error().message};
}

// A profile of the library may be removed.
HttpAnswer Lasting(std::string body, views::Format format,
                   const std::vector<std::string>& profiles) {
  HttpAnswer answer = ResultAnswer(std::move(body), format);
  if (std::any_of(profiles.begin(), profiles.end(), IsLibraryId)) answer.reuse = HttpReuse::kCheck;
  return answer;
}

Result<HttpAnswer> ListModels(Parameters& parameters, const HttpRequest& /*request*/) {
  const std::string pattern = parameters.Text("pattern");
  const auto format = AskForFormat(parameters, views::kFormats<ModelList>);
  TRY(CheckParameters(parameters));
  const auto list = TRY(OrNotFound(flows::ListModels(pattern)));
  return ResultAnswer(views::Write(list, format, {}), format);
}

// The configuration, as far as it decides over the tree.
Result<HttpAnswer> ShowModel(Parameters& parameters, const HttpRequest& request) {
  TRY(CheckParameters(parameters));
  const auto config = TRY(OrNotFound(models::FindConfig(request.parts.front())));
  return ResultAnswer(config.text, views::Format::kJson);
}

// Those that come with the program; or those that were uploaded.
Result<HttpAnswer> ListProfiles(Api& api, Parameters& parameters, const HttpRequest& request) {
  const std::string pattern = parameters.Text("pattern");
  const bool stored = parameters.Flag("stored");
  const auto format = AskForFormat(parameters, views::kFormats<ProfileList>);
  TRY(CheckParameters(parameters));
  if (stored && api.library == nullptr) return NoLibrary(request);
  if (stored) {
    flows::ListRequest profiles;
    profiles.filter.kind = EntryKind::kProfile;
    profiles.filter.text = pattern;
    profiles.page.size = 1000;
    return EntriesAnswer(TRY(flows::ListLibrary(*api.library, profiles)), format);
  }
  const auto list = TRY(OrNotFound(flows::ListProfiles(pattern)));
  return ResultAnswer(views::Write(list, format, {}), format);
}

Result<HttpAnswer> ShowProfile(Api& api, Parameters& parameters, const HttpRequest& request) {
  TRY(CheckParameters(parameters));
  const auto predictor = TRY(OrNotFound(api.FindPredictor(request.parts.front())));
  return Lasting(flows::WriteProfile(predictor->profile()), views::Format::kJson,
                 {request.parts.front()});
}

Result<HttpAnswer> Describe(Parameters& parameters, const HttpRequest& request) {
  flows::ModelRequest asked = AskForModel(parameters, request);
  const views::ViewOptions view = AskForTree(parameters);
  asked.only_whole = !view.fold;
  const auto format = AskForFormat(parameters, views::kFormats<Description>);
  TRY(CheckParameters(parameters));
  const auto [description, tree] = TRY(flows::DescribeModel(asked));
  TRY(views::CheckColumns(tree.whole, view));
  return ResultAnswer(views::Write(description, tree, format, view), format);
}

// Nothing: the tree as IrEne published it.
std::optional<views::Format> AskForPredictionFormat(Parameters& parameters) {
  return parameters.Choice<std::optional<views::Format>>(
      "format",
      {{"json", views::Format::kJson}, {"csv", views::Format::kCsv}, {"irene", std::nullopt}},
      views::Format::kJson);
}

Result<HttpAnswer> Predict(Api& api, Parameters& parameters, const HttpRequest& request) {
  flows::ModelRequest asked = AskForModel(parameters, request);
  asked.sweep = parameters.Texts("sweep");
  const std::vector<std::string> profiles = parameters.List("profile");
  const flows::ElectricityRequest place = AskForElectricity(parameters);
  const views::ViewOptions view = AskForTree(parameters);
  asked.only_whole = !view.fold;
  const auto format = AskForPredictionFormat(parameters);
  const bool is_several = !asked.sweep.empty() || profiles.size() > 1;
  if (is_several && !format) parameters.Refuse("format", "irene is the tree of one prediction");
  TRY(CheckParameters(parameters));
  std::vector<Note> notes;
  const Electricity electricity = TRY(flows::ChooseElectricity(place, notes));
  const auto find = [&](const std::string& name) { return api.FindPredictor(name); };
  if (is_several) {
    const Sweep sweep = TRY(flows::PredictModels(asked, profiles, electricity, find));
    return Lasting(views::Write(sweep, *format, view), *format, profiles);
  }
  DescribedPrediction prediction = TRY(flows::PredictModel(asked, profiles, electricity, find));
  TRY(views::CheckColumns(prediction.tree.whole, view));
  AppendNotes(prediction.notes, notes);
  if (!format) return Lasting(flows::WriteIreneTree(prediction), views::Format::kJson, profiles);
  return Lasting(views::Write(prediction, *format, view), *format, profiles);
}

// Each line is a sweep of one variant, made when the one before has been sent.
class SweepStream : public HttpStream {
 public:
  explicit SweepStream(flows::VariantSeries series) : series_(std::move(series)) {}
  std::optional<std::string> Next() override {
    auto row = series_.Next();
    // A value that no variant takes was refused before the first line.
    if (!row || !*row) return std::nullopt;
    Sweep sweep = series_.head();
    sweep.rows.push_back(**std::move(row));
    return views::Write(sweep, views::Format::kJson, {});
  }

 private:
  flows::VariantSeries series_;
};

Result<HttpAnswer> StreamSweep(Api& api, Parameters& parameters, const HttpRequest& request) {
  HttpAnswer answer;
  answer.type = TypeOf(views::Format::kJsonl);
  answer.stream = std::make_shared<SweepStream>(TRY(AskForVariants(api, parameters, request)));
  return answer;
}

}  // namespace

Result<flows::VariantSeries> AskForVariants(Api& api, Parameters& parameters,
                                            const HttpRequest& request, bool may_name) {
  flows::ModelRequest asked = AskForModel(parameters, request, may_name);
  asked.sweep = parameters.Texts("sweep");
  const std::vector<std::string> profiles = parameters.List("profile");
  const flows::ElectricityRequest place = AskForElectricity(parameters);
  if (profiles.size() < 2) parameters.Require("sweep");
  TRY(CheckParameters(parameters));
  std::vector<Note> notes;
  const Electricity electricity = TRY(flows::ChooseElectricity(place, notes));
  const auto find = [&](const std::string& name) { return api.FindPredictor(name); };
  return flows::PredictSeries(asked, profiles, electricity, find);
}

void AddModelRoutes(Api& api, HttpRoutes& routes) {
  routes.Add("GET", "/api/v1/models", Handle(&ListModels));
  routes.Add("GET", "/api/v1/models/{name...}", Handle(&ShowModel));
  routes.Add("GET", "/api/v1/profiles",
             Handle([&api](Parameters& parameters, const HttpRequest& request) {
               return ListProfiles(api, parameters, request);
             }));
  routes.Add("GET", "/api/v1/profiles/{name}",
             Handle([&api](Parameters& parameters, const HttpRequest& request) {
               return ShowProfile(api, parameters, request);
             }));
  const auto predict = Handle([&api](Parameters& parameters, const HttpRequest& request) {
    return Predict(api, parameters, request);
  });
  const auto sweep = Handle([&api](Parameters& parameters, const HttpRequest& request) {
    return StreamSweep(api, parameters, request);
  });
  for (const char* method : {"GET", "POST"}) {
    routes.Add({method, "/api/v1/describe", Handle(&Describe), {}, kMostOfConfig});
    routes.Add({method, "/api/v1/predict", predict, {}, kMostOfConfig});
    routes.Add({method, "/api/v1/sweep", sweep, {}, kMostOfConfig});
  }
}

}  // namespace beryl::server
