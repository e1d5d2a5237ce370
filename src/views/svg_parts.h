// What pictures have in common: a heading, axes, legends, and where the numbers came from.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "types/account_report.h"
#include "views/svg.h"

namespace beryl::views {

// Values onto pixels, in a straight line.
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

// Ticks with their values, a line across the picture at each, and what is measured. `scale` is in
// base units; the unit's prefix is chosen.
struct AxisPlace {
  double from = 0;  // where the lines across begin
  double to = 0;    // and where they end; the values stand beyond `from`
};
void DrawBottomAxis(SvgCanvas& canvas, const Scale& scale, AxisPlace across, std::string_view what,
                    std::string_view base_unit);
void DrawLeftAxis(SvgCanvas& canvas, const Scale& scale, AxisPlace across, std::string_view what,
                  std::string_view base_unit);

struct LegendEntry {
  Color color;
  std::string label;
};
// In lines from `x` to `right`; returns the y below them.
double DrawLegend(SvgCanvas& canvas, double x, double y, double right,
                  const std::vector<LegendEntry>& entries);
// The colours from 0 to `highest`, which the labels at the ends say. Returns the x behind it.
double DrawShareLegend(SvgCanvas& canvas, double x, double y, std::string_view low,
                       std::string_view high);
// Both sides of 0.
double DrawDifferenceLegend(SvgCanvas& canvas, double x, double y, std::string_view low,
                            std::string_view high);

// Title and a line below it, each in as many lines as `width` needs; returns the y below them.
double DrawHeading(SvgCanvas& canvas, double x, double width, std::string_view title,
                   std::string_view below, std::string_view label = {});

// Small print in as many lines as it takes; returns the y below it.
double DrawFooter(SvgCanvas& canvas, double x, double y, double width,
                  const std::vector<std::string>& lines);
// Where the numbers of a run came from: its files, its meters, the tool and the closure.
std::vector<std::string> SourceLines(const AccountReport& report);
// "trace.json", "trace.json (+2 more)"
std::string RunName(const RunContext& context);

}  // namespace beryl::views
