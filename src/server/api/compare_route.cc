// Runs, and models that were never run, side by side.
#include <optional>
#include <utility>
#include <variant>

#include "base/text.h"
#include "flows/compare_request.h"
#include "flows/library_compare.h"
#include "server/api/api.h"
#include "server/api/model_parameters.h"
#include "server/api/run_parameters.h"

namespace beryl::server {
namespace {

constexpr int64_t kMostListed = 1'000'000;

// Each "of" is a run or a model, or several runs that are a side, separated by commas.
std::vector<std::vector<std::string>> AskForSides(Parameters& parameters) {
  std::vector<std::vector<std::string>> sides;
  for (const std::string& text : parameters.Texts("of")) sides.push_back(SplitNames(text));
  if (sides.empty()) parameters.Require("of");
  return sides;
}

Result<HttpAnswer> Compare(store::Library& library, Parameters& parameters,
                           const HttpRequest& /*request*/) {
  flows::LibraryCompareRequest asked;
  asked.sides = AskForSides(parameters);
  asked.labels = parameters.List("labels");
  asked.level = parameters.Text("level");
  asked.columns = parameters.List("columns");
  if (const std::string share = parameters.Text("false_discovery"); !share.empty()) {
    asked.false_discovery = share;
  }
  views::ViewOptions view;
  if (const auto depth = parameters.Whole("depth", 0, 1000)) view.depth = static_cast<int>(*depth);
  if (const auto top = parameters.Whole("top", 0, kMostListed)) view.top = static_cast<int>(*top);
  const auto picture = parameters.Choice<std::optional<views::ComparePart>>(
      "picture",
      {{"heatmap", views::ComparePart::kMatrices},
       {"totals", views::ComparePart::kTotals},
       {"diff", views::ComparePart::kDifferences}},
      std::nullopt);
  // As on the command line: "module" is also a level of names.
  view.level = ParseLevel(asked.level);
  asked.on_tree = !asked.columns.empty() || view.depth || (view.level && asked.level != "module");
  asked.run = AskForAccounting(parameters);
  asked.model = AskForInputOfModels(parameters);
  const auto format = AskForFormat(parameters, views::kFormats<Comparison>);
  TRY(CheckParameters(parameters));
  if (picture == views::ComparePart::kDifferences && asked.sides.size() != 2) {
    return MisuseError("the differences need exactly two runs or two groups", {"picture"});
  }
  auto compared = TRY(flows::CompareInLibrary(library, asked));
  HttpAnswer answer;
  if (const auto* tree = std::get_if<SideBySide>(&compared)) {
    TRY(flows::LevelOnTree(asked.level));
    if (picture || format == views::Format::kSvg) {
      return MisuseError("pictures compare runs without a model and without a tree with columns",
                         {"picture", "format"});
    }
    TRY(views::CheckLabels(tree->tree));
    answer = ResultAnswer(views::Write(*tree, format, view), format);
  } else {
    view.level.reset();
    const auto otherwise = format == views::Format::kCsv && asked.sides.size() == 2
                               ? views::ComparePart::kDifferences
                               : views::ComparePart::kMatrices;
    answer = ResultAnswer(
        views::Write(std::get<Comparison>(compared), format, picture.value_or(otherwise), view),
        format);
  }
  answer.reuse = HttpReuse::kCheck;
  return answer;
}

}  // namespace

void AddCompareRoute(Api& api, HttpRoutes& routes) {
  routes.Add({"GET", "/api/v1/compare", HandleWithLibrary(api, &Compare), {}, {}, true});
}

}  // namespace beryl::server
