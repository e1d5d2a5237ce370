// Watching meters for a moment.
#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "sources/sources.h"

namespace beryl::sources {

// The time and a way to let it pass; tests have their own.
struct WatchClock {
  std::function<Nanos()> now;
  std::function<void(Nanos)> sleep;
  static WatchClock Steady();
};

// What a channel did while it was watched.
struct Sight {
  bool readable = false;
  size_t steps = 0;                                                    // of a counter
  double update_period_us = std::numeric_limits<double>::quiet_NaN();  // NaN: not known
  std::optional<Watts> power;
  std::optional<Watts> other_power;  // as another reading says
  Nanos watched;
};

// Whether a counter that does not move is a counter that does not work. Parts of a package may
// rest: a built-in GPU that nobody uses takes nothing.
bool MustMove(const PowerChannel& channel);

// Reads the sources of the channels that are wanted until each of those made its steps, at most for
// `patience`; a part of a package that rests is not waited for. `wanted` and the result have one
// for each of discovery.channels.
std::vector<Sight> Watch(Discovery& discovery, const std::vector<bool>& wanted, Nanos patience,
                         const WatchClock& clock);

SourceReport ProbeWith(const Machine& machine, const DiscoverOptions& options, Discovery& discovery,
                       Nanos patience, const WatchClock& clock);

}  // namespace beryl::sources
