#include "account/known_power.h"

#include <algorithm>
#include <cmath>

namespace beryl::account {
namespace {

constexpr size_t kStepsToLookAt = 1000;

// The typical time between a channel's readings.
int64_t UsualStep(const std::vector<Nanos>& times) {
  if (times.size() < 2) return 0;
  std::vector<int64_t> steps;
  const size_t stride = 1 + (times.size() - 1) / kStepsToLookAt;
  steps.reserve(times.size() / stride + 1);
  for (size_t i = 1; i < times.size(); i += stride) {
    steps.push_back((times[i] - times[i - 1]).value);
  }
  const auto middle = steps.begin() + static_cast<std::ptrdiff_t>(steps.size() / 2);
  std::nth_element(steps.begin(), middle, steps.end());
  return *middle;
}

// A period read from a file may be anything.
int64_t Plausible(double ns) { return ns > 0 && ns < 1e15 ? static_cast<int64_t>(ns) : 0; }

// The intended time between readings: without a recording, the typical one.
Nanos StepOf(const PowerChannel& channel, Nanos period) {
  const int64_t step = Plausible(static_cast<double>(period.value));
  return {step > 0 ? step : Plausible(static_cast<double>(UsualStep(channel.times)))};
}

// A counter that never moved may be broken, asleep or absent: its energy is unknown, not 0.
bool StoodStill(const PowerChannel& channel) {
  if (channel.kind != ChannelKind::kEnergyCounter || channel.values.size() < 2) return false;
  return channel.values.front() == channel.values.back();
}

class GapList {
 public:
  GapList(Span span, std::vector<MeterGap>& gaps) : span_(span), gaps_(gaps) {}

  void Add(Nanos from, Nanos to, GapReason why) {
    from = std::max(from, span_.from);
    to = std::min(to, span_.to);
    if (to <= from) return;
    const Seconds duration = ToSeconds(to - from);
    if (!gaps_.empty() && from <= last_end_ && gaps_.back().why == why) {
      gaps_.back().duration += duration;
    } else {
      gaps_.push_back({ToSeconds(from - span_.from), duration, why});
    }
    last_end_ = to;
  }

 private:
  Span span_;
  std::vector<MeterGap>& gaps_;
  Nanos last_end_;
};

void FindGaps(const PowerChannel& channel, Span span, Nanos slack, std::vector<MeterGap>& gaps) {
  GapList list(span, gaps);
  if (channel.times.size() < 2) {
    list.Add(span.from, span.to, GapReason::kMeterToldNothing);
    return;
  }
  if (StoodStill(channel)) {
    list.Add(span.from, span.to, GapReason::kCounterNeverMoved);
    return;
  }
  if (channel.times.front() - span.from > slack) {
    list.Add(span.from, channel.times.front(), GapReason::kBeforeFirstReading);
  }
  for (const PowerGap& gap : channel.gaps) {
    list.Add(channel.times[gap.reading - 1], channel.times[gap.reading], gap.why);
  }
  if (span.to - channel.times.back() > slack) {
    list.Add(channel.times.back(), span.to, GapReason::kAfterLastReading);
  }
}

bool HasMoved(const PowerChannel& channel) {
  if (channel.kind != ChannelKind::kEnergyCounter) return false;
  size_t gap = 0;
  for (size_t i = 1; i < channel.values.size(); ++i) {
    const bool known = gap == channel.gaps.size() || channel.gaps[gap].reading != i;
    if (known && channel.values[i] > channel.values[i - 1]) return true;
    if (!known) ++gap;
  }
  return false;
}

}  // namespace

Nanos KnownPower::SlackOf(Span stretch) const {
  return std::max(Nanos{2 * step.value}, Nanos{(stretch.to - stretch.from).value / 200});
}

KnownPower KnowPower(const PowerChannel& channel, Span span, Nanos period) {
  KnownPower known;
  ChannelEnergy& energy = known.energy;
  energy.name = channel.name;
  energy.scope = channel.scope;
  energy.kind = channel.kind;
  energy.meter = channel.meter;
  energy.readings = channel.times.size();
  energy.wraps = channel.wraps;
  // It may have been asleep when it was probed before the recording.
  if (HasMoved(channel)) energy.meter.moves = true;
  known.step = StepOf(channel, period);
  FindGaps(channel, span, known.SlackOf(span), energy.gaps);
  if (channel.times.size() < 2 || StoodStill(channel)) return known;
  known.curve = MakeCurve(channel, Policy::kAuto);
  CurveCursor cursor(known.curve, span.from);
  const CurveCursor::Slice slice = cursor.Advance(span.to);
  energy.known_time = ToSeconds(Nanos{slice.known_ns});
  if (slice.known_ns > 0) energy.energy = IfKnown<Joules>(slice.energy.value);
  return known;
}

KnownChannels KnowChannels(const PowerTrace& power, Span span, Nanos period) {
  KnownChannels all;
  std::vector<bool> has_energy;
  all.known.reserve(power.channels.size());
  has_energy.reserve(power.channels.size());
  for (const PowerChannel& channel : power.channels) {
    all.known.push_back(KnowPower(channel, span, period));
    has_energy.push_back(all.known.back().energy.energy.has_value());
  }
  all.containment = Containment(power.channels, has_energy);
  all.plan = PlanDevices(power.channels, has_energy, all.containment);
  return all;
}

SplitSum Split(const PowerCurve& curve, const Shares& shares, Span span,
               std::vector<double>* by_window) {
  SplitSum sum;
  sum.recorder = sum.idle = Joules{};
  if (curve.empty() || span.to <= span.from) return sum;
  // NaN if one of the windows is NaN: the shares are columns.
  double recorder = 0;
  double idle = 0;
  CurveCursor cursor(curve, span.from);
  Nanos now = span.from;
  int64_t known_ns = 0;
  auto advance = [&](Nanos to) {
    to = std::clamp(to, now, span.to);
    const CurveCursor::Slice slice = cursor.Advance(to);
    now = to;
    known_ns += slice.known_ns;
    sum.energy += slice.energy;
    return slice.energy;
  };
  if (!shares.edges.empty()) {
    sum.outside += advance(shares.edges.front());
    const auto after = std::upper_bound(shares.edges.begin(), shares.edges.end(), span.from);
    auto window = static_cast<size_t>(after - shares.edges.begin());
    window -= window > 0 ? 1 : 0;
    for (; window < shares.ours.size() && now < span.to; ++window) {
      const Joules energy = advance(shares.edges[window + 1]);
      if (by_window != nullptr) (*by_window)[window] += energy.value;
      if (std::isnan(shares.ours[window])) {
        sum.unknown += energy;
        continue;
      }
      sum.ours += energy * shares.ours[window];
      recorder += energy.value * shares.recorder[window];
      idle += energy.value * shares.idle[window];
    }
  }
  sum.outside += advance(span.to);
  sum.known_time = ToSeconds(Nanos{known_ns});
  sum.recorder = IfKnown<Joules>(recorder);
  sum.idle = IfKnown<Joules>(idle);
  return sum;
}

}  // namespace beryl::account
