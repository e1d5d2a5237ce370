// Power over time, one plot per channel, filled with the colour of the layer that ran.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "views/draw/svg_parts.h"
#include "views/timeline.h"

namespace beryl::views {
namespace {

constexpr double kWide = 1080;  // wide, for the time axis
constexpr double kLeft = 70;
constexpr double kPlot = 150;
constexpr double kStrip = 9;

class TimelinePicture {
 public:
  TimelinePicture(const AccountReport& report, const Timeline& timeline)
      : report_(report),
        timeline_(timeline),
        slices_(timeline.activity.front().size()),
        x_{0, timeline.duration.seconds(), kLeft, kWide - kMargin},
        canvas_(fmt::format("{} of {}", TimelineTitle(timeline), RunName(report.context)),
                Description()) {}

  std::string Draw() {
    double y = DrawHeading(
        canvas_, kWide, fmt::format("{}: {}", TimelineTitle(timeline_), RunName(report_.context)),
        Subtitle(), report_.context.label);
    y = DrawLegend(canvas_, kMargin, y + 4, kWide - kMargin, Legend()) + 4;
    y += 16;  // names of steps
    Steps(y);
    const double top = y;
    for (const Timeline::Channel& channel : timeline_.channels) {
      Plot(channel, y);
      y += kPlot + 24;
    }
    Phases(y);
    y += kStrip + 6;
    for (const double at : marks_) {
      canvas_.Line({at, top}, {at, y}, {.stroke = kDim, .opacity = 0.7, .dashes = "2 3"});
    }
    DrawBottomAxis(canvas_, x_, {y, y - 4},
                   timeline_.averaged > 0 ? "time since the start of the step" : "time", "s");
    return FinishPicture(canvas_, kWide, y + 58, SourceLines(report_), report_.provenance);
  }

 private:
  std::string Subtitle() const {
    std::string text = "filled: mean power of a slice; band behind: lowest and highest";
    if (!timeline_.layers.empty()) {
      text += fmt::format("; colour: which layer of {} ran most", timeline_.layers_of);
    }
    return text;
  }

  std::string Description() const {
    std::string text = fmt::format("{} over {}.", TimelineTitle(timeline_),
                                   FormatSeconds(timeline_.duration.seconds()));
    for (const Timeline::Channel& channel : timeline_.channels) {
      text += fmt::format(" {} up to {}.", channel.name, FormatWatts(Highest(channel.max_w)));
    }
    return text;
  }

  std::vector<LegendEntry> Legend() const {
    std::vector<LegendEntry> entries;
    for (size_t layer = 0; layer < timeline_.layers.size(); ++layer) {
      entries.push_back({LayerColor(layer), timeline_.layers[layer]});
    }
    if (!timeline_.layers.empty()) {
      entries.push_back({kOther, "other operations"});
      entries.push_back({kGrid, "nothing ran"});
    }
    std::array<bool, kPhaseCount> occurs{};
    for (size_t phase = 0; phase < kPhaseCount; ++phase) {
      const auto& activity = timeline_.activity[phase];
      occurs[phase] = std::any_of(activity.begin(), activity.end(), [](double a) { return a > 0; });
    }
    for (const LegendEntry& phase : PhaseEntries(occurs)) {
      entries.push_back({phase.color, phase.label + " (strip)"});
    }
    return entries;
  }

  Color LayerColor(size_t layer) const { return CategoryColor(layer, timeline_.layers.size()); }

  double SliceX(size_t slice) const {
    return x_(timeline_.duration.seconds() * static_cast<double>(slice) /
              static_cast<double>(slices_));
  }

  void Steps(double y) {
    double free_from = kLeft;
    for (const RunStep& step : timeline_.steps) {
      const double at = x_((step.start - timeline_.start).seconds());
      if (at < x_.from - 0.5 || at > x_.to) continue;
      marks_.push_back(at);
      const double end = std::min(x_.to, x_((step.end - timeline_.start).seconds()));
      if (at < free_from || end - at < 24) continue;
      canvas_.Text(at + 3, y - 5, step.name, {.size = 10.5, .color = kDim, .room = end - at - 6});
      free_from = at + std::min(end - at, TextWidth(step.name, 10.5) + 8);
    }
  }

