// The energy of a model that was never run: as a table, JSON and CSV.
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "views/budget.h"
#include "views/described.h"
#include "views/energy_use.h"
#include "views/text/text_page.h"
#include "views/text/tree_view.h"
#include "views/writers.h"

namespace beryl::views {
namespace {

constexpr const char* kSchema = "beryl.predict/3";

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
  json.Member("queries", prediction.costs->queries).Member("query_j", row.query_energy);
  json.Member("kwh", row.cost.kwh)
      .Member("kwh_low", row.cost.kwh_low)
      .Member("kwh_high", row.cost.kwh_high);
  json.Member("price", row.cost.price).Member("co2e_kg", row.cost.co2e_kg);
  WriteElectricity(json, prediction.costs->electricity);
  json.End();
}

const TreeColumns& TreeOf(const DescribedPrediction& prediction, const ViewOptions& options) {
  return options.fold ? prediction.tree.folded : prediction.tree.whole;
}

std::string Json(const DescribedPrediction& prediction, const ViewOptions& options) {
  const Description& description = prediction.description;
  JsonWriter json;
  BeginResult(json, kSchema, prediction.provenance);
  WriteModel(json, description);
  json.Member("profile", prediction.profile).Member("machine", prediction.machine);
  json.Member("origin", "description").Member("calibrated", prediction.calibrated);
  json.Member("interval", prediction.nominal);
  WriteEnergy(json, prediction, 0);
  json.Member("seconds", At(prediction.seconds, 0)).Member("power_w", PowerOf(prediction, 0));
  const double tokens = TokensOf(description.input);
  WriteWhole(json, "tokens", tokens > 0 ? tokens : kUnknown);
  json.Member("energy_per_token_j", EnergyPerToken(prediction, 0));
  json.Member("fits", prediction.fits);
  WritePhases(json, prediction);
  WriteCosts(json, prediction);
  if (!prediction.budget.empty()) WriteBudget(json, prediction.budget);
  WriteTree(json.Key("tree"), TreeOf(prediction, options), options);
  return EndResult(json, NotesOf(prediction), prediction.provenance);
}

std::string Csv(const DescribedPrediction& prediction, const ViewOptions& options) {
  NamedFields behind = InputFields(prediction.description);
  behind.emplace_back("profile", prediction.profile);
  behind.emplace_back("calibrated", prediction.calibrated ? "yes" : "no");
  return TreeCsv(TreeOf(prediction, options), options, {{"model", prediction.description.model}},
                 behind, {kSchema, prediction.provenance});
}

bool DoesNotFit(const DescribedPrediction& prediction) { return prediction.fits == false; }

class PredictionTable : public TextPage {
 public:
  PredictionTable(const DescribedPrediction& prediction, const ViewOptions& options)
      : TextPage(options), prediction_(prediction), description_(prediction.description) {}

  std::string Write() {
    if (!prediction_.calibrated) {
      Paragraph(UncalibratedText({prediction_.profile}, description_.training.has_value()), 0,
                kWarningStyle);
    }
    if (DoesNotFit(prediction_)) {
      Paragraph(fmt::format("DOES NOT FIT into the memory of {}: these numbers are as if it did",
                            Printable(prediction_.machine)),
                0, kWarningStyle);
    }
    Paragraph(Bold(TitleOf(description_)));
    Paragraph(EnergyText(0));
    for (const NodeId phase : PhasesOf(description_)) {
      Paragraph(
          fmt::format("{}: {}", RunPhaseName(description_.nodes[phase].phase), EnergyText(phase)),
          2);
    }
    Paragraph(MemoryText(description_.memory));
    Costs();
    Line();
    text_ += BudgetTable(prediction_.budget, options_);
    Tree();
    SmallPrint();
    return Take();
  }

 private:
  // "12.3 J (between 11.0 J and 13.5 J), in 61.5 ms at 200 W; 96.1 mJ per token"
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
    const bool generates =
        description_.nodes[node].phase == RunPhase::kAll && description_.input.generate > 0;
    if (a_token) {
      text += fmt::format("; {} per {}token", FormatJoules(a_token), generates ? "generated " : "");
    }
    return text;
  }

  void Costs() {
    if (!prediction_.costs) return;
    const Electricity& grid = prediction_.costs->electricity;
    for (const QueryCosts::Row& row : prediction_.costs->rows) {
      Paragraph(fmt::format(
          "{} {}: {} kWh, {} {}, {} kg CO2e", FigureOrDash(prediction_.costs->queries),
          description_.training ? "sequences" : "queries", FigureOrDash(row.cost.kwh),
          FigureOrDash(row.cost.price), grid.currency.empty() ? "price" : Printable(grid.currency),
          FigureOrDash(row.cost.co2e_kg)));
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
    Notes(NotesOf(prediction_));
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

std::vector<Note> NotesOf(const DescribedPrediction& prediction) {
  std::vector<Note> notes = prediction.notes;
  AppendNotes(notes, prediction.description.notes);
  return notes;
}

std::string Write(const DescribedPrediction& prediction, Format format,
                  const ViewOptions& options) {
  if (format == Format::kJson) return Json(prediction, options);
  if (format == Format::kCsv) return Csv(prediction, options);
  return PredictionTable(prediction, options).Write();
}

}  // namespace beryl::views
