// Shared parts of pictures: heading, axes, legends, and the sources of the numbers.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "types/account_report.h"
#include "views/draw/svg.h"

namespace beryl::views {

inline constexpr double kMargin = 28;  // of every picture
inline constexpr double kWidth = 900;  // of most
inline constexpr double kInner = kWidth - 2 * kMargin;
inline constexpr double kAxisRoom = 62;  // left of a plot

// A linear map from values to pixels.
struct Scale {
  double low = 0;
  double high = 1;
  double from = 0;  // the pixel of `low`
  double to = 1;    // the pixel of `high`

  double operator()(double value) const {
    return high == low ? from : from + (value - low) / (high - low) * (to - from);
  }
};

// Round values from `low` to `high`, about `count` of them: 1, 2 or 5 times a power of ten apart.
std::vector<double> NiceTicks(double low, double high, int count);

// The unit in which values up to `largest` read well: {1e-3, "mJ"}.
struct AxisUnit {
  double factor = 1;
  std::string name;
};
AxisUnit UnitFor(double largest, std::string_view base_unit);

// Ticks with their values, a line across the picture at each, and the quantity. `scale` is in base
// units; the unit's prefix is chosen automatically.
struct AxisPlace {
  double from = 0;  // where the grid lines begin
  double to = 0;    // where they end; the values are beyond `from`
};
void DrawBottomAxis(SvgCanvas& canvas, const Scale& scale, AxisPlace across, std::string_view what,
                    std::string_view base_unit);
void DrawLeftAxis(SvgCanvas& canvas, const Scale& scale, AxisPlace across, std::string_view what,
                  std::string_view base_unit);

// The uncertainty of a value, on a bar or beside it.
void DrawWhisker(SvgCanvas& canvas, double low, double high, double middle);

double Highest(const std::vector<double>& watts);  // the largest known value
// Power over time: the scale of a plot, the name in its corner, and the area below the known
// slices.
Scale PowerScale(const std::vector<double>& watts, double bottom, double top);
void DrawPlotName(SvgCanvas& canvas, double x, double y, std::string_view name, double opacity);
template <typename SliceX>
std::vector<Point> StepArea(const std::vector<double>& watts, size_t from, size_t to,
                            SliceX&& slice_x, const Scale& y) {
  std::vector<Point> points = {{slice_x(from), y(0)}};
  for (size_t slice = from; slice < to; ++slice) {
    points.push_back({slice_x(slice), y(watts[slice])});
    points.push_back({slice_x(slice + 1), y(watts[slice])});
  }
  points.push_back({slice_x(to), y(0)});
  return points;
}

struct LegendEntry {
  Color color;
  std::string label;
};
std::vector<LegendEntry> PhaseEntries(const std::array<bool, kPhaseCount>& occurs);
// In lines from `x` to `right`; returns the y below them.
double DrawLegend(SvgCanvas& canvas, double x, double y, double right,
                  const std::vector<LegendEntry>& entries);
// The colours from 0 to 1, with labels at both ends.
void DrawScaleLegend(SvgCanvas& canvas, double x, double y, std::string_view low,
                     std::string_view high, Color (*color_at)(double));

// Title and a line below it, each in as many lines as a picture of `width` needs; returns the y
// below them.
double DrawHeading(SvgCanvas& canvas, double width, std::string_view title, std::string_view below,
                   std::string_view label = {});

// Finishes the picture with small print at its end, from `y` in as many lines as needed.
std::string FinishPicture(SvgCanvas& canvas, double width, double y,
                          const std::vector<std::string>& lines, const Provenance& provenance);
// The sources of a run's numbers: its files, its meters, the tool and the closure.
std::vector<std::string> SourceLines(const AccountReport& report);
// "trace.json", "trace.json (+2 more)"
std::string RunName(const RunContext& context);

}  // namespace beryl::views
