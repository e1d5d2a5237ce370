// Where the energy of models goes: as tables, JSON and CSV.
#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "views/energy_use.h"
#include "views/text/text_page.h"
#include "views/text/tree_view.h"
#include "views/writers.h"

namespace beryl::views {
namespace {

constexpr const char* kSchema = "beryl.bottlenecks/2";

class BottleneckTable : public PageOf<Breakdowns> {
 public:
  using PageOf::PageOf;

  std::string Write() {
    Incomplete(result_.origin.provenance);
    for (const Breakdown& breakdown : result_.models) Model(breakdown);
    Notes(result_.origin.notes);
    Foot(fmt::format("energy {}; data: {}", EnergySources(result_.origin), result_.origin.data),
         result_.origin.provenance);
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
      Paragraph("the energy of the whole model is unknown at every input size", 2);
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
    Row(breakdown.rest, breakdown, Blanks(9) + "outside these parts");
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

  bool measured_ = false;
  bool predicted_ = false;
};

void WriteEnergy(JsonWriter& json, const TwoEnergies& energy, const TwoEnergies& whole) {
  const TwoShares share = SharesOf(energy, whole);
  json.Member("measured_j", energy.measured).Member("measured_share", share.measured);
  json.Member("predicted_j", energy.predicted).Member("predicted_share", share.predicted);
}

void WriteModel(JsonWriter& json, const Breakdown& breakdown, const ViewOptions& options) {
  json.Member("model", Printable(breakdown.model)).Member("measured_runs", breakdown.measured_runs);
  json.Member("predicted_runs", breakdown.predicted_runs);
  json.Objects("parts", breakdown.parts, [&](const Breakdown::Part& part) {
    json.Member("type", Printable(part.type)).Member("level", LevelName(part.level));
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

// The chosen columns of energy, which a model may lack.
struct CsvColumn {
  std::string_view name;
  std::string_view key;
};
constexpr CsvColumn kCsvColumns[] = {{"measured", "measured_j"},
                                     {"measured_share", "measured_share"},
                                     {"predicted", "predicted_j"},
                                     {"predicted_share", "predicted_share"}};

bool IsChosen(std::string_view name, const Breakdowns& breakdowns, const ViewOptions& options) {
  if (options.columns.empty()) return true;
  const auto has = [&](const Breakdown& breakdown) {
    const auto chosen = ChosenColumns(breakdown.tree, options.columns);
    return std::any_of(chosen.begin(), chosen.end(),
                       [&](const Column* column) { return column->name == name; });
  };
  return std::any_of(breakdowns.models.begin(), breakdowns.models.end(), has);
}

std::string Csv(const Breakdowns& breakdowns, const ViewOptions& options) {
  std::vector<CsvColumn> columns;
  for (const CsvColumn& column : kCsvColumns) {
    if (IsChosen(column.name, breakdowns, options)) columns.push_back(column);
  }
  CsvTable csv(kSchema, breakdowns.origin.provenance);
  for (const char* name : {"model", "what", "depth", "path", "name", "type", "level", "layers"}) {
    csv.Field(name);
  }
  for (const CsvColumn& column : columns) csv.Field(column.key);
  csv.Field("predicted_by").EndRow();
  for (const Breakdown& breakdown : breakdowns.models) {
    const auto end_row = [&](const auto& value_of) {
      for (const CsvColumn& column : columns) csv.Field(value_of(column.name));
      csv.Field(breakdowns.origin.predicted_by).EndRow();
    };
    const auto row = [&](std::string_view what, std::string_view type, std::string_view level,
                         std::optional<uint64_t> nodes, const TwoEnergies& energy) {
      csv.Field(breakdown.model).Field(what).Field("").Field("").Field(type).Field(type);
      csv.Field(level).Field(nodes);
      const TwoShares share = SharesOf(energy, breakdown.whole);
      end_row([&](std::string_view name) {
        if (name == "measured") return ValueOrNan(energy.measured);
        if (name == "predicted") return ValueOrNan(energy.predicted);
        return name == "measured_share" ? share.measured : share.predicted;
      });
    };
    for (const Breakdown::Part& part : breakdown.parts) {
      row("part", part.type, LevelName(part.level), part.nodes, part.energy);
    }
    row("rest", "", "", {}, breakdown.rest);
    row("sum", "", "", {}, breakdown.sum);
    const ModelTree& tree = breakdown.tree.tree;
    for (NodeId id = 0; id < tree.size(); ++id) {
      if (!IsShown(tree, id, options)) continue;
      const TreeNode& node = tree[id];
      csv.Field(breakdown.model).Field("node").Field(node.depth).Field(NodePath(tree, id));
      csv.Field(node.name).Field(node.type).Field(LevelName(node.level)).Field(node.folded);
      end_row([&](std::string_view name) {
        const Column* column = breakdown.tree.Find(name);
        return column == nullptr ? kUnknown : column->total[id];
      });
    }
  }
  return csv.Take();
}

}  // namespace

Status CheckColumns(const Breakdowns& breakdowns, const ViewOptions& options) {
  for (const Breakdown& breakdown : breakdowns.models) {
    TRY(CheckColumns(breakdown.tree, options));
  }
  return {};
}

std::string Write(const Breakdowns& breakdowns, Format format, const ViewOptions& options) {
  if (format == Format::kJson) return Json(breakdowns, options);
  if (format == Format::kCsv) return Csv(breakdowns, options);
  return BottleneckTable(breakdowns, options).Write();
}

}  // namespace beryl::views
