// Which part of a device's energy is whose, as a function of time.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "account/account.h"
#include "account/cpu_use.h"
#include "base/units.h"

namespace beryl::account {

// In the window from edges[w] to edges[w + 1] ours[w] of the energy is ours, and so on; what is
// left is the others'. NaN: not known. Outside of all windows nothing is told apart.
struct Shares {
  std::vector<Nanos> edges;
  std::vector<double> ours;
  std::vector<double> recorder;
  std::vector<double> idle;
  // Where shares are by CPU time: the column of CpuUse, and what all of its time counts as.
  std::optional<size_t> column;
  std::vector<double> whole_ns;
};

// How far the first and the last window reach beyond what was seen.
inline constexpr Nanos kShareReach{250'000'000};

// By CPU time of a column of `use`, which has windows.
Shares SharesByCpuTime(const CpuUse& use, size_t column, SplitRule rule);

// The column of a device's package, by its number; nothing: no CPU of that package is known.
std::optional<size_t> ColumnOf(const CpuUse& use, std::string_view device);

// By what is known of who used a GPU; nothing: it is not known at any time.
std::optional<Shares> SharesOfGpu(const FeatureTrace& features, std::string_view device);

// What tells a channel's energy apart; nothing: nothing does. `only_one`: see IsOnlyOne.
std::optional<Shares> SharesOf(const PowerChannel& channel, bool only_one, const CpuUse& use,
                               const FeatureTrace& features, SplitRule rule);

// More than this part of a channel's energy must not be of unknown owner.
inline constexpr double kTooMuchUnknown = 0.01;

}  // namespace beryl::account
