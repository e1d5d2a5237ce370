#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <unordered_map>

#include "account/account.h"
#include "account/clock.h"
#include "account/power_curve.h"

namespace beryl::account {
namespace {

// A stretch of time on the power trace's clock, mapped onto the timeline from its start.
struct Window {
  Nanos start;
  Nanos end;
};

// Calls visit(op, from, to) for each stretch of time in which an operation is the innermost of its
// lane, or has no lane.
template <typename Visit>
class SelfTimes {
 public:
  explicit SelfTimes(Visit& visit) : visit_(visit) {}

  // In order of start, callers before callees.
  void Add(const Op& op) {
    if (op.lane == kNoLane) {
      visit_(op, op.start, op.end);
      return;
    }
    std::vector<Open>& stack = lanes_[op.lane];
    while (!stack.empty() && stack.back().op.end <= op.start) Close(stack);
    if (!stack.empty()) {
      Emit(stack.back(), op.start);
      stack.back().from = op.start;
    }
    stack.push_back({op, op.start});
  }

  void Finish() {
    for (auto& [lane, stack] : lanes_) {
      while (!stack.empty()) Close(stack);
    }
  }

 private:
  struct Open {
    Op op;
    Nanos from;  // up to here its time is accounted for
  };

  void Emit(const Open& open, Nanos until) {
    const Nanos to = std::min(until, open.op.end);
    if (open.from < to) visit_(open.op, open.from, to);
  }
  void Close(std::vector<Open>& stack) {
    Emit(stack.back(), stack.back().op.end);
    const Nanos end = stack.back().op.end;
    stack.pop_back();
    if (!stack.empty()) stack.back().from = std::max(stack.back().from, end);
  }

  Visit& visit_;
  std::unordered_map<uint32_t, std::vector<Open>> lanes_;
};

template <typename Visit>
void ForEachSelfTime(const OpTrace& ops, Visit&& visit) {
  SelfTimes<Visit> times(visit);
  auto earlier = [](const Op& a, const Op& b) { return a.start < b.start; };
  ops.ForEachSpan([&](std::span<const Op> some) {
    if (std::is_sorted(some.begin(), some.end(), earlier)) {
      for (const Op& op : some) times.Add(op);
      return;
    }
    std::vector<Op> sorted(some.begin(), some.end());
    std::stable_sort(sorted.begin(), sorted.end(), earlier);
    for (const Op& op : sorted) times.Add(op);
  });
  times.Finish();
}

// Draws one timeline over one or several windows.
class Drawer {
 public:
  Drawer(const PowerTrace& power, const OpTrace& ops, const AccountOptions& options,
         Nanos clock_offset, size_t slices)
      : power_(power), ops_(ops), options_(options), offset_(clock_offset), slices_(slices) {}

  // `windows` are sorted, do not overlap and are at most as long as the timeline.
  void Draw(const std::vector<Window>& windows, Timeline& timeline) const {
    for (const PowerChannel& channel : power_.channels) {
      timeline.channels.push_back(Power(channel, windows, timeline));
    }
    for (RunStep step : ops_.steps) {
      step.start = step.start + offset_;
      step.end = step.end + offset_;
      timeline.steps.push_back(std::move(step));
    }
    for (auto& phase : timeline.activity) phase.assign(slices_, 0);
    ForEachSelfTime(ops_, [&](const Op& op, Nanos from, Nanos to) {
      auto& phase = timeline.activity[static_cast<size_t>(ops_.kinds[op.kind].phase)];
      AddToSlices(windows, timeline, from + offset_, to + offset_,
                  [&](size_t slice, double part) { phase[slice] += part; });
    });
    for (size_t slice = 0; slice < slices_; ++slice) {
      double sum = 0;
      for (const auto& phase : timeline.activity) sum += phase[slice];
      if (sum <= 0) continue;
      for (auto& phase : timeline.activity) phase[slice] /= sum;
    }
  }

