// One clock for two traces.
#pragma once

#include <string>

#include "account/account.h"
#include "base/units.h"

namespace beryl::account {

// Maps operation times onto the power trace's clock: power = power0 + (ops - ops0) * rate.
struct ClockFit {
  Nanos ops0;
  Nanos power0;
  double rate = 1;
  std::string reason;  // how it was come by

  Nanos Map(Nanos time) const {
    if (rate == 1) return time - ops0 + power0;
    return power0 + Nanos{static_cast<int64_t>(static_cast<double>((time - ops0).value) * rate)};
  }
  Nanos offset() const { return power0 - ops0; }
};

struct Span {
  Nanos start;
  Nanos end;
  bool empty = true;

  void Include(Nanos from, Nanos to);
};
Span SpanOf(const OpGlance::Device& ops);
Span SpanOf(const PowerTrace& power);

// Chooses and fits the mapping the options ask for; fails when the spans do not meet then, with
// both spans and the ways out.
Result<ClockFit> FitClock(const Span& ops, const Span& power, const OpTrace& trace,
                          const AccountOptions& options);

}  // namespace beryl::account
