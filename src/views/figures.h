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
std::string JoulesOrDash(double joules);
std::string JoulesOrDash(const std::optional<Joules>& energy);
std::string JoulesBetween(double low, double high);  // "1.20 J - 1.40 J"
std::string PercentOrDash(double share);
std::string FigureOrDash(double value);  // four digits that count

// --- For JSON: whole numbers as such, exact to 2^53; null: not known.
void WriteWhole(JsonWriter& json, std::string_view key, double value);

// --- For CSV; an empty field is not known.
std::string CsvText(std::string_view text);
std::string CsvNumber(const std::optional<double>& value);
std::string CsvFigure(double value);
template <typename Unit>
std::string CsvFigure(const std::optional<Scalar<Unit>>& quantity) {
  return CsvFigure(ValueOrNan(quantity));
}
// A whole number as such, exact to 2^53; else as doubles are written.
std::string WholeOrFigure(double value);

// A batch size or length as it goes out: nothing where it is not known.
std::optional<double> KnownSize(double size);

}  // namespace beryl::views
