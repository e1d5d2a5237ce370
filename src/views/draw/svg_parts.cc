#include "views/draw/svg_parts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"

namespace beryl::views {
namespace {

constexpr double kTickText = 11;
constexpr double kSmallText = 10.5;
constexpr double kSmallLine = 14;

std::string TickText(double value, double step) {
  const int digits = std::clamp(static_cast<int>(-std::floor(std::log10(step) + 1e-9)), 0, 9);
  return fmt::format("{:.{}f}", value, digits);
}

// Breaks at blanks; a word too long for a line stays whole and is shortened when drawn.
std::vector<std::string> Wrapped(std::string_view text, double width, double size, bool bold) {
  const std::string clean = Printable(text);
  std::vector<std::string> lines;
  std::string line;
  for (const std::string_view word : Split(clean, ' ')) {
    const std::string longer = line.empty() ? std::string(word) : line + " " + std::string(word);
    if (!line.empty() && TextWidth(longer, size, bold) > width) {
      lines.push_back(std::exchange(line, std::string(word)));
    } else {
      line = longer;
    }
  }
  if (!line.empty()) lines.push_back(line);
  return lines;
}

// The labels of an axis: "energy, mJ" (without unit: the name only), and pixels with their text.
struct Ticks {
  std::string title;
  std::vector<std::pair<double, std::string>> ticks;
};

// About `apart` pixels from one to the next.
Ticks TicksOf(const Scale& scale, double apart, std::string_view what, std::string_view base_unit) {
  const AxisUnit unit = UnitFor(std::max(std::fabs(scale.low), std::fabs(scale.high)), base_unit);
  const int count = std::max(2, static_cast<int>(std::fabs(scale.to - scale.from) / apart));
  const auto values = NiceTicks(scale.low / unit.factor, scale.high / unit.factor, count);
  const double step = values.size() > 1 ? values[1] - values[0] : 1;
  Ticks of{unit.name.empty() ? std::string(what) : fmt::format("{}, {}", what, unit.name), {}};
  for (const double value : values) {
    of.ticks.emplace_back(scale(value * unit.factor), TickText(value, step));
  }
  return of;
}

}  // namespace

std::vector<double> NiceTicks(double low, double high, int count) {
  if (!(high > low) || !std::isfinite(high - low) || count < 1) return {low};
  const double rough = (high - low) / count;
  const double magnitude = std::pow(10, std::floor(std::log10(rough)));
  double step = 10 * magnitude;
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * magnitude >= rough * (1 - 1e-9)) {
      step = factor * magnitude;
      break;
    }
  }
  std::vector<double> ticks;
  // Adding zero makes a negative zero a plain one.
  for (double at = std::ceil(low / step - 1e-9) + 0.0; at * step <= high + step * 1e-6; ++at) {
    ticks.push_back(at * step);
    if (ticks.size() > 1000) break;  // a step below the precision of `low` would never get there
  }
  return ticks;
}

AxisUnit UnitFor(double largest, std::string_view base_unit) {
  static constexpr std::array<std::pair<double, const char*>, 7> kPrefixes = {
      {{1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1, ""}, {1e-3, "m"}, {1e-6, "µ"}, {1e-9, "n"}}};
  // Numbers without a unit get no prefix.
  if (base_unit.empty()) return {1, ""};
  const double size = std::fabs(largest);
  for (const auto& [factor, prefix] : kPrefixes) {
    if (size >= factor) return {factor, prefix + std::string(base_unit)};
  }
  return {1, std::string(base_unit)};
}

void DrawBottomAxis(SvgCanvas& canvas, const Scale& scale, AxisPlace across, std::string_view what,
                    std::string_view base_unit) {
  const auto [title, ticks] = TicksOf(scale, 80, what, base_unit);
  for (const auto& [x, text] : ticks) {
    canvas.Line({x, across.to}, {x, across.from}, {.stroke = kGrid});
    canvas.Text(x, across.from + 15, text,
                {.size = kTickText, .color = kDim, .anchor = Anchor::kMiddle});
  }
  canvas.Text((scale.from + scale.to) / 2, across.from + 33, title,
              {.size = kTickText, .color = kDim, .anchor = Anchor::kMiddle});
}

void DrawLeftAxis(SvgCanvas& canvas, const Scale& scale, AxisPlace across, std::string_view what,
                  std::string_view base_unit) {
  const auto [title, ticks] = TicksOf(scale, 40, what, base_unit);
  double widest = 0;
  for (const auto& [y, text] : ticks) {
    widest = std::max(widest, TextWidth(text, kTickText));
    canvas.Line({across.from, y}, {across.to, y}, {.stroke = kGrid});
    canvas.Text(across.from - 6, y + 4, text,
                {.size = kTickText, .color = kDim, .anchor = Anchor::kEnd});
  }
  canvas.Text(across.from - 14 - widest, (scale.from + scale.to) / 2, title,
              {.size = kTickText, .color = kDim, .anchor = Anchor::kMiddle, .sideways = true});
}

void DrawWhisker(SvgCanvas& canvas, double low, double high, double middle) {
  // With a halo in the page colour, to be visible on a bar.
  for (const auto& [color, width] : {std::pair(kPage, 3.5), std::pair(kInk, 1.5)}) {
    canvas.Line({low, middle}, {high, middle}, {.stroke = color, .stroke_width = width});
    for (const double at : {low, high}) {
      canvas.Line({at, middle - 5}, {at, middle + 5}, {.stroke = color, .stroke_width = width});
    }
  }
}

