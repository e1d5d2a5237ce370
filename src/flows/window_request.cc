#include "flows/window_request.h"

#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "flows/meter_request.h"
#include "types/library_json.h"

namespace beryl::flows {
namespace {

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// With any number of digits after the seconds.
std::optional<Nanos> ParseTime(std::string text) {
  constexpr size_t kDigits = 9;
  const size_t point = text.find('.');
  if (point != std::string::npos && text.back() == 'Z' && text.size() < point + kDigits + 2) {
    text.insert(text.size() - 1, point + kDigits + 2 - text.size(), '0');
  }
  return ParseTimeText(text);
}

Result<std::optional<RunPart::Time>> ParseEnd(std::string_view name, const std::string& given) {
  using Time = std::optional<RunPart::Time>;
  const std::string text(Trim(given));
  if (text.empty()) return Time();
  if (const auto seconds = ParseNumber(text); seconds && std::abs(*seconds) < 1e9) {
    return Time({ToNanos(Seconds{*seconds}), true});
  }
  if (text.front() == '@') {
    if (const auto time = ParseMicros(text.substr(1))) return Time({*time, false});
  } else if (const auto time = ParseTime(text)) {
    return Time({*time, false});
  } else if (IsLetter(text.back())) {
    if (const auto duration = ParseDuration(name, text)) return Time({*duration, true});
  }
  return MisuseError(
      fmt::format("'{}' is no time in a run: expected seconds since its start (2.5, or 250ms), a "
                  "time in UTC (2026-11-18T01:32:48.5Z), or @ and microseconds on the clock of the "
                  "power trace",
                  Printable(given)),
      {name});
}

Result<size_t> FindStep(const std::string& text, const OpTrace& ops) {
  for (size_t step = 0; step < ops.steps.size(); ++step) {
    if (ops.steps[step].name == text) return step;
  }
  const bool digits = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  if (digits && text.size() < 10 && std::stoul(text) < ops.steps.size()) return std::stoul(text);
  if (ops.steps.empty()) {
    return MisuseError(fmt::format("step {}: the trace has no steps", Printable(text)), {"step"});
  }
  return MisuseError(fmt::format("step {}: the trace has {} steps, 0 to {} (by name, {} to {})",
                                 Printable(text), ops.steps.size(), ops.steps.size() - 1,
                                 ops.steps.front().name, ops.steps.back().name),
                     {"step"});
}

// "2", "2-5", or the name of one, which may contain anything.
Result<std::pair<size_t, size_t>> FindSteps(const std::string& text, const OpTrace& ops) {
  const size_t dash = text.find('-');
  const auto one = FindStep(text, ops);
  if (one) return std::pair(*one, *one);
  if (dash == std::string::npos) return one.error();
  const size_t first = TRY(FindStep(text.substr(0, dash), ops));
  const size_t last = TRY(FindStep(text.substr(dash + 1), ops));
  if (first <= last) return std::pair(first, last);
  return MisuseError(fmt::format("steps {}: the last is before the first", Printable(text)),
                     {"step"});
}

}  // namespace

Result<RunPart> ParseWindow(const WindowRequest& request) {
  RunPart part;
  part.from = TRY(ParseEnd("from", request.from));
  part.to = TRY(ParseEnd(request.end, request.to));
  part.steps = request.step;
  return part;
}

Result<std::optional<TimeWindow>> FindWindow(const RunPart& part, const RunInput& run,
                                             const account::AccountOptions& options) {
  if (!part.from && !part.to && part.steps.empty()) return std::optional<TimeWindow>();
  const Recording none;
  const Recording& recording = run.recording ? *run.recording : none;
  const Nanos start = account::StartOfRun(run.power, recording);
  const auto on_clock = [&](const std::optional<RunPart::Time>& time) {
    return time ? std::optional(time->since_start ? start + time->time : time->time) : std::nullopt;
  };
  account::WindowChoice choice = {on_clock(part.from), on_clock(part.to), std::nullopt};
  if (!part.steps.empty()) choice.steps = TRY(FindSteps(part.steps, run.ops));
  return std::optional(TRY(account::FindWindow(run.power, run.ops, recording, options, choice)));
}

}  // namespace beryl::flows
