#include "flows/meter_request.h"

#include <array>
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "types/unknown.h"

namespace beryl::flows {
namespace {

struct TimeUnit {
  std::string_view name;
  double nanoseconds;
};
constexpr std::array<TimeUnit, 7> kTimeUnits = {
    {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"m", 60e9}, {"min", 60e9}, {"h", 3600e9}}};

Result<sources::PowerGuess> GuessOf(const std::string& text) {
  sources::PowerGuess guess;
  if (text.empty()) return guess;
  const auto wrong = [&](std::string_view why) {
    return MisuseError(
        fmt::format("estimate '{}': {}; expected idle=WATTS,full=WATTS, or one of them",
                    Printable(text), why),
        {"estimate"});
  };
  for (const std::string_view part : Split(text, ',')) {
    const size_t at = part.find('=');
    const std::string_view key = Trim(part.substr(0, at));
    const double watts = at == std::string_view::npos
                             ? kUnknown
                             : ParseNumber(part.substr(at + 1)).value_or(kUnknown);
    if (key != "idle" && key != "full") return wrong("neither idle= nor full=");
    if (!(watts >= 0 && watts <= 1e6)) return wrong("not a number of watts");
    (key == "idle" ? guess.idle : guess.full) = Watts{watts};
  }
  if (guess.idle && guess.full && *guess.idle > *guess.full) {
    return wrong("idle must not exceed full");
  }
  return guess;
}

}  // namespace

Result<sources::DiscoverOptions> DiscoverOptionsOf(const MeterRequest& request) {
  sources::DiscoverOptions options;
  options.meters = request.meters;
  options.replay = request.replay;
  if (!request.only.empty()) {
    for (const std::string_view name : Split(request.only, ',')) {
      options.only.emplace_back(Trim(name));
    }
  }
  options.guess = TRY(GuessOf(request.estimate));
  return options;
}

Result<Nanos> ParseDuration(std::string_view option, const std::string& text,
                            const DurationRange& range) {
  const std::string_view trimmed = Trim(text);
  const size_t end = trimmed.find_last_of("0123456789.");
  const size_t unit_at = end == std::string_view::npos ? 0 : end + 1;
  const auto number = ParseNumber(trimmed.substr(0, unit_at));
  const std::string_view unit = Trim(trimmed.substr(unit_at));
  const DurationRange* expected = &kAnyDuration;
  for (const TimeUnit& known : kTimeUnits) {
    if (unit != known.name || !number) continue;
    const double nanoseconds = std::round(*number * known.nanoseconds);
    if (nanoseconds >= static_cast<double>(range.least.value) &&
        nanoseconds <= static_cast<double>(range.most.value)) {
      return Nanos{static_cast<int64_t>(nanoseconds)};
    }
    expected = &range;
  }
  return MisuseError(fmt::format("duration '{}': expected {}", Printable(text), expected->text),
                     {option});
}

}  // namespace beryl::flows