double Highest(const std::vector<double>& watts) {
  double highest = 0;
  for (const double value : watts) highest = std::fmax(highest, value);
  return highest;
}

Scale PowerScale(const std::vector<double>& watts, double bottom, double top) {
  const double highest = Highest(watts);
  return {0, highest > 0 ? highest * 1.05 : 1, bottom, top};
}

void DrawPlotName(SvgCanvas& canvas, double x, double y, std::string_view name, double opacity) {
  // With a halo, because it may cover anything.
  canvas.Rectangle(x + 4, y + 2, TextWidth(name, 12, true) + 8, 17,
                   {.fill = kPage, .opacity = opacity, .radius = 3});
  canvas.Text(x + 8, y + 15, name, {.bold = true});
}

std::vector<LegendEntry> PhaseEntries(const std::array<bool, kPhaseCount>& occurs) {
  std::vector<LegendEntry> entries;
  for (size_t i = 0; i < kPhaseCount; ++i) {
    const auto phase = static_cast<Phase>(i);
    if (occurs[i]) entries.push_back({PhaseColor(phase), std::string(PhaseName(phase))});
  }
  return entries;
}

double DrawLegend(SvgCanvas& canvas, double x, double y, double right,
                  const std::vector<LegendEntry>& entries) {
  constexpr double kSwatch = 11;
  constexpr double kRow = 18;
  if (entries.empty()) return y;
  double at = x;
  for (const LegendEntry& entry : entries) {
    const double room = std::min(TextWidth(entry.label, kTickText), right - x - kSwatch - 5);
    if (at > x && at + kSwatch + 5 + room > right) {
      at = x;
      y += kRow;
    }
    canvas.Rectangle(at, y, kSwatch, kSwatch, {.fill = entry.color, .radius = 2});
    canvas.Text(at + kSwatch + 5, y + 9.5, entry.label,
                {.size = kTickText, .color = kDim, .room = room + 0.01});
    at += kSwatch + 5 + room + 14;
  }
  return y + kRow;
}

void DrawScaleLegend(SvgCanvas& canvas, double x, double y, std::string_view low,
                     std::string_view high, Color (*color_at)(double)) {
  constexpr int kSteps = 24;
  constexpr double kStep = 5;
  canvas.Text(x, y + 9, low, {.size = kTickText, .color = kDim});
  x += TextWidth(low, kTickText) + 6;
  for (int i = 0; i < kSteps; ++i) {
    // Slightly wider than a step, so that no seams are visible.
    canvas.Rectangle(x + i * kStep, y, kStep + (i + 1 < kSteps ? 0.5 : 0), 10,
                     {.fill = color_at(i / (kSteps - 1.0))});
  }
  canvas.Rectangle(x, y, kSteps * kStep, 10, {.stroke = kGrid});
  x += kSteps * kStep + 6;
  canvas.Text(x, y + 9, high, {.size = kTickText, .color = kDim});
}

double DrawHeading(SvgCanvas& canvas, double width, std::string_view title, std::string_view below,
                   std::string_view label) {
  constexpr double kTitle = 16;
  width -= 2 * kMargin;
  double y = 28;
  // A warning about the run comes first.
  const std::string whole =
      label.empty() ? std::string(title) : fmt::format("{} [{}]", title, label);
  for (const std::string& line : Wrapped(whole, width, kTitle, true)) {
    canvas.Text(kMargin, y, line, {.size = kTitle, .bold = true, .room = width});
    y += 21;
  }
  for (const std::string& line : Wrapped(below, width, 12, false)) {
    canvas.Text(kMargin, y, line, {.color = kDim, .room = width});
    y += 17;
  }
  return y;
}

std::string FinishPicture(SvgCanvas& canvas, double width, double y,
                          const std::vector<std::string>& lines, const Provenance& provenance) {
  const double room = width - 2 * kMargin;
  for (const std::string& text : lines) {
    for (const std::string& line : Wrapped(text, room, kSmallText, false)) {
      canvas.Text(kMargin, y, line, {.size = kSmallText, .color = kDim, .room = room});
      y += kSmallLine;
    }
  }
  return canvas.Take(width, y + 6, provenance);
}

std::string RunName(const RunContext& context) {
  const std::vector<std::string>& files =
      context.run_files.empty() ? context.ops_files : context.run_files;
  if (files.empty()) return "run";
  std::string name = files.front().substr(files.front().rfind('/') + 1);
  if (files.size() > 1) name += fmt::format(" (+{} more)", files.size() - 1);
  return name;
}

std::vector<std::string> SourceLines(const AccountReport& report) {
  double worst = 0;
  bool estimated = false;
  double attributed = 0;
  double total = 0;
  for (const ChannelAccount& account : report.channels) {
    worst = std::max(worst, account.ClosureError());
    estimated = estimated || account.origin == Origin::kEstimated;
    attributed += account.attributed.value;
    total += account.total.value;
  }
  std::vector<std::string> lines = {report.context.energy_source};
  lines.push_back(fmt::format(
      "{}: {} of {} went to operations; the parts {}", ToolText(report.provenance),
      FormatJoules(attributed), FormatJoules(total),
      std::isfinite(worst) ? fmt::format("sum to {}; relative error {:.0e}",
                                         estimated ? "the totals" : "what was measured", worst)
                           : "cannot be summed: a reading is too large to be a number of watts"));
  return lines;
}

}  // namespace beryl::views
