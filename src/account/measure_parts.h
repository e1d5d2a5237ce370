// Parts of a measurement beside its devices.
#pragma once

#include <string>
#include <vector>

#include "account/known_power.h"
#include "account/shares.h"
#include "types/measurement.h"
#include "types/power_trace.h"
#include "types/recording.h"

namespace beryl::account {

// From the start of the recording to its end; for a recorder that was killed, to its last reading;
// without a recording, from the first reading to the last.
Span SpanOf(const PowerTrace& power, const Recording& recording);

// The part of a channel's energy that may have no owner without a note.
inline constexpr double kWorthSaying = 0.001;

// A device with readings.
struct DeviceView {
  const KnownPower* known;
  const Shares* shares;  // nullptr: not split
};

// The energy of the named windows in `result.recording`, and the statistics of rounds.
void AddWindows(const std::vector<DeviceView>& devices, Span span, Measurement& result);

// Means of the resource features. Call after the windows: with rounds, the means are over those.
void AddFeatures(const std::vector<DeviceView>& devices, const FeatureTrace& features, Span span,
                 Measurement& result);

// Sums over the devices. `missing`: what none of them covers.
void AddTotal(const std::vector<std::string>& missing, Measurement& result);

}  // namespace beryl::account
