// What it means that an energy counter went down: it wrapped at the end of its range, or it was
// reset.
#pragma once

#include <optional>

#include "base/units.h"

namespace beryl {

// No counter is taken to read more than this that has not done so before.
inline constexpr Watts kMostCounterPower{1000};

// Two readings of a counter, of which the later is lower.
struct CounterFall {
  double before = 0;  // counts
  double after = 0;   // counts
  Joules per_count{1};
  Seconds elapsed;                   // from the one to the other
  std::optional<Watts> usual_power;  // as it counts otherwise; nothing: too little is known
};

// The count at which it wrapped, once; nothing: it was reset, or that cannot be told. `range` is
// what the meter says; 0: nothing. Then it is one of those that counters of microjoules have.
std::optional<double> WrapRange(const CounterFall& fall, double range);

}  // namespace beryl
