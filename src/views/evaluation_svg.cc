// Figure 3 of IrEne's paper: how many predictions are off by how much.
#include <algorithm>

#include <fmt/format.h>

#include "views/learned.h"
#include "views/svg_parts.h"

namespace beryl::views {
namespace {

constexpr double kNarrower = 760;  // than other pictures
constexpr double kPlotHeight = 300;

// The axis ends where nearly all errors do: one outlier must not flatten everything else.
double LargestShown(const Evaluation& evaluation) {
  double largest = 0;
  for (const LevelErrors& level : evaluation.levels) {
    if (!level.cdf.empty()) largest = std::max(largest, level.cdf[99]);
  }
  return largest > 0 ? 1.15 * largest : 1;
}

}  // namespace

std::string DrawErrors(const Evaluation& evaluation) {
  const std::string title =
      fmt::format("Errors of predicted energy, method {}", MethodName(evaluation.method));
  const std::string below = ProtocolText(evaluation);
  SvgCanvas canvas(title, below);
  const double y = DrawHeading(canvas, kNarrower, title, below) + 10;
  const double left = kMargin + kAxisRoom;
  const double right = kNarrower - kMargin;
  const double bottom = y + kPlotHeight;
  const double largest = LargestShown(evaluation);
  const Scale x{0, largest, left, right};
  const Scale share{0, 100, bottom, y};
  DrawLeftAxis(canvas, share, {left, right}, "nodes with a smaller error, %", "");
  DrawBottomAxis(canvas, x, {bottom, y}, "absolute error, %", "");
  auto color = [](size_t level) { return CategoryColor(level, kDataLevels.size()); };
  std::vector<LegendEntry> legend;
  for (size_t level = 0; level < kDataLevels.size(); ++level) {
    const LevelErrors& errors = evaluation.levels[level];
    if (errors.cdf.empty()) continue;
    std::vector<Point> line = {{left, bottom}};
    for (size_t percent = 0; percent < errors.cdf.size(); ++percent) {
      if (errors.cdf[percent] > largest) break;
      line.push_back({x(errors.cdf[percent]), share(static_cast<double>(percent))});
    }
    canvas.Polyline(line, {.stroke = color(level), .stroke_width = 2});
    legend.push_back({color(level),
                      fmt::format("{}: {} on average, 99 % below {}", LevelName(kDataLevels[level]),
                                  ErrorText(errors.mape_nodes), ErrorText(errors.cdf[99]))});
  }
  double end = DrawLegend(canvas, left, bottom + 52, right, legend) + 8;
  return FinishPicture(canvas, kNarrower, end, {ToolText(evaluation.provenance)},
                       evaluation.provenance);
}

}  // namespace beryl::views
