// Power over time, one plot per device, with unknown stretches hatched, named windows below, and
// who used the energy.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "views/draw/svg_parts.h"
#include "views/measurement.h"
#include "views/text/notes.h"

namespace beryl::views {
namespace {

constexpr double kWide = 1080;  // wide, for the time axis
constexpr double kLeft = 70;
constexpr double kPlot = 130;
constexpr double kWindowRow = 18;
constexpr size_t kMostWindowRows = 6;
constexpr double kBar = 18;
constexpr double kHatch = 9;  // from one stroke to the next

// The parts of a device's energy, in the order of the bars.
struct Owner {
  const char* name;
  Color color;
  std::optional<Joules> EnergySplit::*part;
};
const std::array<Owner, 4> kOwners = {{{"ours", kAccent, &EnergySplit::ours},
                                       {"others", CategoryColor(1, 4), &EnergySplit::others},
                                       {"recorder", kWarning, &EnergySplit::recorder},
                                       {"idle", kOther, &EnergySplit::idle}}};

class MeasurementPicture {
 public:
  explicit MeasurementPicture(const Measurement& measured)
      : measured_(measured),
        x_{0, std::max(measured.duration.value, 1e-9), kLeft, kWide - kMargin},
        canvas_(fmt::format("Power over time: {}", SubjectOf(measured)), HeadlineOf(measured)) {}

  std::string Draw() {
    double y = DrawHeading(canvas_, kWide, fmt::format("Power over time: {}", SubjectOf(measured_)),
                           HeadlineOf(measured_), measured_.context.label) +
               14;
    const double top = y;
    for (const DeviceEnergy& device : measured_.devices) {
      Plot(device, y);
      y += kPlot + 24;
    }
    y = Windows(top, y - 14) + 4;
    DrawBottomAxis(canvas_, x_, {y, y - 4}, "time since the start of the recording", "s");
    y = Owners(y + 62);
    return FinishPicture(canvas_, kWide, y + 10, Footer(), measured_.provenance);
  }

 private:
  double SliceX(const DeviceEnergy& device, size_t slice) const {
    return x_(x_.high * static_cast<double>(slice) / static_cast<double>(device.slices_w.size()));
  }

  void Plot(const DeviceEnergy& device, double top) {
    const Scale y = PowerScale(device.slices_w, top + kPlot, top);
    DrawLeftAxis(canvas_, y, {x_.from, x_.to}, "power", "W");
    const std::vector<double>& watts = device.slices_w;
    for (size_t from = 0; from < watts.size();) {
      size_t to = from;
      while (to < watts.size() && !std::isnan(watts[to])) ++to;
      if (to > from) Fill(device, from, to, y);
      from = std::max(to, from + 1);
    }
    for (const MeterGap& gap : device.gaps) Hatch(device, gap, top);
    DrawPlotName(canvas_, x_.from, top, Label(device), 0.85);
  }

  static std::string Label(const DeviceEnergy& device) {
    if (!device.energy) return fmt::format("{}: energy unknown", device.device);
    std::string text = fmt::format("{}: {}, {}", device.device, FormatJoules(device.energy),
                                   FormatWatts(device.mean_power));
    if (device.origin == Origin::kEstimated) text += fmt::format(" ({})", SourceText(device));
    return text;
  }

  void Fill(const DeviceEnergy& device, size_t from, size_t to, const Scale& y) {
    const auto slice_x = [&](size_t slice) { return SliceX(device, slice); };
    canvas_.Polygon(StepArea(device.slices_w, from, to, slice_x, y),
                    {.fill = kAccent,
                     .opacity = device.origin == Origin::kEstimated ? 0.45 : 0.85,
                     .tooltip = Label(device)});
  }

  void Hatch(const DeviceEnergy& device, const MeterGap& gap, double top) {
    const double left = std::clamp(x_(gap.start.value), x_.from, x_.to);
    const double right = std::clamp(x_((gap.start + gap.duration).value), x_.from, x_.to);
    const double bottom = top + kPlot;
    canvas_.Rectangle(
        left, top, std::max(1.0, right - left), kPlot,
        {.fill = kGrid,
         .opacity = 0.6,
         .tooltip = fmt::format("{}: energy unknown for {}: {}", device.device,
                                FormatSeconds(gap.duration), GapReasonWords(gap.why))});
    // Strokes rise to the right and end at the sides.
    for (double x = left - kPlot; x < right; x += kHatch) {
      const double from = std::max(x, left);
      const double to = std::min(x + kPlot, right);
      if (to <= from) continue;
      canvas_.Line({from, bottom - (from - x)}, {to, bottom - (to - x)},
                   {.stroke = kDim, .stroke_width = 0.8, .opacity = 0.6});
    }
    if (right - left > TextWidth(GapReasonWords(gap.why), 10.5) + 16) {
      const double middle = (left + right) / 2;
      const double room = TextWidth(GapReasonWords(gap.why), 10.5) + 8;
      canvas_.Rectangle(middle - room / 2, top + kPlot / 2 - 9, room, 18,
                        {.fill = kPage, .opacity = 0.9, .radius = 3});
      canvas_.Text(middle, top + kPlot / 2 + 4, GapReasonWords(gap.why),
                   {.size = 10.5, .color = kDim, .anchor = Anchor::kMiddle});
    }
  }

