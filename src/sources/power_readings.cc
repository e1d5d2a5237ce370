#include "sources/power_readings.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "base/text.h"
#include "types/counter_wrap.h"

namespace beryl::sources {
namespace {

constexpr double kJoulesPerMicrojoule = 1e-6;
// A counter has 64 bits.
constexpr double kLargestCount = 0x1p64;

// Median power of the intervals that did not go down, to judge the others.
std::optional<Watts> UsualPower(const std::vector<Nanos>& times,
                                const std::vector<double>& values) {
  std::vector<double> watts;
  for (size_t i = 1; i < times.size(); ++i) {
    const double step = values[i] - values[i - 1];
    const double seconds = (times[i] - times[i - 1]).seconds();
    if (step >= 0) watts.push_back(step * kJoulesPerMicrojoule / seconds);
  }
  if (watts.empty()) return std::nullopt;
  const auto middle = watts.begin() + static_cast<std::ptrdiff_t>(watts.size() / 2);
  std::nth_element(watts.begin(), middle, watts.end());
  return Watts{*middle};
}

template <typename T>
void Reorder(const std::vector<uint32_t>& order, std::vector<T>& items) {
  std::vector<T> sorted;
  sorted.reserve(order.size());
  for (const uint32_t from : order) sorted.push_back(items[from]);
  items = std::move(sorted);
}

}  // namespace

PowerReadings::Readings& PowerReadings::Of(std::string_view device) {
  const StringId id = names_.Intern(device);
  if (id >= channels_.size()) channels_.resize(id + 1);
  return channels_[id];
}

void PowerReadings::Add(std::string_view device, std::string_view time, std::string_view value,
                        std::optional<double> wrap_uj, uint64_t offset) {
  if (device.empty()) return Drop(NoteKind::kReadingWithoutDevice, offset);
  Readings& readings = Of(device);
  const auto parsed_time = ParseMicros(Trim(time));
  const auto parsed_value = ParseNumber(value);
  const bool gauge = kind_ == ChannelKind::kPowerGauge;
  const double most = gauge ? kMostPower.value : kLargestCount;
  std::optional<NoteKind> why;
  if (!parsed_time) {
    why = NoteKind::kReadingTimeNotUsable;
  } else if (!parsed_value) {
    why = NoteKind::kReadingNotNumber;
  } else if (*parsed_value < 0) {
    why = NoteKind::kReadingNegative;
  } else if (*parsed_value > most) {
    why = NoteKind::kReadingTooLarge;
  }
  if (why) {
    Drop(*why, offset);
    // Power between its neighbours is not known; a counter's energy between them is.
    const bool known = parsed_time || !readings.times.empty();
    if (gauge && known) {
      readings.dropped.push_back(parsed_time ? *parsed_time
                                             : Nanos{readings.times.back().value + 1});
    }
    return;
  }
  ++report_.events;
  if (readings.wraps.empty() ? wrap_uj.has_value() : wrap_uj != readings.wraps.back().second) {
    readings.wraps.emplace_back(offset, wrap_uj);
  }
  readings.times.push_back(*parsed_time);
  readings.values.push_back(*parsed_value);
  readings.offsets.push_back(offset);
}

std::vector<PowerChannel> PowerReadings::Finish() {
  std::vector<PowerChannel> result;
  for (StringId id = 1; id < channels_.size(); ++id) {
    Readings& readings = channels_[id];
    if (readings.times.empty()) continue;
    PowerChannel channel;
    channel.name = names_.Text(id);
    channel.scope = ScopeOfName(channel.name);
    channel.kind = kind_;
    PutInOrder(readings);
    report_.operations += readings.times.size();
    BreakWhereDropped(readings, channel);
    if (kind_ == ChannelKind::kEnergyCounter) Unwrap(readings, channel);
    channel.times = std::move(readings.times);
    channel.values = std::move(readings.values);
    readings = {};
    result.push_back(std::move(channel));
  }
  return result;
}

void PowerReadings::PutInOrder(Readings& readings) {
  std::vector<Nanos>& times = readings.times;
  const auto early = std::is_sorted_until(times.begin(), times.end());
  if (early != times.end()) {
    report_.Count(NoteKind::kReadingsOutOfOrder,
                  readings.offsets[static_cast<size_t>(early - times.begin())]);
    std::vector<uint32_t> order(times.size());
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(),
                     [&](uint32_t a, uint32_t b) { return times[a] < times[b]; });
    Reorder(order, readings.values);
    Reorder(order, readings.offsets);
    Reorder(order, times);
  }
  // Among several readings with the same time, the last one stands.
  size_t kept = 0;
  for (size_t i = 0; i < times.size(); ++i) {
    if (i + 1 < times.size() && times[i] == times[i + 1]) {
      report_.Count(NoteKind::kReadingOfSameTime, readings.offsets[i]);
      continue;
    }
    times[kept] = times[i];
    readings.values[kept] = readings.values[i];
    readings.offsets[kept++] = readings.offsets[i];
  }
  times.resize(kept);
  readings.values.resize(kept);
  readings.offsets.resize(kept);
}

void PowerReadings::BreakWhereDropped(const Readings& readings, PowerChannel& channel) {
  const std::vector<Nanos>& times = readings.times;
  for (const Nanos dropped : readings.dropped) {
    const auto next = std::lower_bound(times.begin(), times.end(), dropped);
    // Outside of the readings nothing is known anyway, and another one of the same time will do.
    if (next == times.begin() || next == times.end() || *next == dropped) continue;
    channel.gaps.push_back({static_cast<size_t>(next - times.begin()), GapReason::kNotTold});
  }
  std::sort(channel.gaps.begin(), channel.gaps.end(),
            [](const PowerGap& a, const PowerGap& b) { return a.reading < b.reading; });
  channel.gaps.erase(std::unique(channel.gaps.begin(), channel.gaps.end()), channel.gaps.end());
}

// From counts to joules since the first one.
void PowerReadings::Unwrap(Readings& readings, PowerChannel& channel) {
  const std::optional<Watts> usual = UsualPower(readings.times, readings.values);
  double energy_uj = 0;
  double before = readings.values.front();
  readings.values.front() = 0;
  for (size_t i = 1; i < readings.times.size(); ++i) {
    const double after = readings.values[i];
    const Seconds elapsed = ToSeconds(readings.times[i] - readings.times[i - 1]);
    const auto gap = [&](GapReason why, NoteKind note) {
      channel.gaps.push_back({i, why});
      report_.Count(note, readings.offsets[i]);
      return 0.0;
    };
    double step = after - before;
    if (step < 0) {
      const auto told =
          std::upper_bound(readings.wraps.begin(), readings.wraps.end(), readings.offsets[i],
                           [](uint64_t offset, const auto& wrap) { return offset < wrap.first; });
      const auto wrap = told == readings.wraps.begin() ? std::nullopt : std::prev(told)->second;
      const auto range =
          WrapRange({before, after, Joules{kJoulesPerMicrojoule}, elapsed, usual}, wrap);
      step = range ? *range - before + after
                   : gap(GapReason::kCounterWentDown, NoteKind::kCounterWentDown);
      if (range) ++channel.wraps;
    }
    if (Joules{step * kJoulesPerMicrojoule} > kMostPower * elapsed) {
      step = gap(GapReason::kNotTold, NoteKind::kReadingTooLarge);
    }
    energy_uj += step;
    before = after;
    readings.values[i] = energy_uj * kJoulesPerMicrojoule;
  }
}

}  // namespace beryl::sources
