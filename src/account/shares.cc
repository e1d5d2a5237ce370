#include "account/shares.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "types/op_trace.h"

namespace beryl::account {
namespace {

// For how long what was read of a GPU holds if nothing follows.
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
  const auto number = ParseNumber(bare.substr(bare.rfind(':') + 1));
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
  Shares shares;
  bool known = false;
  for (size_t i = 0; i < features.times.size(); ++i) {
    const bool rests = use != nullptr && use->values[i] == 0;
    const double share = rests ? 0 : std::clamp(ours->values[i], 0.0, 1.0);
    known = known || !std::isnan(share);
    shares.edges.push_back(features.times[i]);
    shares.ours.push_back(share);
    shares.recorder.push_back(kUnknown);
    // Without a reading of its use, what is idle counts as the others'.
    const bool use_known = use != nullptr && !std::isnan(use->values[i]);
    shares.idle.push_back(use_known ? (rests ? 1 : 0) : kUnknown);
    const bool last = i + 1 == features.times.size();
    if (!last && (features.times[i + 1] - features.times[i]).value <= kLongestHold) continue;
    shares.edges.push_back(features.times[i] + Nanos{last ? 0 : kLongestHold});
    if (last) break;
    for (std::vector<double>* part : {&shares.ours, &shares.recorder, &shares.idle}) {
      part->push_back(kUnknown);
    }
  }
  if (!known) return std::nullopt;
  ReachBeyond(shares);
  return shares;
}

}  // namespace beryl::account
