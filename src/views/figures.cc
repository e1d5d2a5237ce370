#include "views/figures.h"

#include <array>
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"

namespace beryl::views {
namespace {

// Doubles below are exact whole numbers where they have no fraction.
constexpr double kLargestExact = 9007199254740992.0;

}  // namespace

std::string Amount(double value, std::string_view unit) {
  static constexpr std::array<const char*, 7> kPrefixes = {"", "k", "M", "G", "T", "P", "E"};
  if (!std::isfinite(value)) return "-";
  size_t prefix = 0;
  // 999.6 would be written with three digits as 1000.
  while (value >= 999.5 && prefix + 1 < kPrefixes.size()) {
    value /= 1000;
    ++prefix;
  }
  const bool whole = prefix == 0 && std::floor(value) == value;
  const int digits = whole || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  std::string text = fmt::format("{:.{}f}", value, digits);
  if (prefix > 0 || !unit.empty()) text += fmt::format(" {}{}", kPrefixes[prefix], unit);
  return text;
}

std::string WholeOrFigure(double value) {
  if (!std::isfinite(value)) return "";
  if (std::floor(value) == value && std::abs(value) <= kLargestExact) {
    return fmt::format("{}", static_cast<int64_t>(value));
  }
  return fmt::format("{}", value);
}

void WriteWhole(JsonWriter& json, std::string_view key, double value) {
  if (std::floor(value) == value && std::abs(value) <= kLargestExact) {
    json.Member(key, static_cast<int64_t>(value));
  } else {
    json.Member(key, value);
  }
}

std::string JoulesOrDash(double joules) {
  return std::isfinite(joules) ? FormatJoules(joules) : "-";
}

std::string JoulesOrDash(const std::optional<Joules>& energy) {
  return JoulesOrDash(ValueOrNan(energy));
}

std::string JoulesBetween(double low, double high) {
  return std::isfinite(low) && std::isfinite(high)
             ? fmt::format("{} - {}", FormatJoules(low), FormatJoules(high))
             : "-";
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

std::string CsvText(std::string_view text) {
  std::string clean = Printable(text);
  if (clean.find_first_of(",\"\n\r") == std::string::npos) return clean;
  std::string quoted = "\"";
  for (const char c : clean) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

std::string CsvNumber(const std::optional<double>& value) {
  return value ? fmt::format("{}", *value) : "";
}

}  // namespace beryl::views
