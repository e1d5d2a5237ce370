#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "account/account.h"
#include "account/cpu_use.h"
#include "account/shares.h"

namespace beryl::account {
namespace {

// The part of a channel that is ours, as a counter at the same times.
PowerChannel PartOf(const PowerChannel& channel, const Shares& shares) {
  PowerChannel part = channel;
  part.kind = ChannelKind::kEnergyCounter;
  const bool counter = channel.kind == ChannelKind::kEnergyCounter;
  size_t window = 0;
  size_t gap = 0;
  double total = 0;
  for (size_t i = 0; i < channel.times.size(); ++i) {
    if (i > 0 && gap < channel.gaps.size() && channel.gaps[gap] == i) {
      ++gap;
    } else if (i > 0) {
      const int64_t from = channel.times[i - 1].value;
      const int64_t to = channel.times[i].value;
      const double length = static_cast<double>(to - from);
      const double energy = counter ? channel.values[i] - channel.values[i - 1]
                                    : channel.values[i - 1] * length * 1e-9;
      while (window < shares.ours.size() && shares.edges[window + 1].value <= from) ++window;
      // Nearly always a stretch between two readings lies in one window.
      for (size_t at = window; at < shares.ours.size() && shares.edges[at].value < to; ++at) {
        const int64_t first = std::max(from, shares.edges[at].value);
        const int64_t last = std::min(to, shares.edges[at + 1].value);
        const double share = shares.ours[at];
        if (std::isnan(share) || last <= first) continue;
        total += energy * share * (static_cast<double>(last - first) / length);
      }
    }
    part.values[i] = total;
  }
  return part;
}

bool IsByCpuTime(ChannelScope scope) {
  return scope == ChannelScope::kPackage || scope == ChannelScope::kDram ||
         scope == ChannelScope::kCore;
}

}  // namespace

PowerTrace Virtualize(const PowerTrace& power, const Recording& recording, SplitRule rule,
                      std::vector<std::string>& notes) {
  const CpuUse use = CountCpuUse(recording.activity);
  PowerTrace ours;
  ours.clock = power.clock;
  ours.report = power.report;
  std::map<size_t, Shares> by_column;
  std::vector<std::string> split;
  std::vector<std::string> whole;
  ours.channels.reserve(power.channels.size());
  for (const PowerChannel& channel : power.channels) {
    std::optional<Shares> own;
    const Shares* shares = nullptr;
    if (IsByCpuTime(channel.scope) && use.windows() > 0) {
      auto column = ColumnOf(use, channel.name);
      if (!column && use.packages.size() == 1) column = 0;
      if (column) {
        const auto [known, is_new] = by_column.try_emplace(*column);
        if (is_new) known->second = SharesByCpuTime(use, *column, rule);
        shares = &known->second;
      }
    } else if (channel.scope == ChannelScope::kGpu) {
      own = SharesOfGpu(recording.features, channel.name);
      if (own) shares = &*own;
    }
    (shares != nullptr ? split : whole).push_back(channel.name);
    ours.channels.push_back(shares != nullptr ? PartOf(channel, *shares) : channel);
  }
  if (!split.empty()) {
    notes.push_back(
        fmt::format("{}: only what the watched processes used", fmt::join(split, ", ")));
  }
  if (!whole.empty()) {
    notes.push_back(
        fmt::format("{}: all of it, as whose it was is not known", fmt::join(whole, ", ")));
  }
  return ours;
}

}  // namespace beryl::account