  void DrawLayers(const std::vector<Window>& windows, const Footprint& footprint,
                  const LayerGroups& layers, Timeline& timeline) const {
    timeline.layers_of = layers.of;
    timeline.layers = layers.names;
    std::vector<std::vector<Timeline::Channel*>> fed_by(ops_.devices.size());
    for (size_t i = 0; i < timeline.channels.size(); ++i) {
      Timeline::Channel& channel = timeline.channels[i];
      channel.layers.assign(layers.names.size(), std::vector<double>(slices_, 0));
      channel.other.assign(slices_, 0);
      const auto& fed = footprint.channels[i].fed_devices;
      for (size_t device = 0; device < fed_by.size(); ++device) {
        // The plug feeds nothing, but its power rises with whatever runs.
        if (fed.empty() || std::find(fed.begin(), fed.end(), device) != fed.end()) {
          fed_by[device].push_back(&channel);
        }
      }
    }
    ForEachSelfTime(ops_, [&](const Op& op, Nanos from, Nanos to) {
      const uint32_t layer = layers.layer_of_kind[op.kind];
      for (Timeline::Channel* channel : fed_by[op.device]) {
        auto& sums = layer == kNoLayer ? channel->other : channel->layers[layer];
        AddToSlices(windows, timeline, from + offset_, to + offset_,
                    [&](size_t slice, double part) { sums[slice] += part; });
      }
    });
    for (Timeline::Channel& channel : timeline.channels) {
      for (size_t slice = 0; slice < slices_; ++slice) {
        double sum = channel.other[slice];
        for (const auto& layer : channel.layers) sum += layer[slice];
        if (sum <= 0) continue;
        channel.other[slice] /= sum;
        for (auto& layer : channel.layers) layer[slice] /= sum;
      }
    }
  }

 private:
  // Whole nanoseconds since a window's start, without a product that could overflow.
  Nanos Boundary(const Timeline& timeline, size_t slice) const {
    const auto count = static_cast<int64_t>(slices_);
    const auto [whole, rest] = std::div(timeline.duration.value, count);
    const auto at = static_cast<int64_t>(slice);
    return Nanos{whole * at + rest * at / count};
  }

  // Calls add(slice, covered part) for each slice that [from, to) covers.
  template <typename Add>
  void AddToSlices(const std::vector<Window>& windows, const Timeline& timeline, Nanos from,
                   Nanos to, Add&& add) const {
    const double slice_ns =
        static_cast<double>(timeline.duration.value) / static_cast<double>(slices_);
    auto window = std::upper_bound(windows.begin(), windows.end(), from,
                                   [](Nanos time, const Window& w) { return time < w.end; });
    for (; window != windows.end() && window->start < to; ++window) {
      auto position = [&](Nanos time) {
        const Nanos inside = std::clamp(time, window->start, window->end);
        return static_cast<double>((inside - window->start).value) / slice_ns;
      };
      const double first = position(from);
      const double last = position(to);
      for (auto slice = static_cast<size_t>(first);
           slice < slices_ && static_cast<double>(slice) < last; ++slice) {
        add(slice, std::min(last, static_cast<double>(slice + 1)) -
                       std::max(first, static_cast<double>(slice)));
      }
    }
  }

  Timeline::Channel Power(const PowerChannel& channel, const std::vector<Window>& windows,
                          const Timeline& timeline) const {
    constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
    const PowerCurve curve = MakeCurve(channel, options_.policy);
    Timeline::Channel result;
    result.name = channel.name;
    result.origin = channel.meter.origin;
    result.min_w.assign(slices_, kUnknown);
    result.max_w.assign(slices_, kUnknown);
    std::vector<double> joules(slices_, 0);
    std::vector<double> known_ns(slices_, 0);
    for (const Window& window : windows) {
      CurveCursor cursor(curve, window.start);
      size_t piece = static_cast<size_t>(
          std::upper_bound(curve.times.begin(), curve.times.end(), window.start) -
          curve.times.begin());
      piece = piece > 0 ? piece - 1 : 0;
      for (size_t slice = 0; slice < slices_; ++slice) {
        const Nanos from = window.start + Boundary(timeline, slice);
        if (from >= window.end) break;
        const Nanos to = std::min(window.end, window.start + Boundary(timeline, slice + 1));
        const auto part = cursor.Advance(to);
        joules[slice] += part.energy.value;
        known_ns[slice] += static_cast<double>(part.known_ns);
        while (piece < curve.start_w.size() && curve.times[piece + 1] <= from) ++piece;
        for (size_t i = piece; i < curve.start_w.size() && curve.times[i] < to; ++i) {
          if (std::isnan(curve.start_w[i])) continue;
          const auto length = static_cast<double>((curve.times[i + 1] - curve.times[i]).value);
          for (const Nanos time :
               {std::max(from, curve.times[i]), std::min(to, curve.times[i + 1])}) {
            const double along = static_cast<double>((time - curve.times[i]).value) / length;
            const double watts = curve.start_w[i] + (curve.end_w[i] - curve.start_w[i]) * along;
            result.min_w[slice] = std::fmin(result.min_w[slice], watts);
            result.max_w[slice] = std::fmax(result.max_w[slice], watts);
          }
        }
      }
    }
    for (size_t slice = 0; slice < slices_; ++slice) {
      result.mean_w.push_back(known_ns[slice] > 0 ? joules[slice] / (known_ns[slice] * 1e-9)
                                                  : kUnknown);
    }
    return result;
  }

