// A stretch of time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

#include "base/units.h"

namespace beryl::account {

struct Span {
  Nanos from;
  Nanos to;
  Seconds duration() const { return ToSeconds(to - from); }
};

// All times.
inline constexpr Span kAlways{Nanos{std::numeric_limits<int64_t>::min()},
                              Nanos{std::numeric_limits<int64_t>::max()}};

// Extends a span, which may be none, to include another stretch.
inline void Include(std::optional<Span>& span, Nanos from, Nanos to) {
  if (!span) span = Span{from, to};
  span->from = std::min(span->from, from);
  span->to = std::max(span->to, to);
}

}  // namespace beryl::account
