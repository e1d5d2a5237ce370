// Watches meters for a moment.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "sources/discover.h"

namespace beryl::sources {

// A clock and a way to wait; tests have their own.
struct WatchClock {
  std::function<Nanos()> now;
  std::function<void(Nanos)> sleep;
  static WatchClock Steady();
};

// What a channel did while it was watched.
struct Observation {
  bool readable = false;
  size_t steps = 0;  // for a counter
  std::optional<double> update_period_us;
  std::optional<Watts> power;
  std::optional<Watts> other_power;  // according to a second reading
  Nanos watched;
};

// Whether a counter that does not move is broken. Parts of a package may be idle: an unused
// built-in GPU draws nothing.
bool MustMove(const PowerChannel& channel);

// Reads the sources of the wanted channels until each made its steps, for at most `patience`; does
// not wait for idle parts of a package. `wanted` and the result have one element per element of
// discovery.channels.
std::vector<Observation> Watch(Discovery& discovery, const std::vector<bool>& wanted,
                               Nanos patience, const WatchClock& clock);

SourceReport ProbeWith(const Machine& machine, const DiscoverOptions& options, Discovery& discovery,
                       Nanos patience, const WatchClock& clock);

}  // namespace beryl::sources
