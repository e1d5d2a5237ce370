#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "account/account.h"
#include "account/clock.h"
#include "account/power_curve.h"

namespace beryl::account {
namespace {

// Adds each operation's time to the slices it runs in.
void AddActivity(const OpTrace& ops, Nanos offset, Timeline& timeline, size_t slices) {
  for (auto& phase : timeline.activity) phase.assign(slices, 0);
  const double slice_ns =
      static_cast<double>(timeline.duration.value) / static_cast<double>(slices);
  auto position = [&](Nanos time) {
    return static_cast<double>((time + offset - timeline.start).value) / slice_ns;
  };
  auto add = [&](const Op& op) {
    auto& phase = timeline.activity[static_cast<size_t>(ops.kinds[op.kind].phase)];
    const double from = std::clamp(position(op.start), 0.0, static_cast<double>(slices));
    const double to = std::clamp(position(op.end), 0.0, static_cast<double>(slices));
    for (auto slice = static_cast<size_t>(from); slice < slices && static_cast<double>(slice) < to;
         ++slice) {
      phase[slice] +=
          std::min(to, static_cast<double>(slice + 1)) - std::max(from, static_cast<double>(slice));
    }
  };
  ops.ForEachSpan([&](std::span<const Op> some) { std::for_each(some.begin(), some.end(), add); });
  for (size_t slice = 0; slice < slices; ++slice) {
    double sum = 0;
    for (const auto& phase : timeline.activity) sum += phase[slice];
    if (sum <= 0) continue;
    for (auto& phase : timeline.activity) phase[slice] /= sum;
  }
}

Timeline::Channel Slice(const PowerChannel& channel, Policy policy, const Timeline& timeline,
                        size_t slices) {
  const PowerCurve curve = MakeCurve(channel, policy);
  Timeline::Channel result;
  result.name = channel.name;
  CurveCursor cursor(curve, timeline.start);
  size_t piece = 0;
  // Whole nanoseconds that end exactly with the timeline, without a product that could overflow.
  auto boundary = [&](size_t slice) {
    const auto [whole, rest] = std::div(timeline.duration.value, static_cast<int64_t>(slices));
    const auto at = static_cast<int64_t>(slice);
    return Nanos{timeline.start.value + whole * at + rest * at / static_cast<int64_t>(slices)};
  };
  for (size_t slice = 0; slice < slices; ++slice) {
    const Nanos from = boundary(slice);
    const Nanos to = boundary(slice + 1);
    const auto part = cursor.Advance(to);
    constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
    result.mean_w.push_back(
        part.known_ns > 0 ? part.energy_j / (static_cast<double>(part.known_ns) * 1e-9) : kUnknown);
    double low = kUnknown;
    double high = kUnknown;
    while (piece < curve.start_w.size() && curve.times[piece + 1] <= from) ++piece;
    for (size_t i = piece; i < curve.start_w.size() && curve.times[i] < to; ++i) {
      if (std::isnan(curve.start_w[i])) continue;
      const auto length = static_cast<double>((curve.times[i + 1] - curve.times[i]).value);
      for (const Nanos time : {std::max(from, curve.times[i]), std::min(to, curve.times[i + 1])}) {
        const double along = static_cast<double>((time - curve.times[i]).value) / length;
        const double power = curve.start_w[i] + (curve.end_w[i] - curve.start_w[i]) * along;
        low = std::fmin(low, power);
        high = std::fmax(high, power);
      }
    }
    result.min_w.push_back(low);
    result.max_w.push_back(high);
  }
  return result;
}

}  // namespace

Timeline MakeTimeline(const PowerTrace& power, const OpTrace& ops, const AccountOptions& options,
                      Nanos clock_offset, size_t slices) {
  Timeline timeline;
  Span span = SpanOf(power);
  const Span run = SpanOf(ops.Glance().All());
  if (!run.empty) {
    // The run with a little of what was before and after it; the rest of a long power trace is not
    // of interest.
    const Nanos margin{(run.end - run.start).value / 20};
    const Nanos start = std::max(span.start, run.start + clock_offset - margin);
    const Nanos end = std::min(span.end, run.end + clock_offset + margin);
    if (start < end) span = {start, end, false};
  }
  timeline.start = span.start;
  timeline.duration =
      Nanos{std::max<int64_t>((span.end - span.start).value, static_cast<int64_t>(slices))};
  for (const PowerChannel& channel : power.channels) {
    timeline.channels.push_back(Slice(channel, options.policy, timeline, slices));
  }
  for (RunStep step : ops.steps) {
    step.start = step.start + clock_offset;
    step.end = step.end + clock_offset;
    timeline.steps.push_back(std::move(step));
  }
  AddActivity(ops, clock_offset, timeline, slices);
  return timeline;
}

}  // namespace beryl::account
