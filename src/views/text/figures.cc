#include "views/text/figures.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "types/unknown.h"

namespace beryl::views {
namespace {

// Below this, doubles without a fraction are exact integers.
constexpr double kLargestExact = 9007199254740992.0;

}  // namespace

std::string Amount(double value, std::string_view unit) {
  static constexpr std::array<const char*, 7> kPrefixes = {"", "k", "M", "G", "T", "P", "E"};
  if (!std::isfinite(value)) return "-";
  size_t prefix = 0;
  // 999.6 would be written with three digits as 1000.
  while (std::abs(value) >= 999.5 && prefix + 1 < kPrefixes.size()) {
    value /= 1000;
    ++prefix;
  }
  const bool whole = prefix == 0 && std::floor(value) == value;
  const double size = std::abs(value);
  const int digits = whole || size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2;
  std::string text = FormatFixed(value, digits);
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

void WriteWhole(JsonWriter& json, double value) {
  if (std::floor(value) == value && std::abs(value) <= kLargestExact) {
    json.Value(static_cast<int64_t>(value));
  } else {
    json.Value(value);
  }
}

std::string OrDash(double value, Formatter format) {
  return std::isfinite(value) ? format(value) : "-";
}

std::string OrDash(const std::optional<double>& value, Formatter format) {
  return OrDash(value.value_or(kUnknown), format);
}

std::string OrUnknown(const std::optional<double>& value, Formatter format) {
  return value && std::isfinite(*value) ? format(*value) : "?";
}

std::string JoulesOrDash(double joules) { return OrDash(joules, FormatJoules); }
std::string JoulesOrDash(const std::optional<Joules>& energy) {
  return OrDash(energy, FormatJoules);
}

std::string JoulesBetween(double low, double high) {
  return std::isfinite(low) && std::isfinite(high)
             ? fmt::format("{} - {}", FormatJoules(low), FormatJoules(high))
             : "-";
}

std::string PercentOrDash(double share) { return OrDash(share, FormatPercent); }

std::string FigureOrDash(double value) {
  if (!std::isfinite(value)) return "-";
  constexpr double kMostCounted = 1e15;
  if (value >= 1000 && value < kMostCounted) {
    return FormatCount(static_cast<uint64_t>(std::llround(value)));
  }
  return fmt::format("{:.4g}", value);
}

std::string FigureOrDash(const std::optional<double>& value) {
  return value ? FigureOrDash(*value) : "-";
}

size_t CountShown(size_t all, int top) {
  return std::min(all, static_cast<size_t>(std::max(0, top)));
}

}  // namespace beryl::views
