// What a channel told of a stretch of time, and what it did not.
#pragma once

#include <optional>
#include <vector>

#include "account/power_curve.h"
#include "account/shares.h"
#include "base/units.h"
#include "types/measurement.h"
#include "types/power_trace.h"

namespace beryl::account {

struct Span {
  Nanos from;
  Nanos to;
  Seconds duration() const { return ToSeconds(to - from); }
};

struct KnownPower {
  PowerCurve curve;      // without pieces if the channel told nothing
  ChannelEnergy energy;  // over the span
  Nanos step;            // how often it was to be read
  // How much of a stretch may be unknown at its ends without a word: two steps, or half a percent.
  Nanos SlackOf(Span stretch) const;
};

// `period`: of the recording; 0: not known.
KnownPower KnowPower(const PowerChannel& channel, Span span, Nanos period);

// A curve's energy over a span, by whose it was.
struct SplitSum {
  Joules energy;
  Seconds known_time;
  Joules ours;
  std::optional<Joules> recorder;  // nothing: not known of some window
  std::optional<Joules> idle;      // the same
  Joules outside;                  // before and after all windows of the shares
  Joules unknown;                  // in windows whose shares are not known
};
// With `by_window`, which has a place for each window, also adds each window's energy there.
SplitSum Split(const PowerCurve& curve, const Shares& shares, Span span,
               std::vector<double>* by_window = nullptr);

}  // namespace beryl::account