  // Bars in as few rows as possible without overlaps. Returns the y below them.
  double Windows(double top, double y) {
    std::vector<double> free_from;
    for (const WindowEnergy& window : measured_.windows) {
      const double left = std::clamp(x_(window.start.value), x_.from, x_.to);
      const double right = std::clamp(x_((window.start + window.duration).value), x_.from, x_.to);
      if (right <= left) continue;
      const auto free = std::find_if(free_from.begin(), free_from.end(),
                                     [&](double from) { return from <= left + 0.01; });
      const auto row = static_cast<size_t>(free - free_from.begin());
      if (row >= kMostWindowRows) continue;
      if (free == free_from.end()) free_from.push_back(0);
      free_from[row] = right;
      const double at = y + static_cast<double>(row) * kWindowRow;
      canvas_.Rectangle(
          left, at, right - left, kWindowRow - 4,
          {.fill = window.warm_up ? kGrid : kOther,
           .radius = 2,
           .tooltip = fmt::format("{}{}: {}, {}", window.name, window.warm_up ? " (warm-up)" : "",
                                  FormatSeconds(window.duration), JoulesOrDash(window.energy))});
      canvas_.Line({left, top}, {left, at}, {.stroke = kDim, .opacity = 0.5, .dashes = "2 3"});
      if (right - left < 26) continue;
      canvas_.Text(left + 4, at + 11, window.name,
                   {.size = 10,
                    .color = window.warm_up ? kDim : TextColorOn(kOther),
                    .room = right - left - 8});
    }
    return y + static_cast<double>(free_from.size()) * kWindowRow;
  }

  double Owners(double y) {
    std::vector<const DeviceEnergy*> split;
    double most = 0;
    for (const DeviceEnergy& device : measured_.devices) {
      if (!device.split.ours) continue;
      split.push_back(&device);
      most = std::max(most, ValueOrNan(device.energy));
    }
    if (split.empty() || most <= 0) return y;
    canvas_.Text(kMargin, y, "Who used it", {.size = 12.5, .bold = true});
    std::vector<LegendEntry> legend;
    legend.reserve(std::size(kOwners));
    for (const Owner& owner : kOwners) legend.push_back({owner.color, owner.name});
    y = DrawLegend(canvas_, kMargin + 130, y - 11, kWide - kMargin, legend) + 4;
    const Scale x{0, most, kLeft, kWide - kMargin};
    for (const DeviceEnergy* device : split) {
      canvas_.Text(kLeft - 8, y + kBar - 5, device->device,
                   {.size = 11, .anchor = Anchor::kEnd, .room = kLeft - 12});
      double joules = 0;
      for (const Owner& owner : kOwners) {
        const double part = ValueOrNan(device->split.*owner.part);
        if (!(part > 0)) continue;
        const double left = x(joules);
        joules += part;
        const std::string text = fmt::format("{} ({})", FormatJoules(part),
                                             FormatPercent(part / ValueOrNan(device->energy)));
        canvas_.Rectangle(left, y, std::max(0.5, x(joules) - left), kBar,
                          {.fill = owner.color,
                           .tooltip = fmt::format("{}, {}: {}", device->device, owner.name, text)});
        if (x(joules) - left < TextWidth(text, 10.5) + 10) continue;
        canvas_.Text(left + 5, y + kBar - 5, text,
                     {.size = 10.5, .color = TextColorOn(owner.color)});
      }
      y += kBar + 6;
    }
    return y + 14;
  }

  std::vector<std::string> Footer() const {
    std::vector<std::string> lines;
    const Recording& recording = measured_.recording;
    std::string about = ToolText(measured_.provenance);
    if (recording.start.value != 0) about += "; " + FormatTime(recording.start);
    if (!recording.machine.empty()) about += "; " + recording.machine;
    if (measured_.overhead_cpu_pct) {
      about += fmt::format("; recording cost {:.2f} % of a core", *measured_.overhead_cpu_pct);
    }
    lines.push_back(std::move(about));
    for (const Note& note : measured_.notes) lines.push_back(NoteText(note));
    return lines;
  }

  const Measurement& measured_;
  Scale x_;
  SvgCanvas canvas_;
};

}  // namespace

std::string DrawMeasurement(const Measurement& measured) {
  return MeasurementPicture(measured).Draw();
}

}  // namespace beryl::views
