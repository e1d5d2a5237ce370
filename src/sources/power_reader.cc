#include "sources/power_reader.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sources/clock_ns.h"
#include "types/counter_wrap.h"

namespace beryl::sources {
namespace {

// The share of a core for reading a source; slower sources are read less often.
constexpr double kCoreShare = 0.0125;
constexpr uint32_t kReadsToJudge = 16;
constexpr uint32_t kSparsestReading = 256;
constexpr int64_t kShortestForWrapsNs = 20'000'000;

}  // namespace

Nanos LongestPeriod(const std::vector<PowerChannel>& channels) {
  double longest = 1e18;
  for (const PowerChannel& channel : channels) {
    if (channel.kind != ChannelKind::kEnergyCounter || !channel.meter.wrap) continue;
    const Joules range{static_cast<double>(*channel.meter.wrap) * channel.meter.per_count};
    longest = std::min(longest, (range / (2 * kMostCounterPower)).value * 1e9);
  }
  return Nanos{std::max(kShortestForWrapsNs, static_cast<int64_t>(longest))};
}

PowerReader::PowerReader(Discovery& discovery)
    : discovery_(discovery), readings_(discovery.channels.size()) {
  size_t first = 0;
  for (const auto& source : discovery.power) {
    plans_.push_back({first, source->channels().size()});
    first += source->channels().size();
  }
}

std::span<const MeterReading> PowerReader::ReadTick(Nanos period, int64_t now_ns) {
  const std::span<const MeterReading> readings = Read(period, now_ns, false);
  ++tick_;
  return readings;
}

std::span<const MeterReading> PowerReader::Read(Nanos period, int64_t now_ns, bool all) {
  for (size_t i = 0; i < plans_.size(); ++i) {
    Plan& plan = plans_[i];
    const std::span<MeterReading> out =
        std::span(readings_).subspan(plan.first_channel, plan.channels);
    if (!all && tick_ % plan.every != 0) {
      for (MeterReading& reading : out) reading.state = ReadState::kRetry;
      continue;
    }
    const int64_t before = ClockNs(CLOCK_MONOTONIC);
    discovery_.power[i]->SetTime(now_ns);
    discovery_.power[i]->Read(out);
    // The minimum of several is the cost; the rest is the machine being busy.
    plan.least_cost_ns = std::min(plan.least_cost_ns, ClockNs(CLOCK_MONOTONIC) - before);
    if (++plan.reads % kReadsToJudge != 0) continue;
    const double allowed = static_cast<double>(period.value) * kCoreShare;
    plan.every = std::clamp(
        static_cast<uint32_t>(std::ceil(static_cast<double>(plan.least_cost_ns) / allowed)), 1U,
        kSparsestReading);
    plan.known_cost_ns = std::exchange(plan.least_cost_ns, INT64_MAX);
  }
  return readings_;
}

std::vector<Note> PowerReader::notes(Nanos period) const {
  std::vector<Note> notes;
  for (const Plan& plan : plans_) {
    if (plan.every <= 1) continue;
    notes.push_back({NoteKind::kReadLessOften,
                     discovery_.channels[plan.first_channel].meter.source,
                     {period.seconds() * plan.every, period.seconds(),
                      static_cast<double>(plan.known_cost_ns) * 1e-9}});
  }
  return notes;
}

}  // namespace beryl::sources
