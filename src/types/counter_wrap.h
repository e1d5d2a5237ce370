// Decides why an energy counter went down: it wrapped at the end of its range, or it was reset.
#pragma once

#include <optional>

#include "base/units.h"

namespace beryl {

// The highest power accepted from a counter that has not shown more before.
inline constexpr Watts kMostCounterPower{1000};

// Two readings of a counter; the later one is lower.
struct CounterFall {
  double before = 0;  // counts
  double after = 0;   // counts
  Joules per_count{1};
  Seconds elapsed;                   // between the two
  std::optional<Watts> usual_power;  // of this counter otherwise; nothing: too little is known
};

// The count at which the counter wrapped, once; nothing if it was reset or that cannot be
// determined. `range` is the meter's own statement; without one, the usual ranges of microjoule
// counters are tried.
std::optional<double> WrapRange(const CounterFall& fall, std::optional<double> range);

}  // namespace beryl
