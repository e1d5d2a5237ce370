#include "account/clock.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"

namespace beryl::account {
namespace {

// Least squares through the anchors, relative to their mean so that large times lose no digits.
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
        "the anchors do not define a clock that runs forward; give at least two "
        "different instants, each as OPS_US=POWER_US",
        {"anchor"});
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

// Times before are not counted from the epoch: no run is that old.
constexpr Nanos kYear2000{946'684'800'000'000'000};

std::string SpanText(const char* what, const Span& span, std::string clock) {
  if (clock == "epoch" && span.from < kYear2000) clock = "its own start";
  return fmt::format("  {:<11} {}  to  {}  ({}; counted from {})", what, FormatTime(span.from),
                     FormatTime(span.to), FormatSeconds(span.duration()), clock);
}

}  // namespace

std::optional<Span> SpanOf(const OpGlance::Device& ops) {
  return ops.count == 0 ? std::nullopt : std::optional(Span{ops.start, ops.end});
}

std::optional<Span> SpanOf(const PowerTrace& power) {
  std::optional<Span> span;
  for (const PowerChannel& channel : power.channels) {
    Include(span, channel.times.front(), channel.times.back());
  }
  return span;
}

Result<ClockFit> FitClock(std::optional<Span> ops, std::optional<Span> power, const OpTrace& trace,
                          const AccountOptions& options) {
  const Span operations = ops.value_or(Span());
  const Span readings = power.value_or(Span());
  ClockFit fit;
  const bool relative = !ops || operations.from < kYear2000 || readings.from < kYear2000;
  if (options.clock_offset) {
    fit.power0 = *options.clock_offset;
    fit.reason = "as given";
  } else if (options.align_starts) {
    fit.ops0 = operations.from;
    fit.power0 = readings.from;
    fit.reason = relative ? "the starts aligned"
                          : "the starts aligned, although both traces count from the epoch";
  } else if (!options.anchors.empty()) {
    auto fitted = TRY(FitAnchors(options.anchors));
    fit = fitted;
  } else {
    fit.reason = trace.anchors.empty()
                     ? "both traces unchanged"
                     : "both traces count from the epoch, the operations with their base time";
  }
  if (!ops) return fit;
  if (readings.from == readings.to) {
    return InvalidError(fmt::format(
        "the power trace has readings at a single instant ({}); energy needs at least two",
        FormatTime(readings.from)));
  }
  const Span mapped{fit.Map(operations.from), fit.Map(operations.to)};
  if (mapped.to > readings.from && mapped.from < readings.to) return fit;
  // Starts that are known, and apart, are of different runs; to align them would invent a match.
  const bool moved = options.clock_offset || !options.anchors.empty();
  const double suggestion = static_cast<double>((readings.from - operations.from).value) * 1e-3;
  const std::string remedy =
      relative || moved
          ? fmt::format(
                "To align them, {}give an offset in microseconds to add to operation times "
                "({:.3f} would align the starts), or name an instant on both clocks",
                relative ? "put the first operation at the first reading, " : "", suggestion)
          : "Both count from the epoch, so the power was read at another time: is it of another "
            "run? If a clock was set wrong, give an offset in microseconds to add to operation "
            "times, or name an instant on both clocks";
  std::vector<std::string_view> ways = {"clock_offset_us", "anchor"};
  if (relative) ways.insert(ways.begin(), "align");
  return InvalidError(
      fmt::format("the operation trace and the power trace do not overlap in time:\n{}\n{}\n  {}",
                  SpanText("operations:", mapped,
                           fit.offset().value == 0 ? trace.clock : "the shifted clock"),
                  SpanText("power:", readings, "epoch"), remedy),
      std::move(ways));
}

const ClockFit& MachineClocks::Of(const std::string& device) const {
  const auto own = of_machine.find(std::string(MachineOf(device)));
  return own == of_machine.end() ? of_machine.begin()->second : own->second;
}

Result<MachineClocks> FitClocks(const PowerTrace& power, const OpTrace& ops, const OpGlance& glance,
                                const AccountOptions& options) {
  MachineClocks clocks;
  std::map<std::string, PowerTrace> power_of;
  for (const PowerChannel& channel : power.channels) {
    PowerChannel ends;
    ends.times = {channel.times.front(), channel.times.back()};
    power_of[std::string(MachineOf(channel.name))].channels.push_back(std::move(ends));
  }
  for (const auto& [machine, own_power] : power_of) {
    OpGlance::Device run;
    for (size_t i = 0; i < glance.devices.size(); ++i) {
      const OpGlance::Device& device = glance.devices[i];
      if (power_of.size() == 1 || MachineOf(ops.devices[i]) == machine) {
        run.Include(device.start, device.end, device.count);
      }
    }
    auto clock = FitClock(SpanOf(run), SpanOf(own_power), ops, options);
    if (!clock && power_of.size() > 1) return ErrorOf(machine, clock.error());
    if (!clock) return clock.error();
    const bool first = clocks.of_machine.empty();
    if (first) clocks.offset = clock->Map(run.start) - run.start;
    if (first || clocks.reason != clock->reason) {
      clocks.reason += (first ? "" : "; " + machine + ": ") + clock->reason;
    }
    clocks.of_machine[machine] = std::move(*clock);
  }
  if (clocks.of_machine.empty()) {
    clocks.of_machine[""] = TRY(FitClock(SpanOf(glance.All()), std::nullopt, ops, options));
  }
  return clocks;
}

}  // namespace beryl::account
