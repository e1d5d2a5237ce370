// The owners' shares of a device's energy, as a function of time.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "account/account.h"
#include "account/cpu_use.h"
#include "base/units.h"

namespace beryl::account {

// In the window from edges[w] to edges[w + 1], ours[w] of the energy is ours, and so on; the
// remainder belongs to others. NaN: unknown. Outside of all windows there is no split.
struct Shares {
  std::vector<Nanos> edges;
  std::vector<double> ours;
  std::vector<double> recorder;
  std::vector<double> idle;
  // For shares by CPU time: the column of CpuUse, and what all of its time counts as.
  std::optional<size_t> column;
  std::vector<double> whole_ns;
};

// How far the first and the last window extend beyond the samples.
inline constexpr Nanos kShareReach{250'000'000};

// By CPU time of a column of `use`, which must have windows.
Shares SharesByCpuTime(const CpuUse& use, size_t column, SplitRule rule);

// The column of a device's package, by its number; nothing if no CPU of that package is known.
std::optional<size_t> ColumnOf(const CpuUse& use, std::string_view device);

// By what is known of a GPU's users; nothing if that is always unknown.
std::optional<Shares> SharesOfGpu(const FeatureTrace& features, std::string_view device);

// The shares of a channel; nothing if it cannot be split. `only_one`: see IsOnlyOne.
std::optional<Shares> SharesOf(const PowerChannel& channel, bool only_one, const CpuUse& use,
                               const FeatureTrace& features, SplitRule rule);

// The part of a channel's energy that may have an unknown owner.
inline constexpr double kTooMuchUnknown = 0.01;

}  // namespace beryl::account
