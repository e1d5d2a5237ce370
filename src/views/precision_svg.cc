// The picture of a precision: similarity against the period and against the number of samples, and
// between samples.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "views/compare.h"
#include "views/figures.h"
#include "views/matrix_looks.h"
#include "views/svg_parts.h"

namespace beryl::views {
namespace {

constexpr double kPlotHeight = 220;

struct CurvePoint {
  double x = 0;
  double y = 0;
  std::string tick;
  std::string tooltip;
};

// A curve over a logarithmic axis, with a value axis that ends at 1 and begins where the curve
// does.
void DrawCurve(SvgCanvas& canvas, Point at, double width, std::string_view title,
               std::string_view along, const std::vector<CurvePoint>& points) {
  canvas.Text(at.x, at.y + 12, title, {.size = 12.5, .bold = true, .room = width});
  const double top = at.y + 28;
  const double bottom = top + kPlotHeight;
  double lowest = 1;
  for (const CurvePoint& point : points) {
    if (std::isfinite(point.y)) lowest = std::min(lowest, point.y);
  }
  // Never closer than this: a curve between 0.9999 and 1 is flat, and should look so.
  const double low = std::max(-1.0, std::min(0.9, std::floor(lowest * 10) / 10));
  const Scale y{low, 1, bottom, top};
  const double left = at.x + kAxisRoom;
  DrawLeftAxis(canvas, y, {left, at.x + width}, "similarity", "");
  if (points.empty()) return;
  const double first = std::log2(points.front().x);
  const double last = std::log2(points.back().x);
  const Scale x{first, last > first ? last : first + 1, left + 14, at.x + width - 14};
  std::vector<Point> line;
  double free_from = 0;
  for (const CurvePoint& point : points) {
    const double px = x(std::log2(point.x));
    const double room = TextWidth(point.tick, 11);
    if (px - room / 2 >= free_from) {
      canvas.Text(px, bottom + 16, point.tick,
                  {.size = 11, .color = kDim, .anchor = Anchor::kMiddle});
      free_from = px + room / 2 + 6;
    }
    if (std::isfinite(point.y)) line.push_back({px, y(point.y)});
  }
  canvas.Text((x.from + x.to) / 2, bottom + 34, along,
              {.size = 11, .color = kDim, .anchor = Anchor::kMiddle});
  if (line.size() > 1) canvas.Polyline(line, {.stroke = kAccent, .stroke_width = 2});
  for (const CurvePoint& point : points) {
    if (!std::isfinite(point.y)) continue;
    canvas.Rectangle(x(std::log2(point.x)) - 3, y(point.y) - 3, 6, 6,
                     {.fill = kAccent, .radius = 3, .tooltip = point.tooltip});
  }
}

}  // namespace

std::string DrawPrecision(const Precision& precision) {
  const std::string said = fmt::format("{}", fmt::join(precision.verdicts, ". "));
  SvgCanvas canvas("How much the result hangs on its sampling", said);
  double y = DrawHeading(canvas, kWidth, "How much the result hangs on its sampling", said,
                         WarningLabel(precision.runs)) +
             8;
  const bool has_widening = !precision.widening.empty();
  constexpr double kGap = 30;
  const double half = (kInner - kGap) / 2;
  std::vector<CurvePoint> sparsing;
  const bool timed = std::all_of(precision.sparsing.begin(), precision.sparsing.end(),
                                 [](const auto& point) { return point.period_ms > 0; });
  for (const Precision::Sparsing& point : precision.sparsing) {
    sparsing.push_back(
        {timed ? point.period_ms : point.every, point.pearson,
         timed ? FormatSeconds(point.period_ms * 1e-3) : fmt::format("{}", point.every),
         fmt::format("every {}. reading: similarity {:.4f}, {} moved, total {}", point.every,
                     point.pearson, PercentOrDash(point.moved),
                     PercentOrDash(point.total_change))});
  }
  DrawCurve(canvas, {kMargin, y}, has_widening ? half : kInner,
            "sampled more sparsely, against all readings", "time between power readings", sparsing);
  if (has_widening) {
    std::vector<CurvePoint> widening;
    for (const Precision::Widening& point : precision.widening) {
      widening.push_back({static_cast<double>(point.samples), point.pearson,
                          FormatCount(point.samples),
                          fmt::format("the first {}: similarity {:.4f}, {} moved", point.samples,
                                      point.pearson, PercentOrDash(point.moved))});
    }
    DrawCurve(canvas, {kMargin + half + kGap, y}, half,
              fmt::format("sampled longer, against all {}s", precision.sample),
              fmt::format("{}s taken", precision.sample), widening);
  }
  y += 28 + kPlotHeight + 62;
  const SimilarityMatrices& stability = precision.stability;
  if (stability.runs.size() > 1) {
    const double end =
        DrawHeatMap(canvas, {kMargin, y}, half + 60,
                    {fmt::format("similarity of energy between {}s (Pearson)", precision.sample),
                     &stability.energy_pearson, stability.runs.size(), "", stability.runs});
    double line = y + 46;
    const double x = kMargin + half + 60 + kGap;
    for (size_t box = 0; box < stability.runs.size(); ++box) {
      canvas.Text(x, line, fmt::format("{}  {}", LetterOf(box), Printable(stability.runs[box])),
                  {.size = 11, .color = kDim, .room = kWidth - kMargin - x});
      line += 17;
    }
    y = std::max(end, line) + 16;
  }
  return FinishPicture(canvas, kWidth, y, SourcesOf(precision.runs, precision.labels),
                       precision.provenance);
}

}  // namespace beryl::views
