// Predicted energy: as a table, JSON and CSV; and what was learned, in words.
#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "views/energy_use.h"
#include "views/learned.h"
#include "views/text_page.h"
#include "views/tree_view.h"
#include "views/writers.h"

namespace beryl::views {
namespace {

constexpr const char* kSchema = "beryl.predictions/1";

// "law, trained on device_1 (GTX 1080 Ti): 1.04 x GPU energy + 100 W x time"
std::string ProfileText(const EnergyModel& model) {
  std::string text = fmt::format("{}: method {}", model.name, MethodName(model.method));
  if (!model.trained_on.machine.empty()) text += fmt::format(", {}", model.trained_on.machine);
  if (model.method == Method::kLaw) text += fmt::format("; {}", LawSentence(model.law));
  return text;
}

// What was predicted of a run, and what was measured of it.
TreeColumns TreeOf(const PredictionReport& report, size_t run) {
  const ModelRun& of = report.data.runs[run];
  TreeColumns tree;
  tree.tree = of.tree;
  tree.tree.nodes[0].name = of.model;
  tree.columns.push_back(report.predicted[run]);
  // In a result about predictions, the interval is theirs.
  tree.columns.front().prefix = "";
  tree.columns.front().self.clear();
  tree.columns.push_back(ShareOf(report.predicted[run], "predicted_share"));
  Column measured;
  measured.name = measured.label = "measured";
  measured.key = "measured_j";
  measured.prefix = "measured_";
  measured.total = of.measured;
  Column off;
  off.name = off.key = off.label = "off";
  off.quantity = Quantity::kOff;
  off.origin = Origin::kPredicted;
  off.total = Divide(report.predicted[run].total, of.measured);
  for (double& ratio : off.total) ratio -= 1;
  tree.columns.push_back(std::move(measured));
  tree.columns.push_back(std::move(off));
  TextColumn& scopes = tree.texts.emplace_back();
  scopes.key = scopes.label = "scope";
  for (NodeId node = 0; node < of.tree.size(); ++node) {
    scopes.values.push_back(ScopeOf(of.tree, node));
  }
  return tree;
}

class PredictionTable : public TextPage {
 public:
  PredictionTable(const PredictionReport& report, const ViewOptions& options)
      : TextPage(options), report_(report) {}

  std::string Write() {
    Paragraph(Bold(ProfileText(report_.model)));
    Line();
    if (report_.data.runs.size() == 1) {
      Tree();
    } else {
      Runs();
    }
    Line();
    Notes(report_.notes);
    Foot(fmt::format("predicted; between: where {:.0f} % of measurements are expected, from "
                     "models that were held out in training{}",
                     100 * report_.model.nominal,
                     report_.model.method == Method::kLaw
                         ? ""
                         : " (a method that errs to one side lies beside it)"),
         report_.provenance);
    return Take();
  }

 private:
  void Runs() {
    const int name = std::clamp(width_ - 64, 16, 40);
    const std::vector<int> widths = {-name, 9, 11, 22, 11, 10};
    Line(Dim(Cells(widths, {"model", "input", "predicted", "between", "measured", "off"})));
    for (size_t run = 0; run < report_.data.runs.size(); ++run) {
      const ModelRun& of = report_.data.runs[run];
      const Column& column = report_.predicted[run];
      Line(
          Cells(widths, {NameCell(of.model, name), InputText(of), JoulesOrDash(column.total[0]),
                         JoulesBetween(column.low[0], column.high[0]), JoulesOrDash(of.measured[0]),
                         Figure(column.total[0] / of.measured[0] - 1, Quantity::kOff)}));
    }
  }

  void Tree() {
    TableLook look;
    look.title = fmt::format("{} {}", Printable(report_.data.runs.front().model),
                             InputText(report_.data.runs.front()));
    look.columns = {"predicted_share", "predicted", "measured", "off"};
    text_ += TreeTable(TreeOf(report_, 0), look, options_);
  }

