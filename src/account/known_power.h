// What is known of a channel's power over a stretch of time, and what is not.
#pragma once

#include <optional>
#include <vector>

#include "account/devices.h"
#include "account/power_curve.h"
#include "account/shares.h"
#include "account/span.h"
#include "base/units.h"
#include "types/containment.h"
#include "types/measurement.h"
#include "types/power_trace.h"

namespace beryl::account {

struct KnownPower {
  PowerCurve curve;      // without pieces if nothing is known
  ChannelEnergy energy;  // over the span
  Nanos step;            // intended time between readings
  // How much may be unknown at the ends without a note: two steps, or half a percent.
  Nanos SlackOf(Span stretch) const;
};

// `period` is that of the recording; 0: unknown.
KnownPower KnowPower(const PowerChannel& channel, Span span, Nanos period);

// The same for every channel; which of those with known energy contain which, and which of them are
// devices.
struct KnownChannels {
  std::vector<KnownPower> known;
  Containment containment;
  DevicePlan plan;
};
KnownChannels KnowChannels(const PowerTrace& power, Span span, Nanos period);

// A curve's energy over a span, split by owner.
struct SplitSum {
  Joules energy;
  Seconds known_time;
  Joules ours;
  std::optional<Joules> recorder;  // nothing: unknown in some window
  std::optional<Joules> idle;      // the same
  Joules outside;                  // before and after all windows of the shares
  Joules unknown;                  // in windows whose shares are unknown
};
// With `by_window`, also adds each window's energy to its element.
SplitSum Split(const PowerCurve& curve, const Shares& shares, Span span,
               std::vector<double>* by_window = nullptr);

}  // namespace beryl::account
