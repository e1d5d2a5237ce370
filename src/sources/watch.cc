#include <time.h>  // NOLINT(modernize-deprecated-headers): nanosleep

#include <algorithm>
#include <cmath>

#include "sources/clock_ns.h"
#include "sources/probe.h"
#include "sources/search.h"
#include "types/counter_wrap.h"

namespace beryl::sources {
namespace {

constexpr size_t kEnoughSteps = 8;
// The estimate steps slowly but surely; this is enough to show its power.
constexpr size_t kEnoughOfEstimate = 3;
constexpr size_t kMostSteps = 4096;  // remembered per counter
constexpr Nanos kBetweenReadings{100'000};
constexpr Nanos kLongEnoughForGauges{20'000'000};

// A counter's steps, or a gauge's readings, as they arrive.
class Follower {
 public:
  explicit Follower(const PowerChannel& channel)
      : is_counter_(channel.kind == ChannelKind::kEnergyCounter),
        enough_(channel.meter.origin == Origin::kEstimated ? kEnoughOfEstimate : kEnoughSteps),
        may_rest_(!MustMove(channel)),
        wrap_(channel.meter.wrap),
        per_count_(channel.meter.per_count) {}

  void Take(Nanos time, const MeterReading& reading) {
    if (reading.state != ReadState::kOk) return;
    const bool first = !readable_;
    readable_ = true;
    if (!is_counter_) {
      sum_ += static_cast<double>(reading.count);
      ++readings_;
      return;
    }
    if (!first && reading.count != last_) Step(time, reading.count);
    if (first || reading.count != last_) last_time_ = time;
    last_ = reading.count;
  }

  void TakeOther(double watts) {
    if (!std::isfinite(watts)) return;
    other_sum_ += watts;
    ++others_;
  }

  bool IsDone() const {
    return !is_counter_ || steps_.size() >= enough_ || (may_rest_ && steps_.empty());
  }

  Observation Finish(Nanos watched) const {
    Observation observation;
    observation.watched = watched;
    observation.readable = readable_;
    observation.steps = steps_.size();
    if (readings_ > 0) {
      observation.power = Watts{sum_ / static_cast<double>(readings_) * per_count_};
    }
    if (others_ > 0) observation.other_power = Watts{other_sum_ / static_cast<double>(others_)};
    if (steps_.size() < 2) return observation;
    std::vector<double> periods_us;
    periods_us.reserve(steps_.size() - 1);
    for (size_t i = 1; i < steps_.size(); ++i) {
      periods_us.push_back((steps_[i] - steps_[i - 1]).seconds() * 1e6);
    }
    const auto middle = periods_us.begin() + static_cast<std::ptrdiff_t>(periods_us.size() / 2);
    std::nth_element(periods_us.begin(), middle, periods_us.end());
    observation.update_period_us = *middle;
    const Nanos stepped = steps_.back() - steps_.front();
    if (stepped.value > 0) observation.power = Joules{sum_ * per_count_} / stepped;
    return observation;
  }

 private:
  // Energy counts from the first step: what was used before is unknown.
  void Step(Nanos time, uint64_t count) {
    if (count < last_ && !HasWrapped(time, count)) return;  // it was reset
    const uint64_t passed = count >= last_ ? count - last_ : *wrap_ - last_ + count;
    if (steps_.size() >= kMostSteps) return;
    if (!steps_.empty()) sum_ += static_cast<double>(passed);
    steps_.push_back(time);
  }

  bool HasWrapped(Nanos time, uint64_t count) const {
    const CounterFall fall{static_cast<double>(last_), static_cast<double>(count),
                           Joules{per_count_}, ToSeconds(time - last_time_), std::nullopt};
    return wrap_ && WrapRange(fall, wrap_);
  }

  bool is_counter_;
  size_t enough_;
  bool may_rest_;
  std::optional<uint64_t> wrap_;
  double per_count_;
  bool readable_ = false;
  uint64_t last_ = 0;
  Nanos last_time_;  // when that was first read
  double sum_ = 0;
  size_t readings_ = 0;
  double other_sum_ = 0;
  size_t others_ = 0;
  std::vector<Nanos> steps_;
};

}  // namespace

WatchClock WatchClock::Steady() {
  return {[] { return Nanos{ClockNs(CLOCK_MONOTONIC)}; },
          [](Nanos time) {
            const timespec span{time.value / 1'000'000'000, time.value % 1'000'000'000};
            ::nanosleep(&span, nullptr);
          }};
}

bool MustMove(const PowerChannel& channel) {
  return channel.kind == ChannelKind::kEnergyCounter && channel.scope != ChannelScope::kCore;
}

std::vector<Observation> Watch(Discovery& discovery, const std::vector<bool>& wanted,
                               Nanos patience, const WatchClock& clock) {
  struct Part {
    PowerSource* source;
    SecondOpinion* opinion;  // null: it has none
    size_t first;            // of its channels
  };
  std::vector<Part> parts;
  size_t first = 0;
  for (const auto& source : discovery.power) {
    const auto begin = wanted.begin() + static_cast<std::ptrdiff_t>(first);
    const size_t count = source->channels().size();
    if (std::find(begin, begin + static_cast<std::ptrdiff_t>(count), true) !=
        begin + static_cast<std::ptrdiff_t>(count)) {
      parts.push_back({source.get(), dynamic_cast<SecondOpinion*>(source.get()), first});
    }
    first += count;
  }
  std::vector<Follower> followers;
  followers.reserve(discovery.channels.size());
  for (const PowerChannel& channel : discovery.channels) followers.emplace_back(channel);
  std::vector<MeterReading> readings(discovery.channels.size());
  const Nanos start = clock.now();
  Nanos passed;
  for (;;) {
    for (const Part& part : parts) {
      const size_t count = part.source->channels().size();
      part.source->SetTime(clock.now().value);
      part.source->Read(std::span(readings).subspan(part.first, count));
      const Nanos time = clock.now();
      for (size_t i = 0; i < count; ++i) {
        Follower& follower = followers[part.first + i];
        follower.Take(time, readings[part.first + i]);
        if (part.opinion) follower.TakeOther(part.opinion->OtherWatts(i));
      }
    }
    passed = clock.now() - start;
    bool done = true;
    for (size_t i = 0; i < followers.size(); ++i) {
      done = done && (!wanted[i] || followers[i].IsDone());
    }
    if (passed >= patience || (done && passed >= kLongEnoughForGauges)) break;
    clock.sleep(std::min(kBetweenReadings, patience - passed));
  }
  std::vector<Observation> observations;
  observations.reserve(followers.size());
  for (const Follower& follower : followers) {
    observations.push_back(follower.Finish(std::min(passed, patience)));
  }
  return observations;
}

}  // namespace beryl::sources
