#include "cli/meter_arguments.h"

#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "cli/command_line.h"
#include "types/unknown.h"

namespace beryl::cli {
namespace {

struct TimeUnit {
  std::string_view name;
  double nanoseconds;
};
constexpr std::array<TimeUnit, 7> kTimeUnits = {
    {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"m", 60e9}, {"min", 60e9}, {"h", 3600e9}}};
constexpr double kLongest = 1e18;  // nanoseconds; 31 years

Result<sources::PowerGuess> GuessOf(const std::string& text) {
  sources::PowerGuess guess;
  if (text.empty()) return guess;
  const auto wrong = [&](std::string_view why) {
    return MisuseError(
        fmt::format("--estimate '{}': {}; expected idle=WATTS,full=WATTS, or one of "
                    "the two",
                    Printable(text), why));
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
    return wrong("an idle machine takes no more than a busy one");
  }
  return guess;
}

}  // namespace

void AddMeterOptions(Command& command, MeterArguments& arguments) {
  command
      .add_option("--meter", arguments.meters,
                  "An external meter that prints lines: PATH[,baud=N],format=FORMAT, such as "
                  "'/dev/ttyUSB0,baud=9600,format={V} {A}'; may be given several times")
      ->type_name("SPEC")
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all();
  command
      .add_option("--replay", arguments.replay,
                  "Play a power file as if its meters were read now, instead of the machine's")
      ->type_name("FILE");
  command
      .add_option("--only", arguments.only,
                  "Only these sources, such as rapl-powercap,nvml; default: all there are")
      ->type_name("SOURCE,...");
  command
      .add_option(
          "--estimate", arguments.estimate,
          "Power of all packages, idle and with all CPUs busy, for the estimate that stands "
          "in where no meter can be read")
      ->type_name("idle=W,full=W");
}

Result<sources::DiscoverOptions> DiscoverOptionsOf(const MeterArguments& arguments) {
  sources::DiscoverOptions options;
  options.meters = arguments.meters;
  options.replay = arguments.replay;
  if (!arguments.only.empty()) {
    for (const std::string_view name : Split(arguments.only, ',')) {
      options.only.emplace_back(Trim(name));
    }
  }
  auto guess = GuessOf(arguments.estimate);
  if (!guess) return guess.error();
  options.guess = *guess;
  return options;
}

Result<Nanos> ParseDuration(const std::string& option, const std::string& text) {
  const std::string_view trimmed = Trim(text);
  const size_t end = trimmed.find_last_of("0123456789.");
  const size_t unit_at = end == std::string_view::npos ? 0 : end + 1;
  const auto number = ParseNumber(trimmed.substr(0, unit_at));
  const std::string_view unit = Trim(trimmed.substr(unit_at));
  for (const TimeUnit& known : kTimeUnits) {
    if (unit != known.name || !number) continue;
    const double nanoseconds = std::round(*number * known.nanoseconds);
    if (nanoseconds >= 1 && nanoseconds <= kLongest)
      return Nanos{static_cast<int64_t>(nanoseconds)};
  }
  return MisuseError(
      fmt::format("{} '{}': expected a duration with its unit, such as 4ms, 20s or 1m", option,
                  Printable(text)));
}

}  // namespace beryl::cli
