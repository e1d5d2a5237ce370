#include "sources/channel_record.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"

namespace beryl::sources {
namespace {

// A counter that did not step for so many of its update periods stands still.
constexpr double kStepsMissed = 20;
constexpr double kShortestStallS = 0.25;
constexpr double kStallOfUnknownS = 1;
// After a stall, this share of the usual power says that the counter had gone on counting.
constexpr double kWentOnCounting = 0.5;
// How many times the usual power a step across a wrap may be, before it is taken for a reset.
constexpr double kSuddenlyMore = 1000;
// Beyond this share of its range, a counter may have wrapped more than once.
constexpr double kSureOfWraps = 0.75;
// Power is known well enough to judge by after this long.
constexpr double kUsualS = 0.05;
constexpr int64_t kHeartbeatNs = 1'000'000'000;

double StallSeconds(const PowerChannel& channel, Nanos period) {
  const double update_s = channel.meter.update_period_us * 1e-6;
  if (std::isnan(update_s)) return std::max(kStallOfUnknownS, kStepsMissed * period.seconds());
  return std::max({kShortestStallS, kStepsMissed * update_s, kStepsMissed * period.seconds()});
}

}  // namespace

ChannelRecord::ChannelRecord(PowerChannel channel, Nanos period)
    : channel_(std::move(channel)), stall_s_(StallSeconds(channel_, period)), power_w_(kUnknown) {}

void ChannelRecord::Add(Nanos time, const MeterReading& reading) {
  if (finished_ || (started_ && time <= last_seen_)) return;
  if (reading.state == ReadState::kRetry) return;
  if (reading.state == ReadState::kGone) {
    // What a gauge showed before holds until it was last seen.
    if (!std::exchange(gone_, true) && channel_.kind == ChannelKind::kPowerGauge && started_ &&
        last_seen_ > last_time_) {
      Keep(last_seen_, last_watts_);
    }
    power_w_ = kUnknown;
    return;
  }
  if (channel_.kind == ChannelKind::kEnergyCounter) {
    AddCount(time, reading.count);
  } else {
    AddWatts(time, static_cast<double>(reading.count) * channel_.meter.per_count);
  }
  gone_ = false;
  last_seen_ = time;
}

double ChannelRecord::UsualWatts() const {
  return known_s_ < kUsualS ? 0 : known_counts_ * channel_.meter.per_count / known_s_;
}

bool ChannelRecord::StoodStill(Nanos time) const {
  return (time - last_time_).seconds() > stall_s_;
}

void ChannelRecord::Keep(Nanos time, double value) {
  channel_.times.push_back(time);
  channel_.values.push_back(value);
  last_time_ = time;
}

void ChannelRecord::Gap(std::string reason) {
  channel_.gaps.push_back(channel_.times.size() - 1);
  channel_.gap_reasons.push_back(std::move(reason));
}

void ChannelRecord::AddCount(Nanos time, uint64_t count) {
  if (!started_) {
    started_ = true;
    last_count_ = count;
    Keep(time, 0);
    return;
  }
  if (count == last_count_ && !gone_) return;
  const double seconds = (time - last_time_).seconds();
  const double usual_w = UsualWatts();
  const auto wrap = static_cast<double>(channel_.meter.wrap);
  const double per_count = channel_.meter.per_count;
  std::string reason;
  uint64_t step = count - last_count_;
  if (count < last_count_) {
    const bool can_wrap = channel_.meter.wrap >= last_count_;
    step = can_wrap ? channel_.meter.wrap - last_count_ + count : 0;
    const double watts = static_cast<double>(step) * per_count / seconds;
    if (!can_wrap || (usual_w > 0 && watts > kSuddenlyMore * usual_w)) {
      step = 0;
      reason = "the counter went down and that is no wrap: it was reset";
    } else {
      ++channel_.wraps;
    }
  }
  const double joules = static_cast<double>(step) * per_count;
  if (reason.empty() && wrap > 0 && usual_w * seconds > kSureOfWraps * wrap * per_count) {
    reason = fmt::format("no reading for {}: the counter may have wrapped more than once",
                         FormatSeconds(seconds));
  }
  if (reason.empty() && (gone_ || StoodStill(time)) &&
      joules < kWentOnCounting * usual_w * seconds) {
    reason = gone_ ? "it could not be read, and did not go on counting meanwhile"
                   : "the counter stood still, and went on from where it had stopped";
  }
  if (reason.empty() && gone_ && step == 0) reason = "it could not be read";
  last_count_ = count;
  counted_ += step;
  Keep(time, static_cast<double>(counted_) * per_count);
  if (!reason.empty()) {
    Gap(std::move(reason));
    power_w_ = kUnknown;
    return;
  }
  known_counts_ += static_cast<double>(step);
  known_s_ += seconds;
  power_w_ = joules / seconds;
}

void ChannelRecord::AddWatts(Nanos time, double watts) {
  const bool back = started_ && gone_;
  if (started_ && !gone_) held_j_ += last_watts_ * (time - last_seen_).seconds();
  const bool due =
      !started_ || watts != last_watts_ || back || (time - last_time_).value >= kHeartbeatNs;
  power_w_ = watts;
  last_watts_ = watts;
  if (!due) return;
  started_ = true;
  Keep(time, watts);
  if (back) Gap("it could not be read");
}

void ChannelRecord::Finish(Nanos end) {
  if (std::exchange(finished_, true) || !started_) return;
  const bool is_counter = channel_.kind == ChannelKind::kEnergyCounter;
  const double value =
      is_counter ? static_cast<double>(counted_) * channel_.meter.per_count : last_watts_;
  if (gone_) {
    if (end <= last_time_) return;
    Keep(end, value);
    Gap("it could not be read any more");
  } else if (is_counter && end > last_time_ && StoodStill(end)) {
    Keep(end, value);
    Gap("the counter stood still until the end");
  } else if (!is_counter && last_seen_ > last_time_) {
    Keep(last_seen_, value);
  }
}

PowerChannel ChannelRecord::Take() {
  PowerChannel taken = channel_;
  channel_.times.clear();
  channel_.values.clear();
  channel_.gaps.clear();
  channel_.gap_reasons.clear();
  channel_.wraps = 0;
  return taken;
}

double ChannelRecord::energy_j() const {
  if (!started_) return kUnknown;
  if (channel_.kind == ChannelKind::kPowerGauge) return held_j_;
  return static_cast<double>(counted_) * channel_.meter.per_count;
}

}  // namespace beryl::sources
