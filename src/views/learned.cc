#include "views/learned.h"

#include <cmath>

#include "base/text.h"

namespace beryl::views {

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
  return FormatFixed(percent, percent < 9.995 ? 2 : percent < 99.95 ? 1 : 0) + " %";
}

}  // namespace beryl::views
