// Watching meters for a moment.
#pragma once

#include <functional>
#include <limits>
#include <vector>

#include "sources/sources.h"

namespace beryl::sources {

// The time and a way to let it pass; tests have their own.
struct WatchClock {
  std::function<Nanos()> now;
  std::function<void(Nanos)> sleep;
  static WatchClock Steady();
};

// What a channel did while it was watched. NaN: not known.
struct Sight {
  bool readable = false;
  size_t steps = 0;  // of a counter
  double update_period_us = std::numeric_limits<double>::quiet_NaN();
  double watts = std::numeric_limits<double>::quiet_NaN();
  double other_watts = std::numeric_limits<double>::quiet_NaN();  // as another reading says
};

// Reads all channels until each counter made its steps, at most for `patience`. One for each of
// discovery.channels.
std::vector<Sight> Watch(Discovery& discovery, Nanos patience, const WatchClock& clock);

SourceReport ProbeWith(const Machine& machine, const DiscoverOptions& options, Discovery& discovery,
                       Nanos patience, const WatchClock& clock);

}  // namespace beryl::sources
