// The analyses of a stored run: each is what the command of its name prints.
#include <functional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "flows/analyse_run.h"
#include "flows/export_run.h"
#include "flows/library_run.h"
#include "flows/measure_run.h"
#include "flows/option_words.h"
#include "server/api/api.h"
#include "server/api/library_entries.h"
#include "server/api/model_parameters.h"
#include "server/api/run_parameters.h"

namespace beryl::server {
namespace {

constexpr int64_t kMostListed = 1'000'000;
constexpr int64_t kMostSlices = 100'000;
constexpr int64_t kDeepestDiagram = 12;
constexpr int64_t kDeepestLevel = 200;

struct RunQuestion {
  Api& api;
  store::Library& library;
  Parameters& parameters;
  const HttpRequest& request;

  // An answer that was made of this run before; it is still there, because it was just found.
  std::string key() const { return request.path + "?" + request.query; }
};

using MakeAnswer = std::function<Result<HttpAnswer>(const LibraryEntry& run)>;

// Answers with what is known, or makes it. Call it when all parameters were asked for.
Result<HttpAnswer> AnswerOnce(const RunQuestion& question, const MakeAnswer& make) {
  TRY(CheckParameters(question.parameters));
  const LibraryEntry run =
      TRY(FindEntry(question.library, question.request.parts.front(), EntryKind::kRun));
  if (auto kept = question.api.of_runs.Find(question.key())) return *std::move(kept);
  HttpAnswer answer = TRY(make(run));
  answer.reuse = HttpReuse::kCheck;
  question.api.of_runs.Keep(question.key(), answer);
  return answer;
}

using MakeBody =
    std::function<Result<std::string>(const flows::AccountedRun& run, AccountReport& report)>;

// The same of the accounted run.
Result<HttpAnswer> Account(const RunQuestion& question, const flows::ModelRequest& model,
                           views::Format format, const MakeBody& make, bool timeline = false,
                           std::string_view until = "to") {
  flows::RunRequest asked = AskForAccounting(question.parameters);
  asked.window = AskForWindow(question.parameters, until);
  return AnswerOnce(question, [&](const LibraryEntry& run) -> Result<HttpAnswer> {
    auto options = TRY(flows::RunOptionsOf(asked));
    options.timeline = timeline;
    auto input = TRY(flows::ReadLibraryRun(question.library, run, options));
    auto accounted = TRY(flows::AccountRun(std::move(input), options));
    TRY(flows::GiveModel(model, accounted));
    AccountReport report = flows::MakeReport(accounted, options);
    return ResultAnswer(TRY(make(accounted, report)), format);
  });
}

void AskForTop(Parameters& parameters, views::ViewOptions& view) {
  if (const auto top = parameters.Whole("top", 0, kMostListed)) view.top = static_cast<int>(*top);
}

Result<HttpAnswer> ShowAccount(const RunQuestion& question) {
  views::ViewOptions view = AskForTree(question.parameters);
  AskForTop(question.parameters, view);
  const auto format = AskForFormat(question.parameters, views::kFormats<AccountReport>);
  return Account(
      question, AskForModelThatRan(question.parameters), format,
      [&](const flows::AccountedRun&, const AccountReport& report) -> Result<std::string> {
        TRY(views::CheckColumns(report.folded, view));
        return views::Write(report, format, view);
      },
      format == views::Format::kHtml);
}

Result<HttpAnswer> ShowRanking(const RunQuestion& question) {
  using Kind = OperationRanking::Kind;
  Parameters& parameters = question.parameters;
  analyze::RankingOptions options;
  options.kind =
      parameters.Choice<Kind>("by", {{"energy", Kind::kStef}, {"power", Kind::kStpf}}, Kind::kStef);
  const bool no_fold = parameters.Flag("no_fold");
  if (no_fold && options.kind == Kind::kStpf) {
    parameters.Refuse("no_fold", "power is ranked with repeated layers added together");
  }
  if (no_fold) options.kind = Kind::kTef;
  options.phase = AskForPhase(parameters);
  const double percent = parameters.Number("min_share", -1e-9).value_or(0);
  if (percent > 100) parameters.Refuse("min_share", "expected a number from 0 to 100");
  options.min_share = percent / 100;
  views::ViewOptions view;
  AskForTop(parameters, view);
  const auto format = AskForFormat(parameters, views::kFormats<OperationRanking>);
  return Account(
      question, {}, format,
      [&](const flows::AccountedRun& run, const AccountReport& report) -> Result<std::string> {
        return views::Write(report, flows::RankRun(run, options), format, view);
      });
}

Result<HttpAnswer> ShowDiagram(const RunQuestion& question) {
  Parameters& parameters = question.parameters;
  flows::DiagramRequest asked;
  asked.node = parameters.Text("node");
  asked.depth =
      static_cast<int>(parameters.Whole("depth", 1, kDeepestDiagram).value_or(asked.depth));
  asked.phase = AskForPhase(parameters);
  asked.fold = !parameters.Flag("no_fold");
  const auto format = AskForFormat(parameters, views::kFormats<std::vector<EnergyDiagram>>);
  return Account(
      question, AskForModelThatRan(parameters), format,
      [&](const flows::AccountedRun& run, const AccountReport& report) -> Result<std::string> {
        const auto diagrams = TRY(flows::DiagramsOf(run, report, asked));
        return views::Write(report, diagrams, format, {});
      });
}

Result<HttpAnswer> ShowTimeline(const RunQuestion& question) {
  Parameters& parameters = question.parameters;
  flows::TimelineRequest asked;
  asked.node = parameters.Text("node");
  if (const auto level = parameters.Whole("level", 1, kDeepestLevel)) {
    asked.level = static_cast<int>(*level);
  }
  if (asked.level && !asked.node.empty()) parameters.Refuse("level", "contradicts node");
  asked.mean = parameters.Flag("mean");
  asked.slices = static_cast<size_t>(
      parameters.Whole("slices", 1, kMostSlices).value_or(static_cast<int64_t>(asked.slices)));
  const auto format = AskForFormat(parameters, views::kFormats<Timeline>);
  return Account(
      question, {}, format,
      [&](const flows::AccountedRun& run, const AccountReport& report) -> Result<std::string> {
        const auto timeline = TRY(flows::TimelineOf(run, report, asked));
        return views::Write(report, timeline, format, {});
      });
}

Result<HttpAnswer> ExportRun(const RunQuestion& question) {
  Parameters& parameters = question.parameters;
  // Those with the user's own files in them are made on the command line.
  auto formats = views::kExportFormats.Named();
  std::erase_if(formats, [](const auto& named) {
    return named.second == views::Format::kPerfettoBundle || named.second == views::Format::kXprof;
  });
  const auto to = parameters.Choice("to", formats, views::Format::kSpeedscope);
  parameters.Require("to");
  flows::ElectricityRequest place;
  const std::string region = parameters.Text("region");
  if (!region.empty()) place.region = region;
  place.carbon = parameters.Number("carbon", -1e-9);
  const views::ViewOptions view = AskForCut(parameters);
  const ExportNeeds needs = views::NeedsOf(to);
  return Account(
      question, AskForModelThatRan(parameters), to,
      [&](const flows::AccountedRun& run, const AccountReport& report) -> Result<std::string> {
        ExportedRun exported = flows::ExportOf(run, report, needs);
        views::CutStacks(exported, view);
        std::vector<Note> notes;
        const auto electricity = TRY(flows::ChooseElectricity(place, notes));
        exported.co2e_g_per_kwh = electricity.co2e_g_per_kwh;
        return views::Write(exported, to);
      },
      needs.timeline, "until");
}

Result<HttpAnswer> ShowMeasurement(const RunQuestion& question) {
  Parameters& parameters = question.parameters;
  flows::MeasureRequest asked;
  account::MeasureOptions& options = asked.options;
  options.split = parameters.Choice("split", flows::SplitWords(), options.split);
  options.slices = static_cast<size_t>(parameters.Whole("slices", 1, kMostSlices).value_or(240));
  asked.window = AskForWindow(parameters);
  asked.electricity = AskForElectricity(parameters);
  views::ViewOptions view;
  AskForTop(parameters, view);
  const auto format = AskForFormat(parameters, views::kFormats<Measurement>);
  return AnswerOnce(question, [&](const LibraryEntry& run) -> Result<HttpAnswer> {
    const auto reading = TRY(flows::RunOptionsOf({}));
    const auto input = TRY(flows::ReadLibraryRun(question.library, run, reading));
    const auto measured = TRY(flows::MeasureAndCost(input, flows::NameOfFiles(run), asked));
    return ResultAnswer(views::Write(measured, format, view), format);
  });
}

}  // namespace

void AddAnalysisRoutes(Api& api, HttpRoutes& routes) {
  using Answer = Result<HttpAnswer> (*)(const RunQuestion&);
  constexpr std::pair<const char*, Answer> kAnalyses[] = {
      {"account", &ShowAccount},   {"rank", &ShowRanking}, {"diagram", &ShowDiagram},
      {"timeline", &ShowTimeline}, {"export", &ExportRun}, {"measurement", &ShowMeasurement}};
  for (const auto& [name, answer] : kAnalyses) {
    auto handler = HandleWithLibrary(
        api, [&api, answer = answer](store::Library& library, Parameters& parameters,
                                     const HttpRequest& request) {
          return answer({api, library, parameters, request});
        });
    routes.Add(
        {"GET", fmt::format("/api/v1/runs/{{id}}/{}", name), std::move(handler), {}, {}, true});
  }
}

}  // namespace beryl::server
