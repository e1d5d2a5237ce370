// Predicted energy as a table, JSON and CSV, and the learned model as text.
#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "views/learned.h"
#include "views/text/text_page.h"
#include "views/text/tree_view.h"
#include "views/writers.h"

namespace beryl::views {
namespace {

constexpr const char* kSchema = "beryl.predictions/1";

// "law, trained on device_1 (GTX 1080 Ti): 1.04 x GPU energy + 100 W x time"
std::string ProfileText(const EnergyModel& model) {
  std::string text = fmt::format("{}: method {}", model.name, MethodName(model.method));
  if (!model.trained_on.machine.empty()) text += fmt::format(", {}", model.trained_on.machine);
  if (const EnergyLaw* law = model.law()) text += fmt::format("; {}", LawSentence(*law));
  return text;
}

// The predicted and the measured columns of a run.
TreeColumns TreeOf(const PredictionReport& report, size_t run) {
  const ModelRun& of = report.data.runs[run];
  TreeColumns tree;
  tree.tree = of.tree;
  tree.tree.nodes[0].name = of.model;
  tree.columns.push_back(report.predicted[run]);
  // In a result about predictions, the interval belongs to them.
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

class PredictionTable : public PageOf<PredictionReport> {
 public:
  using PageOf::PageOf;

  std::string Write() {
    Paragraph(Bold(ProfileText(result_.model)));
    Line();
    if (result_.data.runs.size() == 1) {
      Tree();
    } else {
      Runs();
    }
    Line();
    Notes(result_.notes);
    Foot(fmt::format("predicted; between: where {:.0f} % of measurements are expected, from "
                     "models that were held out in training{}",
                     100 * result_.model.nominal,
                     result_.model.law() != nullptr
                         ? ""
                         : " (a biased method can lie outside its interval)"),
         result_.provenance);
    return Take();
  }

 private:
  void Runs() {
    const int name = std::clamp(width_ - 64, 16, 40);
    const std::vector<int> widths = {-name, 9, 11, 22, 11, 10};
    Line(Dim(Cells(widths, {"model", "input", "predicted", "between", "measured", "off"})));
    for (size_t run = 0; run < result_.data.runs.size(); ++run) {
      const ModelRun& of = result_.data.runs[run];
      const Column& column = result_.predicted[run];
      Line(
          Cells(widths, {NameCell(of.model, name), InputText(of), JoulesOrDash(column.total[0]),
                         JoulesBetween(column.low[0], column.high[0]), JoulesOrDash(of.measured[0]),
                         Figure(column.total[0] / of.measured[0] - 1, Quantity::kOff)}));
    }
  }

  void Tree() {
    TableLook look;
    look.title = fmt::format("{} {}", Printable(result_.data.runs.front().model),
                             InputText(result_.data.runs.front()));
    look.columns = {"predicted_share", "predicted", "measured", "off"};
    text_ += TreeTable(TreeOf(result_, 0), look, options_);
  }
};

std::string Json(const PredictionReport& report, const ViewOptions& options) {
  JsonWriter json;
  BeginResult(json, kSchema, report.provenance);
  json.Key("profile").BeginObject();
  json.Member("name", report.model.name).Member("method", MethodName(report.model.method));
  json.Member("features", FeatureSetName(report.model.feature_set));
  json.Member("trained_on", report.model.trained_on.data);
  json.Member("machine", report.model.trained_on.machine);
  if (const EnergyLaw* law = report.model.law()) WriteLaw(json, *law);
  json.End();
  json.Member("data", report.data.name).Member("interval", report.model.nominal);
  json.Key("runs").BeginArray();
  for (size_t run = 0; run < report.data.runs.size(); ++run) {
    const ModelRun& of = report.data.runs[run];
    json.BeginObject();
    json.Member("model", of.model).Member("batch_size", of.batch_size);
    json.Member("seq_len", of.seq_len);
    json.Member("origin", OriginText(report.predicted[run]));
    WriteTree(json.Key("tree"), TreeOf(report, run), options);
    json.End();
  }
  json.End();
  return EndResult(json, report.notes, report.provenance);
}

std::string Csv(const PredictionReport& report, const ViewOptions& options) {
  CsvTable csv(kSchema, report.provenance);
  for (size_t run = 0; run < report.data.runs.size(); ++run) {
    const TreeColumns tree = TreeOf(report, run);
    if (run == 0) {
      csv.Field("model").Field("batch_size").Field("seq_len");
      AddTreeNames(tree, options, csv);
      csv.Field("profile").EndRow();
    }
    const ModelRun& of = report.data.runs[run];
    const auto size = [](std::optional<double> value) {
      return value ? fmt::format("{}", *value) : "";
    };
    AddTreeRows(
        tree, options,
        {{"model", of.model}, {"batch_size", size(of.batch_size)}, {"seq_len", size(of.seq_len)}},
        {{"profile", report.model.name}}, csv);
  }
  return csv.Take();
}

}  // namespace

std::string Write(const PredictionReport& report, Format format, const ViewOptions& options) {
  if (format == Format::kJson) return Json(report, options);
  if (format == Format::kCsv) return Csv(report, options);
  return PredictionTable(report, options).Write();
}

Status CheckColumns(const PredictionReport& report, const ViewOptions& options) {
  return report.data.runs.empty() ? Status() : CheckColumns(TreeOf(report, 0), options);
}

std::string WriteMethods() {
  std::string text = "METHODS\n";
  for (const MethodLook& look : Methods()) {
    if (look.help.empty()) continue;
    text += fmt::format("  {:<14}", look.name);
    for (const char letter : look.help) {
      text += letter;
      if (letter == '\n') text.append(16, ' ');
    }
    text += '\n';
  }
  return text;
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
  if (const EnergyLaw* law = model.law()) page.Paragraph("energy = " + LawSentence(*law));
  if (const TreeRegressors* trees = model.trees()) {
    page.Paragraph(fmt::format("{} ML primitives, {} child weights", trees->primitives.size(),
                               trees->weighting.weights.size()));
  }
  if (model.beside) {
    page.Paragraph("and the costs of operations, for models that were never run (method describe)");
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
        "note: nothing was held out, so the errors are unknown: predictions will have no intervals",
        0, kWarningStyle);
  }
  return page.Take();
}

}  // namespace beryl::views
