#include "account/thin.h"

#include <algorithm>

#include "account/account.h"

namespace beryl::account {

PowerTrace Thin(const PowerTrace& power, uint32_t every) {
  PowerTrace thinned;
  thinned.clock = power.clock;
  thinned.report = power.report;
  for (const PowerChannel& channel : power.channels) {
    PowerChannel fewer;
    fewer.name = channel.name;
    fewer.scope = channel.scope;
    fewer.kind = channel.kind;
    fewer.wraps = channel.wraps;
    size_t next_gap = 0;
    const size_t count = channel.times.size();
    for (size_t i = 0; i < count; ++i) {
      while (next_gap < channel.gaps.size() && channel.gaps[next_gap].reading < i) ++next_gap;
      const auto is_gap = [&](size_t gap, size_t reading) {
        return gap < channel.gaps.size() && channel.gaps[gap].reading == reading;
      };
      const bool after_gap = is_gap(next_gap, i);
      const bool before_gap = is_gap(next_gap + (after_gap ? 1 : 0), i + 1);
      if (i % std::max(every, 1U) != 0 && i + 1 != count && !after_gap && !before_gap) continue;
      if (after_gap) fewer.gaps.push_back({fewer.times.size(), channel.gaps[next_gap].why});
      fewer.times.push_back(channel.times[i]);
      fewer.values.push_back(channel.values[i]);
    }
    thinned.channels.push_back(std::move(fewer));
  }
  return thinned;
}

uint64_t SparsestPeriod(const PowerTrace& power) {
  constexpr uint64_t kFewest = 8;
  uint64_t most = 0;
  for (const PowerChannel& channel : power.channels) {
    most = std::max<uint64_t>(most, channel.times.size());
  }
  return std::max<uint64_t>(1, most / kFewest);
}

}  // namespace beryl::account
