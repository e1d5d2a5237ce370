#include <algorithm>

#include "account/account.h"

namespace beryl::account {

Result<Footprint> ShareTime(const PowerTrace& power, const OpTrace& ops,
                            const AccountOptions& options) {
  PowerTrace flat;
  flat.clock = power.clock;
  PowerChannel clock;
  clock.name = "time";
  for (const PowerChannel& channel : power.channels) {
    if (channel.times.empty()) continue;
    const bool first = clock.times.empty();
    if (first) clock.times = {channel.times.front(), channel.times.back()};
    clock.times.front().value = std::min(clock.times.front().value, channel.times.front().value);
    clock.times.back().value = std::max(clock.times.back().value, channel.times.back().value);
  }
  clock.values.assign(clock.times.size(), 1);
  flat.channels.push_back(std::move(clock));
  AccountOptions all = options;
  all.idle_power.clear();
  all.feeds = {{"time", {"all"}}};
  return Account(flat, ops, all);
}

}  // namespace beryl::account
