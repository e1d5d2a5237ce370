#include "analyze/figures.h"

#include <algorithm>
#include <cmath>

#include "base/compensated_sum.h"

namespace beryl::analyze {
namespace {

// More blocks hardly narrow an interval: Student's t of 30 degrees of freedom is 2.04.
constexpr size_t kMostBlocks = 32;
constexpr size_t kLeastBlocks = 4;
// The autocorrelation of fewer steps cannot be determined.
constexpr size_t kLeastSteps = 8;
constexpr double kMostCorrelated = 0.9;

// The group of the value at `at` if `size` values make `groups` groups of nearly equal size.
size_t GroupOf(size_t at, size_t size, size_t groups) { return at * groups / size; }

// Sums by group to means by group.
void Average(size_t size, std::vector<double>& sums) {
  const size_t groups = sums.size();
  const auto first = [&](size_t group) { return (group * size + groups - 1) / groups; };
  for (size_t i = 0; i < groups; ++i) sums[i] /= static_cast<double>(first(i + 1) - first(i));
}

// Calls visit(share, ordinal of its step) for known shares in `steps`, which is sorted.
void ForEachInSteps(const Footprint& footprint, const std::vector<uint32_t>& steps,
                    const auto& visit) {
  for (const EnergyShare& share : footprint.shares) {
    if (share.step == kNoStep || !share.IsKnown()) continue;
    const auto at = std::lower_bound(steps.begin(), steps.end(), share.step);
    visit(share, static_cast<size_t>(at - steps.begin()));
  }
}

// What the means of blocks tell about the mean of the run.
void Judge(const std::vector<double>& means, bool too_few, RowFigures& row) {
  if (means.size() < 2) return;
  if (too_few) {
    row.within = SpreadOfMean(means);
    return;
  }
  const auto count = static_cast<double>(means.size());
  const Trend trend = TrendOf(means);
  double squares = 0;
  double products = 0;
  for (size_t i = 0; i < trend.residuals.size(); ++i) {
    squares += trend.residuals[i] * trend.residuals[i];
    if (i > 0) products += trend.residuals[i] * trend.residuals[i - 1];
  }
  Spread within{squares / (count - 2) / count, count - 2};
  // The blocks fit all operations together; those of a part may still depend on each other.
  const double correlation = squares > 0 ? products / squares : 0;
  if (correlation > 2 / std::sqrt(count)) {
    const double kept = std::min(correlation, kMostCorrelated);
    within.variance *= (1 + kept) / (1 - kept);
  }
  // Chance alone gives a drift whose square is on average twelve times the variance of the mean.
  const double drift = trend.slope * count;
  row.drift =
      Joules{std::copysign(std::sqrt(std::max(0.0, drift * drift - 12 * within.variance)), drift)};
  row.within = within;
}

// The energy of whole runs (no steps), or the mean of so many steps.
std::vector<RowFigures> Means(const Footprint& footprint, const RowsOfKind& rows_of_kind,
                              size_t rows, size_t steps) {
  std::vector<RowFigures> figures(rows);
  std::vector<CompensatedSum> sums(rows);
  for (const EnergyShare& share : footprint.shares) {
    if (steps > 0 && share.step == kNoStep) continue;
    for (const uint32_t row : rows_of_kind[share.kind]) {
      figures[row].present = true;
      if (!share.IsKnown()) continue;
      figures[row].known = true;
      sums[row].Add(share.energy.value);
    }
  }
  for (const UnmeteredOps& ops : footprint.unmetered) {
    for (const uint32_t row : rows_of_kind[ops.kind]) figures[row].present = true;
  }
  const auto divisor = static_cast<double>(std::max<size_t>(1, steps));
  for (size_t row = 0; row < rows; ++row) figures[row].energy = Joules{sums[row].value() / divisor};
  return figures;
}

}  // namespace

bool StepBlocks::too_few() const { return steps.size() < kLeastSteps || count < kLeastBlocks; }

StepBlocks BlocksOf(const Footprint& footprint) {
  // A series is averaged to at most so many values before its autocorrelation is determined.
  constexpr size_t kFinest = 2048;
  // A block is this many autocorrelation times long.
  constexpr double kBlockTimes = 2;
  StepBlocks blocks;
  blocks.steps = KnownSteps(footprint);
  const size_t size = blocks.steps.size();
  std::vector<double> series(std::min(size, kFinest), 0);
  ForEachInSteps(footprint, blocks.steps, [&](const EnergyShare& share, size_t at) {
    series[GroupOf(at, size, series.size())] += share.energy.value;
  });
  Average(size, series);
  const double length = std::ceil(kBlockTimes * AutocorrelationTime(series));
  const auto fitting = static_cast<size_t>(static_cast<double>(series.size()) / length);
  blocks.count = size < kLeastSteps ? size : std::clamp<size_t>(fitting, 1, kMostBlocks);
  return blocks;
}

std::vector<RowFigures> Figures(const Footprint& footprint, const RowsOfKind& rows_of_kind,
                                size_t rows, bool per_step) {
  const size_t steps = per_step ? std::max<size_t>(1, KnownSteps(footprint).size()) : 0;
  return Means(footprint, rows_of_kind, rows, steps);
}

std::vector<RowFigures> MeansOfSteps(const Footprint& footprint, const RowsOfKind& rows_of_kind,
                                     size_t rows, const StepBlocks& blocks) {
  return Means(footprint, rows_of_kind, rows, blocks.steps.size());
}

std::vector<RowFigures> Figures(const Footprint& footprint, const RowsOfKind& rows_of_kind,
                                size_t rows, const StepBlocks& blocks) {
  std::vector<RowFigures> figures = MeansOfSteps(footprint, rows_of_kind, rows, blocks);
  if (blocks.count < 2) return figures;
  std::vector<std::vector<double>> means(rows, std::vector<double>(blocks.count, 0));
  ForEachInSteps(footprint, blocks.steps, [&](const EnergyShare& share, size_t at) {
    const size_t block = GroupOf(at, blocks.steps.size(), blocks.count);
    for (const uint32_t row : rows_of_kind[share.kind]) means[row][block] += share.energy.value;
  });
  for (size_t row = 0; row < rows; ++row) {
    Average(blocks.steps.size(), means[row]);
    Judge(means[row], blocks.too_few(), figures[row]);
  }
  return figures;
}

}  // namespace beryl::analyze
