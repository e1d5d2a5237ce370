#include "server/coarse_readings.h"

#include <algorithm>
#include <cmath>

namespace beryl::server {
namespace {

// The estimate is made of CPU times, which everybody may read.
bool IsOfProcessors(const PowerChannel& channel) {
  const ChannelScope scope = channel.scope;
  return channel.kind == ChannelKind::kEnergyCounter &&
         channel.meter.origin != Origin::kEstimated &&
         (channel.meter.source.starts_with("rapl") || scope == ChannelScope::kPackage ||
          scope == ChannelScope::kDram || scope == ChannelScope::kCore);
}

}  // namespace

CoarseReadings::CoarseReadings(const std::vector<PowerChannel>& channels, Nanos period, Joules step)
    : period_(period), step_(step), channels_(channels), divisors_(channels.size(), 1) {
  for (size_t i = 0; i < channels_.size(); ++i) {
    MeterTraits& meter = channels_[i].meter;
    if (!IsOfProcessors(channels_[i]) || !(meter.per_count > 0)) continue;
    is_needed_ = true;
    // A quotient that rounding puts above a whole number is that number.
    const double counts = std::ceil(step.value / meter.per_count * (1 - 1e-12));
    divisors_[i] = static_cast<uint64_t>(std::max(1.0, counts));
    meter.per_count *= static_cast<double>(divisors_[i]);
    if (meter.wrap) *meter.wrap /= divisors_[i];
    const double period_us = period.seconds() * 1e6;
    meter.update_period_us = std::max(period_us, meter.update_period_us.value_or(0));
  }
}

bool CoarseReadings::Take(Nanos time, std::span<const sources::MeterReading> readings) {
  if (time < next_) return false;
  // On a grid of the clock: when sessions start does not shift it.
  next_ = Nanos{(time.value / period_.value + 1) * period_.value};
  readings_.assign(readings.begin(), readings.end());
  for (size_t i = 0; i < readings_.size() && i < divisors_.size(); ++i) {
    readings_[i].count /= divisors_[i];
  }
  return true;
}

}  // namespace beryl::server