  const PredictionReport& report_;
};

std::string Json(const PredictionReport& report, const ViewOptions& options) {
  JsonWriter json;
  BeginResult(json, kSchema, report.provenance);
  json.Key("profile").BeginObject();
  json.Member("name", report.model.name);
  json.Member("method", MethodName(report.model.method));
  json.Member("features", FeatureSetName(report.model.feature_set));
  json.Member("trained_on", report.model.trained_on.data);
  json.Member("machine", report.model.trained_on.machine);
  if (report.model.method == Method::kLaw) WriteLaw(json, report.model.law);
  json.End();
  json.Member("data", report.data.name);
  json.Member("interval", report.model.nominal);
  json.Key("runs").BeginArray();
  for (size_t run = 0; run < report.data.runs.size(); ++run) {
    const ModelRun& of = report.data.runs[run];
    json.BeginObject();
    json.Member("model", of.model);
    json.Member("batch_size", KnownSize(of.batch_size));
    json.Member("seq_len", KnownSize(of.seq_len));
    json.Member("origin", OriginText(report.predicted[run]));
    WriteTree(json.Key("tree"), TreeOf(report, run), options);
    json.End();
  }
  json.End();
  WriteNotes(json, report.notes);
  json.Member("tool", ToolText(report.provenance));
  return EndResult(json);
}

std::string Csv(const PredictionReport& report) {
  CsvTable csv(kSchema, report.provenance,
               "model,batch_size,seq_len,level,scope,type,predicted_j,low_j,high_j,measured_j,"
               "profile");
  for (size_t run = 0; run < report.data.runs.size(); ++run) {
    const ModelRun& of = report.data.runs[run];
    const Column& column = report.predicted[run];
    for (NodeId node = 0; node < of.tree.nodes.size(); ++node) {
      csv.Row(of.model, KnownSize(of.batch_size), KnownSize(of.seq_len),
              LevelName(of.tree.nodes[node].level), ScopeOf(of.tree, node),
              of.tree.nodes[node].type, column.total[node], column.low[node], column.high[node],
              of.measured[node], report.model.name);
    }
  }
  return csv.Take();
}

}  // namespace

std::string Write(const PredictionReport& report, Format format, const ViewOptions& options) {
  if (format == Format::kJson) return Json(report, options);
  if (format == Format::kCsv) return Csv(report);
  return PredictionTable(report, options).Write();
}

std::string WriteSummary(const EnergyModel& model, const ViewOptions& options) {
  TextPage page(options);
  const EnergyModel::TrainedOn& trained = model.trained_on;
  const std::string features =
      model.method == Method::kDescribe
          ? ", from descriptions alone"
          : fmt::format(" with {} features", FeatureSetName(model.feature_set));
  page.Paragraph(fmt::format("method {}{}, from {} nodes of {} model(s) in {}",
                             MethodName(model.method), features, FormatCount(trained.nodes),
                             trained.models.size(), trained.data));
  if (model.method == Method::kLaw) page.Paragraph("energy = " + LawSentence(model.law));
  if (!model.primitives.empty()) {
    page.Paragraph(fmt::format("{} ML primitives, {} child weights", model.primitives.size(),
                               model.weighting.weights.size()));
  }
  if (model.described && model.method != Method::kDescribe) {
    page.Paragraph("and what operations cost, for models that were never run (method describe)");
  }
  for (size_t level = 0; level < kDataLevels.size(); ++level) {
    const ErrorBand& band = model.bands[level];
    if (band.nodes == 0) continue;
    page.Paragraph(fmt::format(
        "{} level, models held out: error {}, {:.0f} % of nodes within {:+.2f} % to {:+.2f} %",
        LevelName(kDataLevels[level]), ErrorText(trained.mape[level]), 100 * model.nominal,
        100 * (band.low - 1), 100 * (band.high - 1)));
  }
  if (std::all_of(model.bands.begin(), model.bands.end(),
                  [](const ErrorBand& band) { return band.nodes == 0; })) {
    page.Paragraph(
        "note: nothing could be held out, so nothing is known of its errors: predictions will have "
        "no intervals",
        0, kWarningStyle);
  }
  return page.Take();
}

}  // namespace beryl::views
