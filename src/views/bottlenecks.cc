// Where the energy of models goes: as tables, JSON and CSV.

#include <fmt/format.h>

#include "base/text.h"
#include "views/energy_use.h"
#include "views/text_page.h"
#include "views/tree_view.h"
#include "views/writers.h"

namespace beryl::views {
namespace {

constexpr const char* kSchema = "beryl.bottlenecks/2";

class BottleneckTable : public TextPage {
 public:
  BottleneckTable(const Breakdowns& breakdowns, const ViewOptions& options)
      : TextPage(options), breakdowns_(breakdowns) {}

  std::string Write() {
    for (const Breakdown& breakdown : breakdowns_.models) Model(breakdown);
    Foot(fmt::format("energy {}; data: {}", EnergySources(breakdowns_.origin),
                     breakdowns_.origin.data),
         breakdowns_.origin.provenance);
    return Take();
  }

 private:
  std::vector<int> Widths() const {
    return {measured_ ? 11 : 0, measured_ ? 9 : 0, predicted_ ? 11 : 0, predicted_ ? 9 : 0};
  }

  void Model(const Breakdown& breakdown) {
    measured_ = breakdown.measured_runs > 0;
    predicted_ = breakdown.predicted_runs > 0;
    Line(Bold(Printable(breakdown.model)));
    if (!measured_ && !predicted_) {
      Paragraph("the energy of the whole model is not known at any input size", 2);
      return Line();
    }
    SmallPrint(Runs(breakdown));
    Line();
    Line(Dim(Cells(Widths(), {"measured", "share", "predicted", "share"}) +
             RightAligned("nodes", 7) + "  part"));
    for (const Breakdown::Part& part : breakdown.parts) {
      Row(part.energy, breakdown,
          RightAligned(FormatCount(part.nodes), 7) + "  " + Printable(part.type));
    }
    Row(breakdown.rest, breakdown, Blanks(9) + "in none of these parts");
    Row(breakdown.sum, breakdown, Blanks(9) + "sum: the whole model");
    Line();
    TableLook look;
    look.columns = {"measured", "measured_share", "predicted", "predicted_share"};
    text_ += TreeTable(breakdown.tree, look, options_);
    if (!text_.ends_with("\n\n")) Line();
  }

  std::string Runs(const Breakdown& breakdown) const {
    auto count = [](uint64_t runs) {
      return fmt::format("{} input size{}", runs, runs == 1 ? "" : "s");
    };
    if (measured_ && predicted_ && breakdown.measured_runs != breakdown.predicted_runs) {
      return fmt::format("mean of {} measured, of {} predicted", count(breakdown.measured_runs),
                         count(breakdown.predicted_runs));
    }
    return "mean of " + count(measured_ ? breakdown.measured_runs : breakdown.predicted_runs);
  }

  void Row(const TwoEnergies& energy, const Breakdown& breakdown, const std::string& what) {
    const TwoShares share = SharesOf(energy, breakdown.whole);
    Line(Cells(Widths(), {JoulesOrDash(energy.measured), PercentOrDash(share.measured),
                          JoulesOrDash(energy.predicted), PercentOrDash(share.predicted)}) +
         what);
  }

  const Breakdowns& breakdowns_;
  bool measured_ = false;
  bool predicted_ = false;
};

void WriteEnergy(JsonWriter& json, const TwoEnergies& energy, const TwoEnergies& whole) {
  const TwoShares share = SharesOf(energy, whole);
  json.Member("measured_j", energy.measured);
  json.Member("measured_share", share.measured);
  json.Member("predicted_j", energy.predicted);
  json.Member("predicted_share", share.predicted);
}

void WriteModel(JsonWriter& json, const Breakdown& breakdown, const ViewOptions& options) {
  json.Member("model", Printable(breakdown.model));
  json.Member("measured_runs", breakdown.measured_runs);
  json.Member("predicted_runs", breakdown.predicted_runs);
  json.Objects("parts", breakdown.parts, [&](const Breakdown::Part& part) {
    json.Member("type", Printable(part.type));
    json.Member("level", LevelName(part.level));
    json.Member("nodes", part.nodes);
    WriteEnergy(json, part.energy, breakdown.whole);
  });
  for (const auto& [name, energy] :
       {std::pair("rest", &breakdown.rest), std::pair("sum", &breakdown.sum),
        std::pair("whole", &breakdown.whole)}) {
    json.Key(name).BeginObject();
    WriteEnergy(json, *energy, breakdown.whole);
    json.End();
  }
  WriteTree(json.Key("tree"), breakdown.tree, options);
}

std::string Json(const Breakdowns& breakdowns, const ViewOptions& options) {
  JsonWriter json;
  BeginResult(json, kSchema, breakdowns.origin.provenance);
  WriteOrigin(json, breakdowns.origin);
  json.Objects("models", breakdowns.models,
               [&](const Breakdown& breakdown) { WriteModel(json, breakdown, options); });
  return EndResult(json);
}

std::string Csv(const Breakdowns& breakdowns, const ViewOptions& options) {
  CsvTable csv(kSchema, breakdowns.origin.provenance,
               "model,what,name,type,level,nodes,measured_j,measured_share,predicted_j,"
               "predicted_share,predicted_by");
  for (const Breakdown& breakdown : breakdowns.models) {
    auto row = [&](std::string_view what, std::string_view name, std::string_view type,
                   std::string_view level, std::optional<uint64_t> nodes,
                   const TwoEnergies& energy) {
      const TwoShares share = SharesOf(energy, breakdown.whole);
      csv.Row(breakdown.model, what, name, type, level, nodes, energy.measured, share.measured,
              energy.predicted, share.predicted, breakdowns.origin.predicted_by);
    };
    for (const Breakdown::Part& part : breakdown.parts) {
      row("part", part.type, part.type, LevelName(part.level), part.nodes, part.energy);
    }
    row("rest", "", "", "", {}, breakdown.rest);
    row("sum", "", "", "", {}, breakdown.sum);
    const ModelTree& tree = breakdown.tree.tree;
    for (NodeId id = 0; id < tree.size(); ++id) {
      if (!IsShown(tree[id], options)) continue;
      const auto energy = [&](const char* name) {
        const Column* column = breakdown.tree.Find(name);
        return column == nullptr ? std::nullopt : IfKnown<Joules>(column->total[id]);
      };
      row("node", ScopeOf(tree, id), tree[id].type, LevelName(tree[id].level), tree[id].folded,
          {energy("measured"), energy("predicted")});
    }
  }
  return csv.Take();
}

}  // namespace

std::string Write(const Breakdowns& breakdowns, Format format, const ViewOptions& options) {
  if (format == Format::kJson) return Json(breakdowns, options);
  if (format == Format::kCsv) return Csv(breakdowns, options);
  return BottleneckTable(breakdowns, options).Write();
}

}  // namespace beryl::views
