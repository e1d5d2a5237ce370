#include "views/energy_use.h"

#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "views/learned.h"
#include "views/writers.h"

namespace beryl::views {

std::string EnergySource(bool predicted, const EnergyOrigin& origin) {
  return predicted ? "predicted by " + Printable(origin.predicted_by) : "measured";
}

std::string EnergySources(const EnergyOrigin& origin) {
  if (origin.predicted_by.empty()) return EnergySource(false, origin);
  if (!origin.measured) return EnergySource(true, origin);
  return fmt::format("{}, and {}", EnergySource(false, origin), EnergySource(true, origin));
}

void WriteOrigin(JsonWriter& json, const EnergyOrigin& origin) {
  json.Member("tool", origin.tool);
  json.Member("data", Printable(origin.data));
  json.Key("energy").BeginArray();
  if (origin.measured) json.Value(EnergySource(false, origin));
  if (!origin.predicted_by.empty()) json.Value(EnergySource(true, origin));
  json.End();
  WriteFindings(json, origin.findings);
}

std::string JoulesOrDash(double joules) {
  return std::isfinite(joules) ? FormatJoules(joules) : "-";
}

std::string PercentOrDash(double share) {
  return std::isfinite(share) ? FormatPercent(share) : "-";
}

std::string FigureOrDash(double value) {
  if (!std::isfinite(value)) return "-";
  constexpr double kMostCounted = 1e15;
  if (value >= 1000 && value < kMostCounted) {
    return FormatCount(static_cast<uint64_t>(std::llround(value)));
  }
  return fmt::format("{:.4g}", value);
}

std::optional<double> KnownSize(double size) {
  return size > 0 ? std::optional(size) : std::nullopt;
}

std::string CsvFigure(double value) {
  return CsvNumber(std::isfinite(value) ? std::optional(value) : std::nullopt);
}

}  // namespace beryl::views
