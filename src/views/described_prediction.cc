// The energy of a model that was never run: as a table, JSON and CSV.
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "views/described.h"
#include "views/energy_use.h"
#include "views/text_page.h"
#include "views/tree_view.h"
#include "views/writers.h"

namespace beryl::views {
namespace {

constexpr const char* kSchema = "beryl.predict/2";

void WriteEnergy(JsonWriter& json, const DescribedPrediction& prediction, NodeId node) {
  json.Member("energy_j", prediction.energy.total[node]);
  json.Member("low_j", At(prediction.energy.low, node));
  json.Member("high_j", At(prediction.energy.high, node));
}

void WritePhases(JsonWriter& json, const DescribedPrediction& prediction) {
  const std::vector<NodeId> phases = PhasesOf(prediction.description);
  if (phases.empty()) return;
  json.Objects("phases", phases, [&](const NodeId node) {
    const RunPhase phase = prediction.description.nodes[node].phase;
    json.Member("phase", RunPhaseName(phase));
    WriteWhole(json, "tokens", TokensOf(prediction.description.input, phase));
    WriteEnergy(json, prediction, node);
    json.Member("seconds", At(prediction.seconds, node));
    json.Member("power_w", PowerOf(prediction, node));
    json.Member("energy_per_token_j", EnergyPerToken(prediction, node));
  });
}

void WriteCosts(JsonWriter& json, const DescribedPrediction& prediction) {
  json.Key("costs");
  if (!prediction.costs || prediction.costs->rows.empty()) {
    json.Value(std::optional<double>());
    return;
  }
  const QueryCosts::Row& row = prediction.costs->rows.front();
  json.BeginObject();
  json.Member("queries", prediction.costs->queries);
  json.Member("query_j", row.query_energy);
  json.Member("kwh", row.kwh);
  json.Member("kwh_low", row.kwh_low);
  json.Member("kwh_high", row.kwh_high);
  json.Member("price", row.price);
  json.Member("co2e_kg", row.co2e_kg);
  WriteElectricity(json, prediction.costs->electricity);
  json.End();
}

std::string Json(const DescribedPrediction& prediction, const ViewOptions& options) {
  const Description& description = prediction.description;
  JsonWriter json;
  BeginResult(json, kSchema, prediction.provenance);
  WriteModel(json, description);
  json.Member("profile", prediction.profile);
  json.Member("machine", prediction.machine);
  json.Member("origin", "description");
  json.Member("calibrated", prediction.calibrated);
  json.Member("interval", prediction.nominal);
  WriteEnergy(json, prediction, 0);
  json.Member("seconds", At(prediction.seconds, 0));
  json.Member("power_w", PowerOf(prediction, 0));
  const double tokens = TokensOf(description.input);
  WriteWhole(json, "tokens", tokens > 0 ? tokens : kUnknown);
  json.Member("energy_per_token_j", EnergyPerToken(prediction, 0));
  WritePhases(json, prediction);
  WriteCosts(json, prediction);
  WriteTree(json.Key("tree"), prediction.tree.whole, options);
  std::vector<Note> notes = prediction.notes;
  AppendNotes(notes, description.notes);
  WriteNotes(json, notes);
  json.Member("tool", ToolText(prediction.provenance));
  return EndResult(json);
}

std::string Csv(const DescribedPrediction& prediction, const ViewOptions& options) {
  CsvFields behind = InputFields(prediction.description);
  behind.emplace_back("profile", prediction.profile);
  behind.emplace_back("calibrated", prediction.calibrated ? "yes" : "no");
  return TreeCsv(prediction.tree.whole, options, {{"model", prediction.description.model}}, behind,
                 {kSchema, prediction.provenance});
}

class PredictionTable : public TextPage {
 public:
  PredictionTable(const DescribedPrediction& prediction, const ViewOptions& options)
      : TextPage(options), prediction_(prediction), description_(prediction.description) {}

  std::string Write() {
    if (!prediction_.calibrated) {
      Paragraph(UncalibratedText(prediction_.profile), 0, kWarningStyle);
    }
    Paragraph(Bold(TitleOf(description_)));
    Paragraph(EnergyText(0));
    for (const NodeId phase : PhasesOf(description_)) {
      Paragraph(
          fmt::format("{}: {}", RunPhaseName(description_.nodes[phase].phase), EnergyText(phase)),
          2);
    }
    Costs();
    Line();
    Tree();
    SmallPrint();
    return Take();
  }

 private:
  // "12.3 J (between 11.0 J and 13.5 J), in 61.5 ms at 200 W; 96.1 mJ a token"
  std::string EnergyText(NodeId node) const {
    const double low = At(prediction_.energy.low, node);
    const double high = At(prediction_.energy.high, node);
    std::string text = JoulesOrDash(prediction_.energy.total[node]);
    if (std::isfinite(low) && std::isfinite(high)) {
      text += fmt::format(" (between {} and {})", FormatJoules(low), FormatJoules(high));
    }
    const double seconds = At(prediction_.seconds, node);
    if (std::isfinite(seconds)) text += fmt::format(", in {}", FormatSeconds(seconds));
    const auto power = PowerOf(prediction_, node);
    if (power) text += fmt::format(" at {}", FormatWatts(power));
    const auto a_token = EnergyPerToken(prediction_, node);
    if (a_token) text += fmt::format("; {} a token", FormatJoules(a_token));
    return text;
  }

  void Costs() {
    if (!prediction_.costs) return;
    const Electricity& grid = prediction_.costs->electricity;
    for (const QueryCosts::Row& row : prediction_.costs->rows) {
      Paragraph(fmt::format(
          "{} queries: {} kWh, {} {}, {} kg CO2e", FigureOrDash(prediction_.costs->queries),
          FigureOrDash(row.kwh), FigureOrDash(row.price),
          grid.currency.empty() ? "price" : Printable(grid.currency), FigureOrDash(row.co2e_kg)));
    }
  }

  void Tree() {
    TableLook look;
    look.columns = {"share", "energy", "time"};
    look.more = {"power", "flops", "bytes"};
    look.deepest = Level::kMl;
    text_ += TreeTable(prediction_.tree.folded, look, options_);
  }

  void SmallPrint() {
    Notes(prediction_.notes);
    Notes(description_.notes);
    if (prediction_.costs) Paragraph(ElectricityText(prediction_.costs->electricity));
    Foot(fmt::format("predicted from the configuration by {}{}{}; between: where {:.0f} % of "
                     "measurements are expected",
                     Printable(prediction_.profile), prediction_.machine.empty() ? "" : ", ",
                     Printable(prediction_.machine), 100 * prediction_.nominal),
         prediction_.provenance);
  }

  const DescribedPrediction& prediction_;
  const Description& description_;
};

}  // namespace

std::string Write(const DescribedPrediction& prediction, Format format,
                  const ViewOptions& options) {
  if (format == Format::kJson) return Json(prediction, options);
  if (format == Format::kCsv) return Csv(prediction, options);
  return PredictionTable(prediction, options).Write();
}

}  // namespace beryl::views
