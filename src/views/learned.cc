#include "views/learned.h"

#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "views/views.h"

namespace beryl::views {

void WriteFindings(JsonWriter& json, const std::vector<DataFinding>& findings) {
  json.Key("findings").BeginArray();
  for (const DataFinding& finding : findings) {
    json.BeginObject();
    json.Member("what", Printable(finding.what));
    json.Member("count", finding.count);
    json.Member("first", Printable(finding.first));
    json.End();
  }
  json.End();
}

void WriteLaw(JsonWriter& json, const EnergyLaw& law) {
  auto term = [&](std::string_view name, const LawTerm& of) {
    json.Key(name).BeginObject().Member("value", of.value);
    json.Member("deviation", of.deviation).Member("measured", of.measured).End();
  };
  json.Key("law").BeginObject();
  json.Member("sentence", LawSentence(law));
  if (law.gpu_energy) term("gpu_energy", *law.gpu_energy);
  if (law.cpu_energy) term("cpu_energy", *law.cpu_energy);
  term("rest_w", law.rest_w);
  if (law.busy_w) {
    term("busy_w", *law.busy_w);
    json.Member("busy_reference_pct", law.busy_reference);
  }
  json.End();
}

void WriteLevels(JsonWriter& json, std::string_view key, const std::array<double, 3>& values) {
  json.Key(key).BeginObject();
  for (size_t level = 0; level < kDataLevels.size(); ++level) {
    json.Member(LevelName(kDataLevels[level]), values[level]);
  }
  json.End();
}

std::string ErrorText(double percent) {
  if (!std::isfinite(percent)) return "-";
  if (percent < 9.995) return fmt::format("{:.2f} %", percent);
  return percent < 99.95 ? fmt::format("{:.1f} %", percent) : fmt::format("{:.0f} %", percent);
}

std::string FindingText(const DataFinding& finding) {
  std::string text = fmt::format("{} ({} time{}", finding.what, FormatCount(finding.count),
                                 finding.count == 1 ? "" : "s");
  if (!finding.first.empty()) text += fmt::format(", first at {}", finding.first);
  return text + ")";
}

std::string WriteNotes(const std::vector<DataFinding>& findings) {
  std::string text;
  for (const DataFinding& finding : findings) {
    text += fmt::format("note: {}\n", Printable(FindingText(finding)));
  }
  return text;
}

}  // namespace beryl::views
