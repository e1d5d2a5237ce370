// Predicted energy: as a table, JSON and CSV; and what was learned, in words.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "views/energy_use.h"
#include "views/learned.h"
#include "views/text_page.h"
#include "views/writers.h"

namespace beryl::views {
namespace {

std::string Off(double predicted, double measured) {
  const double off = predicted / measured - 1;
  return std::isfinite(off) ? fmt::format("{:+.2f} %", 100 * off) : "-";
}

// "law, trained on device_1 (GTX 1080 Ti): 1.04 x GPU energy + 100 W x time"
std::string ProfileText(const EnergyModel& model) {
  std::string text = fmt::format("{}: method {}", model.name, MethodName(model.method));
  if (!model.trained_on.machine.empty()) text += fmt::format(", {}", model.trained_on.machine);
  if (model.method == Method::kLaw) text += fmt::format("; {}", LawSentence(model.law));
  return text;
}

class PredictionTable : public TextPage {
 public:
  PredictionTable(const PredictionReport& report, const ViewOptions& options)
      : TextPage(options), report_(report), depth_(options.depth) {}

  std::string Write() {
    Paragraph(Bold(ProfileText(report_.model)));
    Line();
    if (report_.data.runs.size() == 1) {
      Tree();
    } else {
      Runs();
    }
    Line();
    for (const DataFinding& finding : report_.findings) {
      Paragraph("note: " + FindingText(finding), 0, kWarningStyle);
    }
    Paragraph(fmt::format("predicted; between: where {:.0f} % of measurements are expected, from "
                          "models that were held out in training{}; {}",
                          100 * report_.model.nominal,
                          report_.model.method == Method::kLaw
                              ? ""
                              : " (a method that errs to one side lies beside it)",
                          report_.tool),
              0, kDimStyle);
    return Take();
  }

 private:
  static constexpr int kNumber = 11;
  static constexpr int kRange = 22;

  std::string Numbers(const Column& column, NodeId node, double measured) const {
    const double predicted = column.total[node];
    return RightAligned(JoulesOrDash(predicted), kNumber) +
           RightAligned(JoulesBetween(column.low[node], column.high[node]), kRange) +
           RightAligned(JoulesOrDash(measured), kNumber) +
           RightAligned(Off(predicted, measured), 10);
  }
  static std::string Head() {
    return RightAligned("predicted", kNumber) + RightAligned("between", kRange) +
           RightAligned("measured", kNumber) + RightAligned("off", 10);
  }

  void Runs() {
    const int name = std::max(16, std::min(40, width_ - 2 * kNumber - kRange - 10 - 10));
    Line(Dim(Padded("model", name) + RightAligned("input", 9) + Head()));
    for (size_t run = 0; run < report_.data.runs.size(); ++run) {
      const ModelRun& of = report_.data.runs[run];
      Line(Padded(Ellipsize(Printable(of.model), static_cast<size_t>(name) - 1), name) +
           RightAligned(InputText(of), 9) + Numbers(report_.predicted[run], 0, of.measured[0]));
    }
  }

  void Tree() {
    const ModelRun& run = report_.data.runs.front();
    const Column& column = report_.predicted.front();
    const int name = std::max(20, width_ - 2 * kNumber - kRange - 10 - 9);
    Line(Dim(Padded(fmt::format("{} {}", Printable(run.model), InputText(run)), name) +
             RightAligned("share", 9) + Head()));
    for (NodeId node = 0; node < run.tree.nodes.size(); ++node) {
      const TreeNode& of = run.tree.nodes[node];
      if (depth_ && of.depth > *depth_) continue;
      std::string label(2 * size_t{of.depth}, ' ');
      label += node == 0 ? Printable(run.model) : Printable(of.name);
      if (!of.type.empty() && node > 0) label += " " + Printable(of.type);
      const double share = column.total[node] / column.total[0];
      Line(Padded(Ellipsize(label, static_cast<size_t>(name) - 1), name) +
           RightAligned(PercentOrDash(share), 9) + Numbers(column, node, run.measured[node]));
    }
  }

  const PredictionReport& report_;
  std::optional<int> depth_;
};

void WriteNode(JsonWriter& json, const ModelRun& run, const Column& column, NodeId node) {
  const TreeNode& of = run.tree.nodes[node];
  json.BeginObject();
  json.Member("name", node == 0 ? run.model : of.name);
  json.Member("scope", ScopeOf(run.tree, node));
  json.Member("type", of.type);
  json.Member("level", LevelName(of.level));
  json.Member("predicted_j", column.total[node]);
  json.Member("low_j", column.low[node]);
  json.Member("high_j", column.high[node]);
  json.Member("measured_j", run.measured[node]);
  json.Key("children").BeginArray();
  for (NodeId child = node + 1; child < of.end; child = run.tree.nodes[child].end) {
    WriteNode(json, run, column, child);
  }
  json.End();
  json.End();
}

std::string Json(const PredictionReport& report) {
  JsonWriter json;
  json.BeginObject();
  json.Member("schema", "beryl.predict/1");
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
    json.Member("origin", report.predicted[run].origin);
    json.Key("tree");
    WriteNode(json, of, report.predicted[run], 0);
    json.End();
  }
  json.End();
  WriteFindings(json, report.findings);
  json.Member("tool", report.tool);
  json.End();
  return json.Take() + "\n";
}

std::string Csv(const PredictionReport& report) {
  std::string text =
      "model,batch_size,seq_len,level,scope,type,predicted_j,low_j,high_j,measured_j,profile,"
      "schema\n";
  for (size_t run = 0; run < report.data.runs.size(); ++run) {
    const ModelRun& of = report.data.runs[run];
    const Column& column = report.predicted[run];
    for (NodeId node = 0; node < of.tree.nodes.size(); ++node) {
      text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},beryl.predict/1\n", CsvText(of.model),
                          CsvNumber(KnownSize(of.batch_size)), CsvNumber(KnownSize(of.seq_len)),
                          LevelName(of.tree.nodes[node].level), CsvText(ScopeOf(of.tree, node)),
                          CsvText(of.tree.nodes[node].type), CsvFigure(column.total[node]),
                          CsvFigure(column.low[node]), CsvFigure(column.high[node]),
                          CsvFigure(of.measured[node]), CsvText(report.model.name));
    }
  }
  return text;
}

}  // namespace

std::string Write(const PredictionReport& report, Format format, const ViewOptions& options) {
  if (format == Format::kJson) return Json(report);
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
