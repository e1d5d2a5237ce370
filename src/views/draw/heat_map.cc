#include "views/draw/heat_map.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "views/draw/svg_parts.h"

namespace beryl::views {
namespace {

constexpr double kSide = 22;     // for the letters at the sides
constexpr double kLargest = 64;  // two runs need not fill the page

// The lowest and the highest.
std::pair<double, double> RangeOf(const PairMatrix& values) {
  std::vector<double> known;
  std::copy_if(values.begin(), values.end(), std::back_inserter(known),
               [](double value) { return std::isfinite(value); });
  if (known.empty()) return {0, 0};
  const auto [low, high] = std::minmax_element(known.begin(), known.end());
  return {*low, *high};
}

// A round number below the lowest similarity, so that small differences are visible.
double SimilarityFloor(double lowest) {
  for (const double floor : {0.99, 0.9, 0.5, 0.0}) {
    if (lowest >= floor) return floor;
  }
  return -1;
}

// As many digits as fit. A similarity below 1 is never rounded up to 1.
std::string FittingSimilarity(double value, double room, double size) {
  if (value >= 1) return "1";
  std::string text;
  for (const int digits : {4, 3, 2}) {
    const double step = std::pow(10, digits);
    text = fmt::format("{:.{}f}", std::min(std::round(value * step), step - 1) / step, digits);
    if (TextWidth(text, size) <= room) break;
  }
  return text;
}

// Three digits for the largest value of the matrix, and the same number of decimals for all.
std::string DifferenceText(double value, double largest) {
  if (value == 0) return "0";
  const int decimals = largest >= 100 ? 0 : largest >= 10 ? 1 : 2;
  const std::string text = fmt::format("{:.{}f}", value, decimals);
  return text.find_first_of("123456789") == std::string::npos ? "~0" : text;
}

}  // namespace

std::string LetterOf(size_t run) {
  std::string letters;
  for (++run; run > 0; run = (run - 1) / 26) {
    letters.insert(letters.begin(), static_cast<char>('A' + (run - 1) % 26));
  }
  return letters;
}

std::string SimilarityText(double value) {
  if (!std::isfinite(value)) return "-";
  return value < 1 ? fmt::format("{:.4f}", std::min(value, 0.9999)) : "1";
}

void WriteMatrix(TextPage& page, const PairMatrix& values, size_t runs, int width, Formatter text) {
  std::string head = Blanks(3);
  for (size_t column = 0; column < runs; ++column) head += RightAligned(LetterOf(column), width);
  page.Line(page.Dim(head));
  for (size_t row = 0; row < runs; ++row) {
    std::string line = Padded(LetterOf(row), 3);
    for (size_t column = 0; column < runs; ++column) {
      line += RightAligned(text(values[row * runs + column]), width);
    }
    page.Line(line);
  }
}

double DrawHeatMap(SvgCanvas& canvas, Point at, double width, const HeatMap& map) {
  const bool similarity = map.unit.empty();
  const auto [lowest, highest] = RangeOf(*map.values);
  const double largest = std::max(std::fabs(lowest), std::fabs(highest));
  const AxisUnit unit = similarity ? AxisUnit{} : UnitFor(largest, map.unit);
  const double floor = SimilarityFloor(lowest);
  const auto count = static_cast<double>(map.runs);
  const double box = std::min(kLargest, (width - kSide) / std::max(1.0, count));
  const double text_size = std::clamp(box / 3.6, 8.0, 12.0);
  canvas.Text(at.x, at.y + 12, similarity ? map.title : fmt::format("{}, {}", map.title, unit.name),
              {.size = 12.5, .bold = true, .room = width});
  const double left = at.x + kSide;
  const double top = at.y + 40;
  for (size_t run = 0; run < map.runs; ++run) {
    const double along = (static_cast<double>(run) + 0.5) * box;
    canvas.Text(left + along, top - 6, LetterOf(run),
                {.size = 11, .color = kDim, .anchor = Anchor::kMiddle});
    canvas.Text(left - 7, top + along + 4, LetterOf(run),
                {.size = 11, .color = kDim, .anchor = Anchor::kEnd});
  }
  for (size_t row = 0; row < map.runs; ++row) {
    for (size_t column = 0; column < map.runs; ++column) {
      const size_t index = row * map.runs + column;
      const double value = (*map.values)[index];
      const bool known = std::isfinite(value);
      const Color color = !known       ? kPage
                          : similarity ? ShareColor((value - floor) / (1 - floor))
                                       : DifferenceColor(largest > 0 ? value / largest : 0);
      const double x = left + static_cast<double>(column) * box;
      const double y = top + static_cast<double>(row) * box;
      canvas.BeginGroup(fmt::format(
          "{} {} {}: {}", map.labels[row], similarity ? "and" : "minus", map.labels[column],
          !known       ? std::string("not defined")
          : similarity ? fmt::format("{}", value)
                       : fmt::format("{:.4g} {}", value / unit.factor, unit.name)));
      canvas.Rectangle(x + 0.5, y + 0.5, box - 1, box - 1,
                       {.fill = color, .stroke = known ? std::nullopt : std::optional(kGrid)});
      canvas.Text(x + box / 2, y + box / 2 + text_size * 0.35,
                  !known       ? "-"
                  : similarity ? FittingSimilarity(value, box - 4, text_size)
                               : DifferenceText(value / unit.factor, largest / unit.factor),
                  {.size = text_size,
                   .color = known ? TextColorOn(color) : kDim,
                   .anchor = Anchor::kMiddle});
      canvas.EndGroup();
    }
  }
  const double below = top + count * box + 12;
  if (similarity) {
    DrawScaleLegend(canvas, left, below, fmt::format("{}", floor), "1", ShareColor);
  } else {
    const std::string end = fmt::format("{:.3g} {}", largest / unit.factor, unit.name);
    DrawScaleLegend(canvas, left, below, "−" + end, "+" + end,
                    [](double along) { return DifferenceColor(2 * along - 1); });
  }
  return below + 22;
}

}  // namespace beryl::views
