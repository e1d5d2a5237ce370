#include "sources/channel_record.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "types/counter_wrap.h"

namespace beryl::sources {
namespace {

// A counter that did not step for so many of its usual steps stands still; a gauge that said
// nothing for so many of its usual pauses is gone.
constexpr double kStepsMissed = 4;
constexpr double kShortestStallS = 0.1;
constexpr double kStallOfUnknownS = 1;
constexpr double kShortestSilenceS = 1;
// After a stall, this share of the usual power says that the counter had gone on counting.
constexpr double kWentOnCounting = 0.5;
// Beyond this share of its range, a counter may have wrapped more than once.
constexpr double kSureOfWraps = 0.75;
// Power is known well enough to judge by after this long, and steps after so many.
constexpr double kUsualS = 0.05;
constexpr uint64_t kUsualSteps = 3;
constexpr int64_t kHeartbeatNs = 1'000'000'000;
// How much longer than usual is waited for a step, and how long at the most.
constexpr double kPatience = 2;
constexpr double kLongestWaitS = 1;
// A meter that prints a line a second is heard of after two of them: the first may be cut.
constexpr double kLongestWaitForGaugeS = 2.5;

}  // namespace

ChannelRecord::ChannelRecord(PowerChannel channel, Nanos period)
    : channel_(std::move(channel)),
      period_s_(period.seconds()),
      lag_{static_cast<int64_t>(channel_.meter.lag_s * 1e9)},
      power_w_(kUnknown) {}

void ChannelRecord::Add(Nanos time, const MeterReading& reading) {
  time = time - lag_;
  if (finished_ || (started_ && time <= last_seen_)) return;
  if (reading.state == ReadState::kRetry) {
    const double silence_s =
        std::max({kShortestSilenceS, kStepsMissed * UsualSpacing(), kStepsMissed * period_s_});
    if (started_ && !gone_ && (time - last_seen_).seconds() > silence_s) Lose();
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
    AddWatts(time, static_cast<double>(reading.count) * channel_.meter.per_count);
  }
  if (!std::exchange(started_, true)) first_seen_ = time;
  ++readings_;
  gone_ = false;
  last_seen_ = time;
}

void ChannelRecord::Lose() {
  // What a gauge showed holds until it was last seen.
  if (channel_.kind == ChannelKind::kPowerGauge && begun_ && last_seen_ > last_time_) {
    Keep(last_seen_, last_watts_);
  }
  gone_ = true;
  readings_ = 0;
  power_w_ = kUnknown;
}

double ChannelRecord::UsualWatts() const {
  return known_s_ < kUsualS ? 0 : known_counts_ * channel_.meter.per_count / known_s_;
}

double ChannelRecord::UsualStep() const {
  const double promised_s = channel_.meter.update_period_us * 1e-6;
  const double seen_s =
      known_steps_ < kUsualSteps ? kUnknown : known_s_ / static_cast<double>(known_steps_);
  return std::fmax(promised_s, seen_s);  // either, if the other is unknown
}

double ChannelRecord::UsualSpacing() const {
  if (readings_ < 2) return 0;
  return (last_seen_ - spoke_from_).seconds() / static_cast<double>(readings_ - 1);
}

// The same count was seen again and again for so long.
bool ChannelRecord::StoodStill() const {
  const double step_s = UsualStep();
  const double stall_s = std::isnan(step_s) ? kStallOfUnknownS : kStepsMissed * step_s;
  return (last_seen_ - last_time_).seconds() >
         std::max({kShortestStallS, stall_s, kStepsMissed * period_s_});
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

std::optional<uint64_t> ChannelRecord::AcrossWrap(uint64_t count, double seconds) const {
  const MeterTraits& meter = channel_.meter;
  const auto range = WrapRange({static_cast<double>(last_count_), static_cast<double>(count),
                                meter.per_count, seconds, UsualWatts()},
                               static_cast<double>(meter.wrap));
  if (!range) return std::nullopt;
  return (meter.wrap > 0 ? meter.wrap : static_cast<uint64_t>(*range)) - last_count_ + count;
}

// Why the energy of a step is not known; nothing: it is.
std::optional<GapReason> ChannelRecord::WhyUnknown(uint64_t step, double seconds) const {
  const double per_count = channel_.meter.per_count;
  const double usual_j = UsualWatts() * seconds;
  const double range_j = static_cast<double>(channel_.meter.wrap) * per_count;
  if (range_j > 0 && usual_j > kSureOfWraps * range_j) {
    return GapReason::kMayHaveWrapped;
  }
  // Where a step is a single count, the time between two of them says how much is used.
  const bool too_little =
      step != 1 && static_cast<double>(step) * per_count < kWentOnCounting * usual_j;
  if (gone_ && (too_little || step == 0)) {
    return step == 0 ? GapReason::kNotRead : GapReason::kStoppedMeanwhile;
  }
  if (StoodStill() && too_little) {
    return GapReason::kCounterStoodStill;
  }
  return std::nullopt;
}

// The first step that was seen. Of a counter that rested until then all of it was used since it was
// first seen; of one that steps all the time, since the step before.
void ChannelRecord::Begin(Nanos time, uint64_t count) {
  const double step_s = channel_.meter.update_period_us * 1e-6;
  const double waited_s = (time - first_seen_).seconds();
  const bool steps = channel_.meter.moves.value_or(false) && !gone_;
  if (steps && std::isnan(step_s)) {  // when the step before was is not known
    Keep(time, 0);
    last_count_ = count;
  } else if (steps && waited_s < kPatience * step_s) {
    Keep(time - Nanos{std::llround(std::max(step_s, waited_s) * 1e9)}, 0);
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
  const double seconds = (time - last_time_).seconds();
  uint64_t step = count - last_count_;
  std::optional<GapReason> why;
  if (count < last_count_) {
    const auto across = AcrossWrap(count, seconds);
    step = across.value_or(0);
    if (across) {
      ++channel_.wraps;
    } else {
      why = GapReason::kCounterReset;
    }
  }
  if (!why) why = WhyUnknown(step, seconds);
  last_count_ = count;
  counted_ += step;
  Keep(time, static_cast<double>(counted_) * channel_.meter.per_count);
  if (why) {
    Gap(*why);
    power_w_ = kUnknown;
    return;
  }
  known_counts_ += static_cast<double>(step);
  known_s_ += seconds;
  ++known_steps_;
  power_w_ = static_cast<double>(step) * channel_.meter.per_count / seconds;
}

void ChannelRecord::AddWatts(Nanos time, double watts) {
  const bool back = begun_ && gone_;
  if (begun_ && !gone_) held_j_ += last_watts_ * (time - last_seen_).seconds();
  const bool due =
      !begun_ || watts != last_watts_ || back || (time - last_time_).value >= kHeartbeatNs;
  power_w_ = watts;
  last_watts_ = watts;
  if (!due) return;
  Keep(time, watts);
  if (back) Gap(GapReason::kNotRead);
}

bool ChannelRecord::HasReached(Nanos time, Nanos now) const {
  if (gone_) return true;
  if (channel_.kind == ChannelKind::kPowerGauge) {
    if (lag_.value > 0) return started_ && last_seen_ >= time;
    return started_ || (now - time).seconds() > kLongestWaitForGaugeS;
  }
  if (!channel_.meter.moves.value_or(false) || (begun_ && last_time_ >= time)) return true;
  const double step_s = UsualStep();
  const double wait_s = std::isnan(step_s) ? kLongestWaitS : kPatience * step_s + 2 * period_s_;
  return (now - time).seconds() > std::min(kLongestWaitS, wait_s);
}

void ChannelRecord::Finish(Nanos end) {
  if (std::exchange(finished_, true) || !started_) return;
  end = end - lag_;
  if (channel_.kind == ChannelKind::kPowerGauge) {
    if (gone_ && end > last_time_) {
      Keep(end, last_watts_);
      Gap(GapReason::kNotReadAnyMore);
    } else if (!gone_) {
      // The last reading holds for as long as readings usually do.
      const double held_s = (end - last_seen_).seconds();
      const bool holds = held_s <= kPatience * std::max(UsualSpacing(), period_s_);
      const Nanos until = holds ? std::max(end, last_seen_) : last_seen_;
      if (until > last_time_) Keep(until, last_watts_);
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

double ChannelRecord::energy_j() const {
  if (!begun_) return kUnknown;
  if (channel_.kind == ChannelKind::kPowerGauge) return held_j_;
  return static_cast<double>(counted_) * channel_.meter.per_count;
}

}  // namespace beryl::sources
