#include "account/shares.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "types/op_trace.h"
#include "types/unknown.h"

namespace beryl::account {
namespace {

// For how long before it a GPU reading is valid.
constexpr int64_t kLongestHold = 1'000'000'000;

void ReachBeyond(Shares& shares) {
  shares.edges.front() = shares.edges.front() - kShareReach;
  shares.edges.back() = shares.edges.back() + kShareReach;
}

const FeatureColumn* Find(const FeatureTrace& features, std::string_view name,
                          std::string_view device) {
  for (const FeatureColumn& column : features.columns) {
    if (column.name == name && column.device == device) return &column;
  }
  return nullptr;
}

}  // namespace

Shares SharesByCpuTime(const CpuUse& use, size_t column, SplitRule rule) {
  const size_t windows = use.windows();
  Shares shares;
  shares.edges = use.edges;
  shares.column = column;
  for (std::vector<double>* part :
       {&shares.ours, &shares.recorder, &shares.idle, &shares.whole_ns}) {
    part->reserve(windows);
  }
  for (size_t window = 0; window < windows; ++window) {
    const CpuUse::Cell& cell = use.cells[window * use.columns() + column];
    const double whole = rule == SplitRule::kBusy ? cell.busy : cell.capacity;
    const bool ran = whole > 0 && cell.busy > 0;
    shares.whole_ns.push_back(whole);
    shares.ours.push_back(ran ? cell.ours / whole : 0);
    shares.recorder.push_back(ran ? cell.recorder / whole : 0);
    shares.idle.push_back(ran ? 1 - cell.busy / whole : 1);
  }
  ReachBeyond(shares);
  return shares;
}

std::optional<size_t> ColumnOf(const CpuUse& use, std::string_view device) {
  const std::string_view bare = BareDevice(device);
  // "0" also from "CPU:0:die1": a die is part of its package.
  const size_t colon = bare.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const std::string_view rest = bare.substr(colon + 1);
  const auto number = ParseNumber(rest.substr(0, rest.find(':')));
  const auto at = std::find_if(use.packages.begin(), use.packages.end(), [&](uint16_t package) {
    return number && *number == static_cast<double>(package);
  });
  if (at == use.packages.end()) return std::nullopt;
  return static_cast<size_t>(at - use.packages.begin());
}

std::optional<Shares> SharesOfGpu(const FeatureTrace& features, std::string_view device) {
  const std::string_view bare = BareDevice(device);
  const FeatureColumn* ours = Find(features, "gpu_ours", bare);
  const FeatureColumn* use = Find(features, "gpu_util", bare);
  if (ours == nullptr || features.times.empty()) return std::nullopt;
  const std::vector<Nanos>& times = features.times;
  Shares shares;
  bool known = false;
  auto add = [&](Nanos until, double part, double idle) {
    shares.edges.push_back(until);
    shares.ours.push_back(part);
    shares.recorder.push_back(kUnknown);
    shares.idle.push_back(idle);
  };
  // A reading describes the time since the previous one; the first, as much time as the next.
  auto since = [&](size_t i) {
    const size_t later = std::max<size_t>(i, 1);
    const int64_t step = times.size() < 2 ? 0 : (times[later] - times[later - 1]).value;
    return Nanos{std::clamp<int64_t>(step, 0, kLongestHold)};
  };
  shares.edges.push_back(times.front() - since(0));
  for (size_t i = 0; i < times.size(); ++i) {
    const bool rests = use != nullptr && use->values[i] == 0;
    const double share = rests ? 0 : std::clamp(ours->values[i], 0.0, 1.0);
    known = known || !std::isnan(share);
    if (times[i] - since(i) > shares.edges.back()) add(times[i] - since(i), kUnknown, kUnknown);
    // Without a reading of its use, idle time counts as the others'.
    const bool use_known = use != nullptr && !std::isnan(use->values[i]);
    add(times[i], share, use_known ? (rests ? 1 : 0) : kUnknown);
  }
  shares.edges.back() = shares.edges.back() + since(times.size() - 1);
  if (!known) return std::nullopt;
  ReachBeyond(shares);
  return shares;
}

std::optional<Shares> SharesOf(const PowerChannel& channel, bool only_one, const CpuUse& use,
                               const FeatureTrace& features, SplitRule rule) {
  switch (channel.scope) {
    case ChannelScope::kGpu:
      return SharesOfGpu(features, channel.name);
    case ChannelScope::kOther:
      return std::nullopt;
    case ChannelScope::kWall:
    case ChannelScope::kBoard:
      if (use.windows() == 0) return std::nullopt;
      return SharesByCpuTime(use, use.packages.size(), rule);
    case ChannelScope::kPackage:
    case ChannelScope::kDram:
    case ChannelScope::kCore:
      break;
  }
  if (use.windows() == 0) return std::nullopt;
  auto column = ColumnOf(use, channel.name);
  // A package without a matching number is the only one, if both sides have only one.
  if (!column && only_one && use.packages.size() == 1) column = 0;
  if (!column) return std::nullopt;
  return SharesByCpuTime(use, *column, rule);
}

}  // namespace beryl::account
