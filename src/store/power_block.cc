#include "store/power_block.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "store/ops_block.h"

namespace beryl::store {
namespace {

constexpr double kMostEnergy = 1e18;  // of a counter, in joules: 30 years of kMostPower

// Prefixes of the reasons that the first versions wrote; longer prefixes first.
struct OldReason {
  std::string_view beginning;
  GapReason why;
};
constexpr std::array kOldReasons = {
    OldReason{"the counter went down and that is no wrap", GapReason::kCounterReset},
    OldReason{"the counter stood still until the end", GapReason::kStoodStillToTheEnd},
    OldReason{"the counter stood still", GapReason::kCounterStoodStill},
    OldReason{"the counter never moved", GapReason::kCounterNeverMoved},
    OldReason{"the counter stepped only once", GapReason::kSteppedOnce},
    OldReason{"no reading for ", GapReason::kMayHaveWrapped},
    OldReason{"it could not be read any more", GapReason::kNotReadAnyMore},
    OldReason{"it could not be read, and did not go on", GapReason::kStoppedMeanwhile},
    OldReason{"it could not be read", GapReason::kNotRead},
};

GapReason ReasonOf(std::string_view text) {
  if (const auto why = FindGapReason(text)) return *why;
  for (const OldReason& old : kOldReasons) {
    if (text.starts_with(old.beginning)) return old.why;
  }
  return GapReason::kNotTold;
}

void PutGaps(std::string& out, const PowerChannel& channel, size_t from, size_t to) {
  const auto before = [](const PowerGap& gap, size_t reading) { return gap.reading < reading; };
  const auto first = std::lower_bound(channel.gaps.begin(), channel.gaps.end(), from, before);
  const auto last = std::lower_bound(first, channel.gaps.end(), to, before);
  PutVarint(out, static_cast<uint64_t>(last - first));
  for (auto gap = first; gap != last; ++gap) PutVarint(out, gap->reading - from);
  for (auto gap = first; gap != last; ++gap) PutString(out, GapReasonName(gap->why));
}

bool TakeGaps(Decoder& decoder, PowerChannel& channel, size_t before, size_t count) {
  const size_t first = channel.gaps.size();
  for (size_t left = decoder.Count(); left > 0; --left) {
    const size_t gap = before + decoder.Below(count);
    if (decoder.failed() || (!channel.gaps.empty() && gap <= channel.gaps.back().reading)) {
      return false;
    }
    channel.gaps.push_back({gap, GapReason::kNotTold});
  }
  if (decoder.failed()) return false;
  // The first versions did not write the reason.
  if (decoder.at_end()) return true;
  for (size_t i = first; i < channel.gaps.size(); ++i) {
    channel.gaps[i].why = ReasonOf(decoder.String());
  }
  return !decoder.failed();
}

// A right checksum does not make a reading right: no machine draws so much, and no counter runs
// backwards but at a gap. Checks the readings from `from` on.
bool IsPossible(const PowerChannel& channel, size_t from) {
  const std::vector<double>& values = channel.values;
  const bool gauge = channel.kind == ChannelKind::kPowerGauge;
  size_t gap = channel.gaps.size();
  while (gap > 0 && channel.gaps[gap - 1].reading >= from) --gap;
  for (size_t i = from; i < values.size(); ++i) {
    const bool after_gap = gap < channel.gaps.size() && channel.gaps[gap].reading == i;
    if (after_gap) ++gap;
    if (std::abs(values[i]) > (gauge ? kMostPower.value : kMostEnergy)) return false;
    if (gauge || i == 0 || after_gap) continue;
    const Joules step{values[i] - values[i - 1]};
    const Joules most = kMostPower * (channel.times[i] - channel.times[i - 1]);
    if (step.value < 0 || step.value > most.value) return false;
  }
  return true;
}

bool TakeReadings(Decoder& decoder, PowerChannel& channel) {
  const uint64_t wraps = decoder.Varint();
  const size_t count = decoder.Count();
  int64_t time = decoder.Signed();
  if (decoder.failed() || count == 0 || !IsTime(time)) return false;
  ColumnReader deltas(decoder, count - 1);
  if (!deltas.ok()) return false;
  const size_t before = channel.times.size();
  if (before > 0 && channel.times.back().value >= time) return false;
  channel.wraps += wraps;
  for (size_t i = 0; i < count; ++i) {
    if (i > 0) {
      const uint64_t delta = deltas.Next();
      if (delta == 0 || delta > static_cast<uint64_t>(kFarthestTime - time)) return false;
      time += static_cast<int64_t>(delta);
    }
    const auto value = decoder.Fixed<double>();
    if (decoder.failed() || !std::isfinite(value)) return false;
    channel.times.push_back(Nanos{time});
    channel.values.push_back(value);
  }
  return TakeGaps(decoder, channel, before, count) && IsPossible(channel, before);
}

}  // namespace

std::string EncodePower(const PowerChannel& channel, size_t from, size_t to) {
  std::string out;
  PutString(out, channel.name);
  PutVarint(out, static_cast<uint64_t>(channel.kind));
  PutVarint(out, from == 0 ? channel.wraps : 0);
  PutVarint(out, to - from);
  PutSigned(out, channel.times[from].value);
  std::vector<uint64_t> deltas;
  deltas.reserve(to - from - 1);
  for (size_t i = from + 1; i < to; ++i) {
    deltas.push_back(static_cast<uint64_t>((channel.times[i] - channel.times[i - 1]).value));
  }
  PutColumn(out, deltas);
  for (size_t i = from; i < to; ++i) PutFixed<double>(out, channel.values[i]);
  PutGaps(out, channel, from, to);
  return out;
}

bool DecodePower(Decoder& decoder, PowerChannel& channel) {
  const size_t readings = channel.times.size();
  const size_t gaps = channel.gaps.size();
  if (TakeReadings(decoder, channel)) return true;
  channel.times.resize(readings);
  channel.values.resize(readings);
  channel.gaps.resize(gaps);
  return false;
}

}  // namespace beryl::store
