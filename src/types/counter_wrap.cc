#include "types/counter_wrap.h"

#include <algorithm>
#include <array>

namespace beryl {
namespace {

constexpr Joules kMicrojoule{1e-6};

// A 32-bit count of microjoules, and max_energy_range_uj of RAPL zones that count in units of 15.3
// and 61 microjoules.
constexpr std::array<double, 3> kRangesUj = {4'294'967'296, 65'532'610'987, 262'143'328'850};

// How many times the usual power the step across a wrap may be: with a known range, and with a
// guessed one. With the right range the step is like the others; with a wrong one it is off by
// kilojoules.
constexpr double kSuddenlyMore = 20;
constexpr double kLikeTheOthers = 10;

// A counter that was reset, or fell by a unit, did not pass its whole range at once.
bool MayHaveWrapped(const CounterFall& fall, double range, Watts most) {
  const Joules energy = (range - fall.before + fall.after) * fall.per_count;
  return range >= fall.before && energy <= most * fall.elapsed;
}

}  // namespace

std::optional<double> WrapRange(const CounterFall& fall, std::optional<double> range) {
  const Watts usual = fall.usual_power.value_or(Watts{});
  if (range) {
    const Watts most = std::max(kMostCounterPower, kSuddenlyMore * usual);
    return MayHaveWrapped(fall, *range, most) ? range : std::nullopt;
  }
  if (fall.per_count != kMicrojoule) return std::nullopt;
  for (const double known : kRangesUj) {
    if (MayHaveWrapped(fall, known, kLikeTheOthers * usual)) return known;
  }
  return std::nullopt;
}

}  // namespace beryl
