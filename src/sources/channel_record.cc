#include "sources/channel_record.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "types/counter_wrap.h"

namespace beryl::sources {
namespace {

// A counter without a step for this many of its usual steps stands still; a gauge that is silent
// for this many of its usual pauses is gone.
constexpr double kStepsMissed = 4;
constexpr Seconds kShortestStall{0.1};
constexpr Seconds kStallOfUnknown{1};
constexpr Seconds kShortestSilence{1};
// After a stall, this share of the usual power shows that the counter kept counting.
constexpr double kWentOnCounting = 0.5;
// Beyond this share of its range, a counter may have wrapped more than once.
constexpr double kSureOfWraps = 0.75;
// Power is known well enough after this long, and steps after this many.
constexpr Seconds kUsualTime{0.05};
constexpr uint64_t kUsualSteps = 3;
constexpr int64_t kHeartbeatNs = 1'000'000'000;
// How much longer than usual to wait for a step, and the maximum.
constexpr double kPatience = 2;
constexpr Seconds kLongestWait{1};
// A meter that prints one line per second is heard after two: the first may be cut.
constexpr Seconds kLongestWaitForGauge{2.5};

}  // namespace

ChannelRecord::ChannelRecord(PowerChannel channel, Nanos period)
    : channel_(std::move(channel)), period_(ToSeconds(period)), lag_(ToNanos(channel_.meter.lag)) {}

void ChannelRecord::Add(Nanos time, const MeterReading& reading) {
  time = time - lag_;
  if (finished_ || (started_ && time <= last_seen_)) return;
  if (reading.state == ReadState::kRetry) {
    const Seconds usual = std::max(UsualSpacing().value_or(Seconds{}), period_);
    const Seconds silence = std::max(kShortestSilence, kStepsMissed * usual);
    if (started_ && !gone_ && ToSeconds(time - last_seen_) > silence) Lose();
    return;
  }
  if (reading.state == ReadState::kGone) {
    if (!gone_) Lose();
    return;
  }
  if (readings_ == 0) spoke_from_ = time;
  if (channel_.kind == ChannelKind::kEnergyCounter) {
    AddCount(time, reading.count);
  } else {
    AddPower(time, Watts{static_cast<double>(reading.count) * channel_.meter.per_count});
  }
  if (!std::exchange(started_, true)) first_seen_ = time;
  ++readings_;
  gone_ = false;
  last_seen_ = time;
}

void ChannelRecord::Lose() {
  // A gauge's value holds until it was last seen.
  if (channel_.kind == ChannelKind::kPowerGauge && begun_ && last_seen_ > last_time_) {
    Keep(last_seen_, last_power_.value);
  }
  gone_ = true;
  readings_ = 0;
  power_.reset();
}

std::optional<Watts> ChannelRecord::UsualPower() const {
  if (known_time_ < kUsualTime) return std::nullopt;
  return Joules{known_counts_ * channel_.meter.per_count} / known_time_;
}

std::optional<Seconds> ChannelRecord::PromisedStep() const {
  const std::optional<double> period_us = channel_.meter.update_period_us;
  return period_us ? std::optional(Seconds{*period_us * 1e-6}) : std::nullopt;
}

std::optional<Seconds> ChannelRecord::UsualStep() const {
  const auto promised = PromisedStep();
  if (known_steps_ < kUsualSteps) return promised;
  const Seconds seen = known_time_ / static_cast<double>(known_steps_);
  return std::max(promised.value_or(seen), seen);
}

std::optional<Seconds> ChannelRecord::UsualSpacing() const {
  if (readings_ < 2) return std::nullopt;
  return ToSeconds(last_seen_ - spoke_from_) / static_cast<double>(readings_ - 1);
}

// The same count was seen repeatedly for this long.
bool ChannelRecord::StoodStill() const {
  const std::optional<Seconds> step = UsualStep();
  const Seconds stall = step ? kStepsMissed * *step : kStallOfUnknown;
  return ToSeconds(last_seen_ - last_time_) >
         std::max({kShortestStall, stall, kStepsMissed * period_});
}

void ChannelRecord::Keep(Nanos time, double value) {
  channel_.times.push_back(time);
  channel_.values.push_back(value);
  last_time_ = time;
  begun_ = true;
}

void ChannelRecord::Gap(GapReason why) {
  channel_.gaps.push_back({channel_.times.size() - 1, why});
}

std::optional<uint64_t> ChannelRecord::AcrossWrap(uint64_t count, Seconds elapsed) const {
  const MeterTraits& meter = channel_.meter;
  const auto range = WrapRange({static_cast<double>(last_count_), static_cast<double>(count),
                                Joules{meter.per_count}, elapsed, UsualPower()},
                               meter.wrap);
  if (!range) return std::nullopt;
  return meter.wrap.value_or(static_cast<uint64_t>(*range)) - last_count_ + count;
}

// Why the energy of a step is unknown; nothing if it is known.
std::optional<GapReason> ChannelRecord::WhyUnknown(uint64_t step, Seconds elapsed) const {
  const Joules per_count{channel_.meter.per_count};
  const Joules usual = UsualPower().value_or(Watts{}) * elapsed;
  const std::optional<uint64_t> wrap = channel_.meter.wrap;
  if (wrap && usual > kSureOfWraps * (static_cast<double>(*wrap) * per_count)) {
    return GapReason::kMayHaveWrapped;
  }
  // If a step is a single count, the time between two of them tells the power.
  const bool too_little =
      step != 1 && static_cast<double>(step) * per_count < kWentOnCounting * usual;
  if (gone_ && (too_little || step == 0)) {
    return step == 0 ? GapReason::kNotRead : GapReason::kStoppedMeanwhile;
  }
  if (StoodStill() && too_little) {
    return GapReason::kCounterStoodStill;
  }
  return std::nullopt;
}

// The first observed step. If the counter was idle until then, all of it was used since the first
// reading; if it steps regularly, since the previous step.
void ChannelRecord::Begin(Nanos time, uint64_t count) {
  const auto step = PromisedStep();
  const Seconds waited = ToSeconds(time - first_seen_);
  const bool steps = channel_.meter.moves.value_or(false) && !gone_;
  // An estimate steps when it is read, so a step takes a little longer than promised.
  const bool is_estimate = channel_.meter.origin == Origin::kEstimated;
  if (is_estimate || (steps && !step)) {  // the time of the previous step is unknown
    Keep(time, 0);
    last_count_ = count;
  } else if (steps && waited < kPatience * *step) {
    Keep(time - ToNanos(std::max(*step, waited)), 0);
  } else {
    Keep(first_seen_, 0);
  }
}

void ChannelRecord::StartFrom(Nanos time) {
  if (started_ && !begun_ && time >= last_seen_) first_seen_ = time;
}

void ChannelRecord::AddCount(Nanos time, uint64_t count) {
  if (!started_) {
    last_count_ = count;
    return;
  }
  if (count == last_count_ && !gone_) return;
  if (!begun_) Begin(time, count);
  if (time <= last_time_) return;
  const Seconds elapsed = ToSeconds(time - last_time_);
  uint64_t step = count - last_count_;
  std::optional<GapReason> why;
  if (count < last_count_) {
    const auto across = AcrossWrap(count, elapsed);
    step = across.value_or(0);
    if (across) {
      ++channel_.wraps;
    } else {
      why = GapReason::kCounterReset;
    }
  }
  if (!why) why = WhyUnknown(step, elapsed);
  last_count_ = count;
  counted_ += step;
  Keep(time, static_cast<double>(counted_) * channel_.meter.per_count);
  if (why) {
    Gap(*why);
    power_.reset();
    return;
  }
  known_counts_ += static_cast<double>(step);
  known_time_ += elapsed;
  ++known_steps_;
  power_ = Joules{static_cast<double>(step) * channel_.meter.per_count} / elapsed;
}

void ChannelRecord::AddPower(Nanos time, Watts power) {
  const bool back = begun_ && gone_;
  if (begun_ && !gone_) held_ += last_power_ * (time - last_seen_);
  const bool due =
      !begun_ || power != last_power_ || back || (time - last_time_).value >= kHeartbeatNs;
  power_ = power;
  last_power_ = power;
  if (!due) return;
  Keep(time, power.value);
  if (back) Gap(GapReason::kNotRead);
}

bool ChannelRecord::HasReached(Nanos time, Nanos now) const {
  if (gone_) return true;
  if (channel_.kind == ChannelKind::kPowerGauge) {
    if (lag_.value > 0) return started_ && last_seen_ >= time;
    return started_ || ToSeconds(now - time) > kLongestWaitForGauge;
  }
  if (!channel_.meter.moves.value_or(false) || (begun_ && last_time_ >= time)) return true;
  const std::optional<Seconds> step = UsualStep();
  const Seconds wait = step ? kPatience * *step + 2 * period_ : kLongestWait;
  return ToSeconds(now - time) > std::min(kLongestWait, wait);
}

void ChannelRecord::Finish(Nanos end) {
  if (std::exchange(finished_, true) || !started_) return;
  end = end - lag_;
  if (channel_.kind == ChannelKind::kPowerGauge) {
    if (gone_ && end > last_time_) {
      Keep(end, last_power_.value);
      Gap(GapReason::kNotReadAnyMore);
    } else if (!gone_) {
      // The last reading holds for the usual time between readings.
      const Seconds usual = std::max(UsualSpacing().value_or(Seconds{}), period_);
      const bool holds = ToSeconds(end - last_seen_) <= kPatience * usual;
      const Nanos until = holds ? std::max(end, last_seen_) : last_seen_;
      if (until > last_time_) Keep(until, last_power_.value);
    }
    return;
  }
  const bool moved = begun_;
  if (!moved) Keep(first_seen_, 0);
  if (end <= last_time_) return;
  const double value = static_cast<double>(counted_) * channel_.meter.per_count;
  if (gone_) {
    Keep(end, value);
    Gap(GapReason::kNotReadAnyMore);
  } else if (known_steps_ == 0) {
    Keep(end, value);
    Gap(moved ? GapReason::kSteppedOnce : GapReason::kCounterNeverMoved);
  } else if (StoodStill()) {
    Keep(end, value);
    Gap(GapReason::kStoodStillToTheEnd);
  }
}

PowerChannel ChannelRecord::Take() {
  PowerChannel taken = channel_;
  channel_.times.clear();
  channel_.values.clear();
  channel_.gaps.clear();
  channel_.wraps = 0;
  return taken;
}

std::optional<Joules> ChannelRecord::energy() const {
  if (!begun_) return std::nullopt;
  if (channel_.kind == ChannelKind::kPowerGauge) return held_;
  return Joules{static_cast<double>(counted_) * channel_.meter.per_count};
}

}  // namespace beryl::sources