  const PowerTrace& power_;
  const OpTrace& ops_;
  const AccountOptions& options_;
  Nanos offset_;
  size_t slices_;
};

// What was asked for, or the run with a margin before and after it; the rest of a long power trace
// is not of interest.
Window WindowOf(const PowerTrace& power, const OpTrace& ops, const AccountOptions& options,
                Nanos clock_offset) {
  if (options.window) return {options.window->from, options.window->to};
  Span span = SpanOf(power).value_or(Span());
  if (const auto run = SpanOf(ops.Glance().All())) {
    const Nanos margin{(run->to - run->from).value / 20};
    const Nanos start = std::max(span.from, run->from + clock_offset - margin);
    const Nanos end = std::min(span.to, run->to + clock_offset + margin);
    if (start < end) span = {start, end};
  }
  return {span.from, span.to};
}

// The steps that lie in a window wholly, as windows in order. If they overlap, as steps of several
// ranks may, the later begins where the earlier ends.
std::vector<Window> StepWindows(const OpTrace& ops, Nanos clock_offset,
                                const std::optional<TimeWindow>& within) {
  std::vector<Window> windows;
  for (const RunStep& step : ops.steps) {
    const Window window = {step.start + clock_offset, step.end + clock_offset};
    if (within && (window.start < within->from || window.end > within->to)) continue;
    windows.push_back(window);
  }
  std::sort(windows.begin(), windows.end(),
            [](const Window& a, const Window& b) { return a.start < b.start; });
  for (size_t i = 1; i < windows.size(); ++i) {
    windows[i].start = std::max(windows[i].start, windows[i - 1].end);
  }
  std::erase_if(windows, [](const Window& window) { return window.end <= window.start; });
  return windows;
}

}  // namespace

Timeline MakeTimeline(const PowerTrace& power, const OpTrace& ops, const AccountOptions& options,
                      Nanos clock_offset, size_t slices) {
  const Window window = WindowOf(power, ops, options, clock_offset);
  Timeline timeline;
  timeline.start = window.start;
  timeline.duration =
      Nanos{std::max<int64_t>((window.end - window.start).value, static_cast<int64_t>(slices))};
  Drawer(power, ops, options, clock_offset, slices)
      .Draw({{window.start, window.start + timeline.duration}}, timeline);
  return timeline;
}

Timeline MakeTimeline(const PowerTrace& power, const OpTrace& ops, const AccountOptions& options,
                      const Footprint& footprint, const TimelineOptions& wanted) {
  const Nanos offset = footprint.clock_offset;
  std::vector<Window> windows = {WindowOf(power, ops, options, offset)};
  Timeline timeline;
  if (wanted.mean) {
    auto steps = StepWindows(ops, offset, options.window);
    if (!steps.empty()) windows = std::move(steps);
    timeline.averaged = windows.size();
  }
  timeline.start = windows.front().start;
  auto longest = static_cast<int64_t>(wanted.slices);
  for (const Window& window : windows) {
    longest = std::max(longest, (window.end - window.start).value);
  }
  timeline.duration = Nanos{longest};
  if (windows.size() == 1) windows[0].end = windows[0].start + timeline.duration;
  const Drawer drawer(power, ops, options, offset, wanted.slices);
  drawer.Draw(windows, timeline);
  if (!wanted.layers.names.empty()) drawer.DrawLayers(windows, footprint, wanted.layers, timeline);
  if (wanted.mean) timeline.steps.clear();
  return timeline;
}

}  // namespace beryl::account
