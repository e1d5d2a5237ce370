#include "views/compare.h"

#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "views/writers.h"

namespace beryl::views {
namespace {

std::optional<double> Known(double value) {
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

void WriteMatrix(JsonWriter& json, const char* key, const PairMatrix& values, size_t runs) {
  json.Key(key).BeginArray();
  for (size_t row = 0; row < runs; ++row) {
    json.BeginArray();
    for (size_t column = 0; column < runs; ++column) json.Value(values[row * runs + column]);
    json.End();
  }
  json.End();
}

void WriteCounts(JsonWriter& json, const char* key, const std::vector<uint64_t>& values,
                 size_t runs) {
  json.Key(key).BeginArray();
  for (size_t row = 0; row < runs; ++row) {
    json.BeginArray();
    for (size_t column = 0; column < runs; ++column) json.Value(values[row * runs + column]);
    json.End();
  }
  json.End();
}

void WriteTotal(JsonWriter& json, const RunTotal& total) {
  json.Key("total").BeginObject();
  json.Member("attributed_j", total.attributed);
  json.Member("deviation_j", total.deviation);
  json.Key("phases").BeginObject();
  for (size_t phase = 0; phase < kPhaseCount; ++phase) {
    json.Member(PhaseName(static_cast<Phase>(phase)), total.by_phase[phase]);
  }
  json.End();
  json.Member("idle_j", total.idle);
  json.Member("unattributed_j", total.unattributed);
  json.Member("steps", total.steps);
  json.Member("outside_steps_j", total.outside_steps);
  json.End();
}

void WriteDifference(JsonWriter& json, const DifferenceRow& row) {
  json.BeginObject();
  json.Member("path", row.path);
  json.Member("level", LevelName(row.level));
  json.Member("rest", row.rest);
  json.Member("in_before", row.in_before);
  json.Member("in_after", row.in_after);
  json.Member("before_j", row.before);
  json.Member("after_j", row.after);
  json.Member("difference_j", row.difference);
  json.Member("noise_j", row.noise);
  json.Key("is_noise").Value(row.noise ? std::optional(row.is_noise) : std::nullopt);
  json.End();
}

void WriteGate(JsonWriter& json, const Comparison& comparison, const GateVerdict& gate) {
  json.BeginObject();
  json.Member("run", gate.run);
  json.Member("pattern", gate.gate.pattern);
  json.Member("limit", gate.gate.limit);
  json.Member("before_j", gate.before);
  json.Member("after_j", gate.after);
  json.Member("change", gate.change);
  json.Member("noise", gate.noise);
  json.Member("passed", gate.passed);
  json.Member("certain", gate.certain);
  json.Member("reason", gate.reason);
  json.Member("says", GateLines(comparison, gate).front());
  json.Key("grew").BeginArray();
  for (const DifferenceRow& row : gate.grew) WriteDifference(json, row);
  json.End();
  json.End();
}

}  // namespace

void WriteSimilarity(JsonWriter& json, const char* key, const SimilarityMatrices& found) {
  const size_t runs = found.runs.size();
  json.Key(key).BeginObject();
  json.Member("level", found.level);
  json.Key("runs").BeginArray();
  for (const std::string& run : found.runs) json.Value(run);
  json.End();
  json.Key("names").BeginArray();
  for (const uint64_t names : found.names) json.Value(names);
  json.End();
  WriteCounts(json, "common", found.common, runs);
  WriteCounts(json, "only_in_row", found.only_here, runs);
  WriteMatrix(json, "energy_pearson", found.energy_pearson, runs);
  WriteMatrix(json, "power_pearson", found.power_pearson, runs);
  WriteMatrix(json, "energy_difference_j", found.energy_difference, runs);
  WriteMatrix(json, "power_difference_w", found.power_difference, runs);
  json.End();
}

std::string SimilarityCsv(const SimilarityMatrices& found, std::string_view schema) {
  std::string text =
      "row,column,common_names,only_in_row,energy_pearson,power_pearson,energy_difference_j,"
      "power_difference_w,level,schema\n";
  const size_t runs = found.runs.size();
  for (size_t row = 0; row < runs; ++row) {
    for (size_t column = 0; column < runs; ++column) {
      const size_t at = row * runs + column;
      text += fmt::format(
          "{},{},{},{},{},{},{},{},{},{}\n", CsvText(found.runs[row]), CsvText(found.runs[column]),
          found.common[at], found.only_here[at], CsvNumber(Known(found.energy_pearson[at])),
          CsvNumber(Known(found.power_pearson[at])), CsvNumber(Known(found.energy_difference[at])),
          CsvNumber(Known(found.power_difference[at])), CsvText(found.level), schema);
    }
  }
  return text;
}

std::string WriteCompareJson(const Comparison& comparison) {
  JsonWriter json;
  json.BeginObject();
  json.Member("schema", "beryl.compare/1");
  json.Member("basis", comparison.per_step ? "step" : "run");
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
  json.Key("differences").BeginArray();
  for (const DifferenceRow& row : comparison.differences) WriteDifference(json, row);
  json.End();
  json.Key("gates").BeginArray();
  for (const GateVerdict& gate : comparison.gates) WriteGate(json, comparison, gate);
  json.End();
  json.Key("notes").BeginArray();
  for (const std::string& note : comparison.notes) json.Value(note);
  json.End();
  json.End();
  return json.Take() + "\n";
}

std::string WriteCompareCsv(const Comparison& comparison, ComparePart part) {
  constexpr std::string_view kSchema = "beryl.compare/1";
  const char* basis = comparison.per_step ? "step" : "run";
  if (part == ComparePart::kMatrices) return SimilarityCsv(comparison.similarity, kSchema);
  if (part == ComparePart::kTotals) {
    std::string text =
        "run,attributed_j,deviation_j,forward_j,backward_j,optimizer_j,idle_j,unattributed_j,steps,"
        "basis,schema\n";
    for (const RunTotal& total : comparison.totals) {
      text += fmt::format("{},{},{},{},{},{},{},{},{},{},{}\n", CsvText(total.run),
                          CsvFigure(total.attributed), CsvFigure(total.deviation),
                          CsvFigure(total.by_phase[0]), CsvFigure(total.by_phase[1]),
                          CsvFigure(total.by_phase[2]), total.idle.value, total.unattributed.value,
                          total.steps, basis, kSchema);
    }
    return text;
  }
  std::string text =
      "path,level,rest,in_before,in_after,before_j,after_j,difference_j,noise_j,is_noise,basis,"
      "schema\n";
  for (const DifferenceRow& row : comparison.differences) {
    text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{}\n", CsvText(row.path),
                        LevelName(row.level), row.rest, row.in_before, row.in_after,
                        CsvFigure(row.before), CsvFigure(row.after), CsvFigure(row.difference),
                        CsvFigure(row.noise), row.noise ? (row.is_noise ? "true" : "false") : "",
                        basis, kSchema);
  }
  return text;
}

std::string Write(const Comparison& comparison, Format format, ComparePart part,
                  const ViewOptions& options) {
  if (format == Format::kJson) return WriteCompareJson(comparison);
  if (format == Format::kCsv) return WriteCompareCsv(comparison, part);
  if (format == Format::kSvg) return WriteComparePicture(comparison, part, options);
  return WriteCompareTable(comparison, options);
}

}  // namespace beryl::views
