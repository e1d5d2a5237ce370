#include "store/power_block.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "store/ops_block.h"

namespace beryl::store {
namespace {

std::string_view ReasonOf(const PowerChannel& channel, size_t gap) {
  return gap < channel.gap_reasons.size() ? std::string_view(channel.gap_reasons[gap]) : "";
}

void PutGaps(std::string& out, const PowerChannel& channel, size_t from, size_t to) {
  const auto begin = channel.gaps.begin();
  const auto first = std::lower_bound(begin, channel.gaps.end(), from);
  const auto last = std::lower_bound(first, channel.gaps.end(), to);
  PutVarint(out, static_cast<uint64_t>(last - first));
  for (auto gap = first; gap != last; ++gap) PutVarint(out, *gap - from);
  std::string reasons;
  bool told = false;
  for (auto gap = first; gap != last; ++gap) {
    const std::string_view reason = ReasonOf(channel, static_cast<size_t>(gap - begin));
    told = told || !reason.empty();
    PutString(reasons, reason);
  }
  // Behind what the first readers of these files knew, and only where there is something to say.
  if (told) out += reasons;
}

bool TakeGaps(Decoder& decoder, PowerChannel& channel, size_t before, size_t count) {
  const size_t first = channel.gaps.size();
  for (size_t left = decoder.Count(); left > 0; --left) {
    const size_t gap = before + decoder.Below(count);
    if (decoder.failed() || (!channel.gaps.empty() && gap <= channel.gaps.back())) return false;
    channel.gaps.push_back(gap);
  }
  if (decoder.failed()) return false;
  if (first == channel.gaps.size() || decoder.at_end()) return true;
  channel.gap_reasons.resize(first);
  for (size_t i = first; i < channel.gaps.size(); ++i) {
    channel.gap_reasons.emplace_back(decoder.String());
  }
  return !decoder.failed();
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
  return TakeGaps(decoder, channel, before, count);
}

}  // namespace beryl::store
