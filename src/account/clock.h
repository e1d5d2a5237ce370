// One clock for two traces.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "account/account.h"
#include "account/span.h"
#include "base/units.h"

namespace beryl::account {

// Maps operation times onto the power trace's clock: power = power0 + (ops - ops0) * rate.
struct ClockFit {
  Nanos ops0;
  Nanos power0;
  double rate = 1;
  std::string reason;  // how it was obtained

  Nanos Map(Nanos time) const {
    if (rate == 1) return time - ops0 + power0;
    return power0 + Nanos{static_cast<int64_t>(static_cast<double>((time - ops0).value) * rate)};
  }
  Nanos offset() const { return power0 - ops0; }
};

// From the first start or reading to the last; nothing if there is none.
std::optional<Span> SpanOf(const OpGlance::Device& ops);
std::optional<Span> SpanOf(const PowerTrace& power);

// Fits the mapping that the options request. Fails if the mapped traces do not overlap; the message
// has both time ranges and the remedies.
Result<ClockFit> FitClock(std::optional<Span> ops, std::optional<Span> power, const OpTrace& trace,
                          const AccountOptions& options);

// Each machine has its own clock, fitted to its own power.
struct MachineClocks {
  std::map<std::string, ClockFit> of_machine;  // at least one
  Nanos offset;                                // of the first, at its first operation
  std::string reason;                          // of all of them

  const ClockFit& Of(const std::string& device) const;
};
Result<MachineClocks> FitClocks(const PowerTrace& power, const OpTrace& ops, const OpGlance& glance,
                                const AccountOptions& options);

}  // namespace beryl::account
