#include "types/counter_wrap.h"

#include <algorithm>
#include <array>

namespace beryl {
namespace {

constexpr double kMicrojoule = 1e-6;

// A 32-bit count of microjoules, and max_energy_range_uj of RAPL zones that count in 15.3 and in 61
// microjoules.
constexpr std::array<double, 3> kRangesUj = {4'294'967'296, 65'532'610'987, 262'143'328'850};

// How many times the usual power the step across a wrap may be: where the range is known, and where
// it is a guess. Right after the right one the step is like the others; a wrong one is off by
// kilojoules.
constexpr double kSuddenlyMore = 20;
constexpr double kLikeTheOthers = 10;

// A counter that was reset, or that stumbled by a unit, did not pass its whole range at once.
bool MayHaveWrapped(const CounterFall& fall, double range, double most_w) {
  const double joules = (range - fall.before + fall.after) * fall.joules_per_count;
  return range >= fall.before && joules <= most_w * fall.seconds;
}

}  // namespace

std::optional<double> WrapRange(const CounterFall& fall, double range) {
  if (range > 0) {
    const double most_w = std::max(kMostCounterWatts, kSuddenlyMore * fall.usual_w);
    return MayHaveWrapped(fall, range, most_w) ? std::optional(range) : std::nullopt;
  }
  if (fall.joules_per_count != kMicrojoule) return std::nullopt;
  for (const double known : kRangesUj) {
    if (MayHaveWrapped(fall, known, kLikeTheOthers * fall.usual_w)) return known;
  }
  return std::nullopt;
}

}  // namespace beryl
