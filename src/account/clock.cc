#include "account/clock.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"

namespace beryl::account {
namespace {

// Least squares through the anchors, about their middle so that large times lose no digits.
Result<ClockFit> FitAnchors(const std::vector<ClockAnchor>& anchors) {
  ClockFit fit;
  fit.ops0 = anchors.front().local;
  fit.power0 = anchors.front().epoch;
  if (anchors.size() == 1) {
    fit.reason = "from one anchor";
    return fit;
  }
  double mean_x = 0;
  double mean_y = 0;
  const auto count = static_cast<double>(anchors.size());
  for (const ClockAnchor& anchor : anchors) {
    mean_x += static_cast<double>((anchor.local - fit.ops0).value) / count;
    mean_y += static_cast<double>((anchor.epoch - fit.power0).value) / count;
  }
  double xx = 0;
  double xy = 0;
  for (const ClockAnchor& anchor : anchors) {
    const double x = static_cast<double>((anchor.local - fit.ops0).value) - mean_x;
    const double y = static_cast<double>((anchor.epoch - fit.power0).value) - mean_y;
    xx += x * x;
    xy += x * y;
  }
  if (xx == 0 || xy <= 0) {
    return MisuseError(
        "--anchor: the anchors do not give a clock that runs forward; give at least two "
        "different moments, each as OPS_US=POWER_US");
  }
  fit.rate = xy / xx;
  fit.power0 = fit.power0 + Nanos{std::llround(mean_y - fit.rate * mean_x)};
  double worst = 0;
  for (const ClockAnchor& anchor : anchors) {
    worst = std::max(worst,
                     std::fabs(static_cast<double>((fit.Map(anchor.local) - anchor.epoch).value)));
  }
  fit.reason = fmt::format("fitted from {} anchors: drift {:+.3f} ppm, worst residual {:.3f} us",
                           anchors.size(), (fit.rate - 1) * 1e6, worst * 1e-3);
  return fit;
}

std::string SpanText(const char* what, const Span& span, std::string clock) {
  constexpr int64_t kYear2000 = 946'684'800'000'000'000;
  if (clock == "epoch" && span.start.value < kYear2000) clock = "a zero of its own";
  return fmt::format("  {:<11} {}  to  {}  ({}; counted from {})", what, FormatTime(span.start),
                     FormatTime(span.end), FormatSeconds((span.end - span.start).seconds()), clock);
}

}  // namespace

void Span::Include(Nanos from, Nanos to) {
  start = empty ? from : std::min(start, from);
  end = empty ? to : std::max(end, to);
  empty = false;
}

Span SpanOf(const OpGlance::Device& ops) {
  return ops.count == 0 ? Span() : Span{ops.start, ops.end, false};
}

Span SpanOf(const PowerTrace& power) {
  Span span;
  for (const PowerChannel& channel : power.channels) {
    span.Include(channel.times.front(), channel.times.back());
  }
  return span;
}

Result<ClockFit> FitClock(const Span& ops, const Span& power, const OpTrace& trace,
                          const AccountOptions& options) {
  ClockFit fit;
  if (options.clock_offset) {
    fit.power0 = *options.clock_offset;
    fit.reason = "as given";
  } else if (options.align_starts) {
    fit.ops0 = ops.start;
    fit.power0 = power.start;
    fit.reason = "the starts aligned";
  } else if (!options.anchors.empty()) {
    auto fitted = FitAnchors(options.anchors);
    if (!fitted) return fitted.error();
    fit = *fitted;
  } else {
    fit.reason = trace.anchors.empty()
                     ? "both traces taken as they are"
                     : "both traces count from the epoch, the operations by their base time";
  }
  if (ops.empty) return fit;
  if (power.start == power.end) {
    return InvalidError(fmt::format(
        "the power trace has readings at one moment only ({}); energy needs at least two",
        FormatTime(power.start)));
  }
  Span mapped;
  mapped.Include(fit.Map(ops.start), fit.Map(ops.end));
  if (mapped.end > power.start && mapped.start < power.end) return fit;
  const double suggestion = static_cast<double>((power.start - ops.start).value) * 1e-3;
  return InvalidError(fmt::format(
      "the operation trace and the power trace do not overlap in time:\n{}\n{}\n"
      "Ways out: --align start puts the first operation at the first reading; --clock-offset-us X "
      "adds X "
      "microseconds to operation times ({:.3f} would align the starts); --anchor OPS_US=POWER_US "
      "names one "
      "moment on both clocks",
      SpanText("operations:", mapped, fit.offset().value == 0 ? trace.clock : "the shifted clock"),
      SpanText("power:", power, "epoch"), suggestion));
}

}  // namespace beryl::account
