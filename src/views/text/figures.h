// The format of numbers in tables, JSON and CSV.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json_writer.h"
#include "base/units.h"

namespace beryl::views {

// --- For tables; "-": unknown. Three significant digits: "22.4 G"; with a unit "22.4 GB".
std::string Amount(double value, std::string_view unit = "");
using Formatter = std::string (*)(double);
std::string OrDash(double value, Formatter format);
std::string OrDash(const std::optional<double>& value, Formatter format);
template <typename Unit>
std::string OrDash(const std::optional<Scalar<Unit>>& quantity, Formatter format) {
  return OrDash(ValueOrNan(quantity), format);
}
std::string JoulesOrDash(double joules);
std::string JoulesOrDash(const std::optional<Joules>& energy);
std::string JoulesBetween(double low, double high);  // "1.20 J - 1.40 J"
std::string PercentOrDash(double share);
std::string FigureOrDash(double value);  // four significant digits
std::string FigureOrDash(const std::optional<double>& value);
// "?": the value exists but is unknown.
std::string OrUnknown(const std::optional<double>& value, Formatter format);

// --- For JSON: whole numbers without a fraction, exact to 2^53; null: unknown.
void WriteWhole(JsonWriter& json, double value);
inline void WriteWhole(JsonWriter& json, std::string_view key, double value) {
  WriteWhole(json.Key(key), value);
}

// --- For CSV; empty: unknown. A whole number without a fraction, exact to 2^53; otherwise a
// double.
std::string WholeOrFigure(double value);

// How many of `all` rows are shown if at most `top` are requested.
size_t CountShown(size_t all, int top);

}  // namespace beryl::views