  void Plot(const Timeline::Channel& channel, double top) {
    const Scale y = PowerScale(channel.max_w, top + kPlot, top);
    DrawLeftAxis(canvas_, y, {x_.from, x_.to}, "power", "W");
    Band(channel, y);
    for (size_t from = 0; from < slices_;) {
      size_t to = from;
      const Dominant dominant = DominantLayer(channel, from);
      auto same = [&](size_t slice) {
        const Dominant other = DominantLayer(channel, slice);
        return std::isnan(channel.mean_w[slice]) == std::isnan(channel.mean_w[from]) &&
               other.what == dominant.what && other.layer == dominant.layer;
      };
      while (to < slices_ && same(to)) ++to;
      if (!std::isnan(channel.mean_w[from])) Fill(channel, from, to, dominant, y);
      from = to;
    }
    DrawPlotName(canvas_, x_.from, top, channel.name, 0.8);
  }

  void Band(const Timeline::Channel& channel, const Scale& y) {
    for (size_t from = 0; from < slices_;) {
      size_t to = from;
      std::vector<Point> upper;
      std::vector<Point> lower;
      for (; to < slices_ && !std::isnan(channel.max_w[to]); ++to) {
        for (const size_t edge : {to, to + 1}) {
          upper.push_back({SliceX(edge), y(channel.max_w[to])});
          lower.push_back({SliceX(edge), y(channel.min_w[to])});
        }
      }
      upper.insert(upper.end(), lower.rbegin(), lower.rend());
      canvas_.Polygon(upper, {.fill = kOther, .opacity = 0.55});
      from = std::max(to, from + 1);
    }
  }

  void Fill(const Timeline::Channel& channel, size_t from, size_t to, const Dominant& dominant,
            const Scale& y) {
    const bool layer = dominant.what == Running::kLayer;
    const bool plain = channel.other.empty();
    const Color color = plain                             ? kAccent
                        : layer                           ? LayerColor(dominant.layer)
                        : dominant.what == Running::kElse ? kOther
                                                          : kGrid;
    double sum = 0;
    for (size_t slice = from; slice < to; ++slice) sum += channel.mean_w[slice];
    const auto slice_x = [&](size_t slice) { return SliceX(slice); };
    const std::vector<Point> points = StepArea(channel.mean_w, from, to, slice_x, y);
    const double seconds = timeline_.duration.seconds() / static_cast<double>(slices_);
    canvas_.Polygon(points, {.fill = color,
                             .tooltip = fmt::format(
                                 "{}: {}\n{} to {}, mean {}", channel.name,
                                 layer ? timeline_.layers[dominant.layer]
                                 : dominant.what == Running::kNothing ? (plain ? "" : "nothing ran")
                                                                      : "other operations",
                                 FormatSeconds(seconds * static_cast<double>(from)),
                                 FormatSeconds(seconds * static_cast<double>(to)),
                                 FormatWatts(sum / static_cast<double>(to - from)))});
  }

  void Phases(double y) {
    for (size_t from = 0; from < slices_;) {
      const auto phase = DominantPhase(timeline_, from);
      size_t to = from;
      while (to < slices_ && DominantPhase(timeline_, to) == phase) ++to;
      if (phase) {
        canvas_.Rectangle(SliceX(from), y, SliceX(to) - SliceX(from), kStrip,
                          {.fill = PhaseColor(*phase), .tooltip = std::string(PhaseName(*phase))});
      }
      from = to;
    }
  }

  const AccountReport& report_;
  const Timeline& timeline_;
  size_t slices_;
  Scale x_;
  SvgCanvas canvas_;
  std::vector<double> marks_;
};

}  // namespace

std::string DrawTimeline(const AccountReport& report, const Timeline& timeline) {
  return TimelinePicture(report, timeline).Draw();
}

}  // namespace beryl::views
