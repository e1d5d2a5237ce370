// How numbers read: in tables, in JSON and in CSV.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json_writer.h"
#include "base/units.h"

namespace beryl::views {

// --- For tables; "-": not known.
// Three digits that count: "22.4 G"; with a unit "22.4 GB".
std::string Amount(double value, std::string_view unit = "");
using Formatter = std::string (*)(double);
std::string OrDash(double value, Formatter format);
template <typename Unit>
std::string OrDash(const std::optional<Scalar<Unit>>& quantity, Formatter format) {
  return OrDash(ValueOrNan(quantity), format);
}
std::string JoulesOrDash(double joules);
std::string JoulesOrDash(const std::optional<Joules>& energy);
std::string JoulesBetween(double low, double high);  // "1.20 J - 1.40 J"
std::string PercentOrDash(double share);
std::string FigureOrDash(double value);  // four digits that count
// "?": there is something, and nobody knows how much.
std::string OrUnknown(const std::optional<double>& value, Formatter format);

// --- For JSON: whole numbers as such, exact to 2^53; null: not known.
void WriteWhole(JsonWriter& json, std::string_view key, double value);

// --- For CSV; empty: not known.
// A whole number as such, exact to 2^53; else as doubles are written.
std::string WholeOrFigure(double value);

// How many of `all` are shown where at most `top` are asked for.
size_t CountShown(size_t all, int top);
// A batch size or length as it goes out: nothing where it is not known.
std::optional<double> KnownSize(double size);

}  // namespace beryl::views
