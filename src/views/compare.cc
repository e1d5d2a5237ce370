#include "views/compare.h"

#include <optional>
#include <span>

#include <fmt/format.h>

#include "views/text/notes.h"
#include "views/text/tree_view.h"
#include "views/writers.h"

namespace beryl::views {
namespace {

constexpr const char* kSchema = "beryl.compare/2";

template <typename Number>
void WriteMatrix(JsonWriter& json, const char* key, const std::vector<Number>& values,
                 size_t runs) {
  json.Key(key).BeginArray();
  for (size_t row = 0; row < runs; ++row) {
    json.Value(std::span(values).subspan(row * runs, runs));
  }
  json.End();
}

void WriteTotal(JsonWriter& json, const RunTotal& total) {
  json.Key("total").BeginObject();
  json.Member("attributed_j", total.attributed).Member("deviation_j", total.deviation);
  WritePhases(json, "phases", total.by_phase);
  json.Member("idle_j", total.idle).Member("unattributed_j", total.unattributed);
  json.Member("steps", total.steps).Member("outside_steps_j", total.outside_steps);
  json.End();
}

void WriteDifference(JsonWriter& json, const DifferenceRow& row) {
  json.Member("path", row.path).Member("level", LevelName(row.level)).Member("rest", row.rest);
  json.Member("in_before", row.in_before).Member("in_after", row.in_after);
  json.Member("before_j", row.before).Member("after_j", row.after);
  json.Member("difference_j", row.difference).Member("noise_j", row.noise);
  json.Key("is_noise").Value(row.noise ? std::optional(row.is_noise) : std::nullopt);
  json.Member("p_value", row.p_value);
  json.Key("found").Value(row.p_value ? std::optional(row.found) : std::nullopt);
}

void WriteChange(JsonWriter& json, const EnergyChange& change) {
  json.Member("before_j", change.before).Member("after_j", change.after);
  json.Member("change", change.change).Member("low", change.low).Member("high", change.high);
  json.Member("p_value", change.p_value).Member("unit", VariationUnitName(change.unit));
  json.Key("systematic").BeginObject();
  json.Member("assumed", change.assumed).Member("load", change.load);
  json.Member("clock", change.clock).Member("temperature", change.temperature);
  json.Member("drift", change.drift).End();
}

void WriteReason(JsonWriter& json, const std::optional<Note>& reason) {
  json.Member("reason", reason ? NoteWords(*reason) : "");
  json.Key("reason_kind").Value(reason ? std::optional(NoteKindName(reason->kind)) : std::nullopt);
}

void WriteVerdict(JsonWriter& json, const TotalVerdict& verdict) {
  json.Member("before", verdict.before).Member("after", verdict.after);
  WriteChange(json, verdict.change);
  json.Member("certain", verdict.certain).Member("more_runs", verdict.more_runs);
  WriteReason(json, verdict.reason);
  json.Member("says", VerdictLine(verdict));
}

void WriteGate(JsonWriter& json, const Comparison& comparison, const GateVerdict& gate) {
  json.Member("run", gate.run).Member("pattern", gate.gate.pattern);
  json.Member("limit", gate.gate.limit);
  WriteChange(json, gate.change);
  json.Key("noise").Value(
      gate.change.low ? std::optional((*gate.change.high - *gate.change.low) / 2) : std::nullopt);
  json.Member("passed", gate.passed).Member("certain", gate.certain);
  json.Member("more_runs", gate.more_runs);
  WriteReason(json, gate.reason);
  json.Member("says", GateLines(comparison, gate).front());
  json.Objects("grew", gate.grew, [&](const DifferenceRow& row) { WriteDifference(json, row); });
}

}  // namespace

void WriteSimilarity(JsonWriter& json, const char* key, const SimilarityMatrices& found) {
  const size_t runs = found.runs.size();
  json.Key(key).BeginObject();
  json.Member("level", found.level).Member("runs", found.runs).Member("names", found.names);
  WriteMatrix(json, "common", found.common, runs);
  WriteMatrix(json, "only_in_row", found.only_here, runs);
  WriteMatrix(json, "energy_pearson", found.energy_pearson, runs);
  WriteMatrix(json, "power_pearson", found.power_pearson, runs);
  WriteMatrix(json, "energy_difference_j", found.energy_difference, runs);
  WriteMatrix(json, "power_difference_w", found.power_difference, runs);
  json.End();
}

std::string SimilarityCsv(const SimilarityMatrices& found, CsvTable csv) {
  const size_t runs = found.runs.size();
  csv.Row("row", "column", "common_names", "only_in_row", "energy_pearson", "power_pearson",
          "energy_difference_j", "power_difference_w", "level");
  for (size_t at = 0; at < runs * runs; ++at) {
    csv.Row(found.runs[at / runs], found.runs[at % runs], found.common[at], found.only_here[at],
            found.energy_pearson[at], found.power_pearson[at], found.energy_difference[at],
            found.power_difference[at], found.level);
  }
  return csv.Take();
}

std::string WriteCompareJson(const Comparison& comparison) {
  JsonWriter json;
  BeginResult(json, kSchema, comparison.provenance);
  json.Member("basis", comparison.per_step ? "step" : "run");
  json.Member("of", ComparedEnergyName(comparison.of));
  json.Objects("sides", comparison.sides, [&](const ComparedSide& side) {
    json.Member("label", side.label).Member("runs", side.runs);
  });
  json.Objects("verdicts", comparison.verdicts,
               [&](const TotalVerdict& verdict) { WriteVerdict(json, verdict); });
  json.Member("false_discovery", comparison.false_discovery);
  json.Key("runs").BeginArray();
  for (size_t run = 0; run < comparison.totals.size(); ++run) {
    json.BeginObject();
    json.Member("label", comparison.totals[run].run);
    WriteTotal(json, comparison.totals[run]);
    if (run < comparison.runs.size()) {
      WriteContext(json, comparison.runs[run]);
      WriteClosure(json, comparison.runs[run]);
    }
    json.End();
  }
  json.End();
  WriteSimilarity(json, "similarity", comparison.similarity);
  json.Member("differences_level", comparison.differences_level);
  json.Objects("differences", comparison.differences,
               [&](const DifferenceRow& row) { WriteDifference(json, row); });
  // Two columns of one name would be one key twice.
  const bool has_tree = CheckLabels(comparison.tree).has_value();
  WriteTree(json.Key("tree"), has_tree ? comparison.tree : TreeColumns(), {});
  json.Objects("gates", comparison.gates,
               [&](const GateVerdict& gate) { WriteGate(json, comparison, gate); });
  WriteNotes(json, NotesOf(comparison));
  return EndResult(json);
}

std::string WriteCompareCsv(const Comparison& comparison, ComparePart part) {
  const char* basis = comparison.per_step ? "step" : "run";
  CsvTable csv(kSchema, comparison.provenance);
  if (part == ComparePart::kMatrices) return SimilarityCsv(comparison.similarity, std::move(csv));
  if (part == ComparePart::kTotals) {
    csv.Row("run", "attributed_j", "deviation_j", "forward_j", "backward_j", "optimizer_j",
            "idle_j", "unattributed_j", "steps", "basis");
    for (const RunTotal& total : comparison.totals) {
      csv.Row(total.run, total.attributed, total.deviation, total.by_phase[0], total.by_phase[1],
              total.by_phase[2], total.idle, total.unattributed, total.steps, basis);
    }
    return csv.Take();
  }
  csv.Row("path", "level", "rest", "in_before", "in_after", "before_j", "after_j", "difference_j",
          "noise_j", "is_noise", "p_value", "found", "basis");
  for (const DifferenceRow& row : comparison.differences) {
    csv.Row(row.path, LevelName(row.level), row.rest, row.in_before, row.in_after, row.before,
            row.after, row.difference, row.noise,
            row.noise ? std::optional(row.is_noise) : std::nullopt, row.p_value,
            row.p_value ? std::optional(row.found) : std::nullopt, basis);
  }
  return csv.Take();
}

std::vector<Note> NotesOf(const Comparison& comparison) {
  std::vector<Note> notes = comparison.notes;
  for (size_t run = 0; run < comparison.runs.size(); ++run) {
    AppendNotes(notes, NotesOf(comparison.runs[run]), comparison.totals[run].run);
  }
  return notes;
}

std::string Write(const Comparison& comparison, Format format, ComparePart part,
                  const ViewOptions& options) {
  if (format == Format::kJson) return WriteCompareJson(comparison);
  if (format == Format::kCsv) return WriteCompareCsv(comparison, part);
  if (format == Format::kSvg) return WriteComparePicture(comparison, part, options);
  return WriteCompareTable(comparison, options);
}

}  // namespace beryl::views
