// Parts of a measurement that stand beside its devices.
#pragma once

#include <string>
#include <vector>

#include "account/known_power.h"
#include "account/shares.h"
#include "types/measurement.h"
#include "types/power_trace.h"
#include "types/recording.h"

namespace beryl::account {

// From the start of the recording to its end; of a recorder that was killed, to the last thing it
// read; without a recording, from the first reading to the last.
Span SpanOf(const PowerTrace& power, const Recording& recording);

// Less than this part of a channel's energy may be nobody's without a word.
inline constexpr double kWorthSaying = 0.001;

// A device that told something.
struct DeviceView {
  const KnownPower* known;
  const Shares* shares;  // nullptr: not told apart
};

// The energy of named windows and what rounds come to.
void AddWindows(const std::vector<DeviceView>& devices, const Recording& recording, Span span,
                Measurement& result);

// Means of the resource features; after the windows, because with rounds they are of those.
void AddFeatures(const std::vector<DeviceView>& devices, const Recording& recording, Span span,
                 Measurement& result);

// Sums of the devices. `missing`: what is in none of them.
void AddTotal(const std::vector<std::string>& missing, Measurement& result);

}  // namespace beryl::account
