#include "tree/statistics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "base/compensated_sum.h"
#include "types/unknown.h"

namespace beryl::tree {
namespace {

// A spread below this, relative to the largest number, is what adding up in another order leaves.
constexpr double kRounding = 1e-9;

}  // namespace

double Pearson(const std::vector<double>& a, const std::vector<double>& b) {
  const size_t size = std::min(a.size(), b.size());
  CompensatedSum sum_a;
  CompensatedSum sum_b;
  double largest_a = 0;
  double largest_b = 0;
  size_t pairs = 0;
  for (size_t i = 0; i < size; ++i) {
    if (std::isnan(a[i]) || std::isnan(b[i])) continue;
    sum_a.Add(a[i]);
    sum_b.Add(b[i]);
    largest_a = std::max(largest_a, std::fabs(a[i]));
    largest_b = std::max(largest_b, std::fabs(b[i]));
    ++pairs;
  }
  if (pairs < 2 || largest_a == 0 || largest_b == 0) return kUnknown;
  const double mean_a = sum_a.value() / static_cast<double>(pairs);
  const double mean_b = sum_b.value() / static_cast<double>(pairs);
  double product = 0;
  double square_a = 0;
  double square_b = 0;
  for (size_t i = 0; i < size; ++i) {
    if (std::isnan(a[i]) || std::isnan(b[i])) continue;
    // Relative to the largest, so that no square is too large or too small for a double.
    const double from_a = (a[i] - mean_a) / largest_a;
    const double from_b = (b[i] - mean_b) / largest_b;
    product += from_a * from_b;
    square_a += from_a * from_a;
    square_b += from_b * from_b;
  }
  const double least = static_cast<double>(pairs) * kRounding * kRounding;
  if (!(square_a > least) || !(square_b > least)) return kUnknown;
  return std::clamp(product / std::sqrt(square_a * square_b), -1.0, 1.0);
}

double StudentQuantile(double freedom) {
  static constexpr std::array<double, 30> kTable = {
      12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281,
      2.2010,  2.1788, 2.1604, 2.1448, 2.1314, 2.1199, 2.1098, 2.1009, 2.0930, 2.0860,
      2.0796,  2.0739, 2.0687, 2.0639, 2.0595, 2.0555, 2.0518, 2.0484, 2.0452, 2.0423};
  if (!(freedom > 1)) return kTable.front();
  // The first terms of Cornish and Fisher's series: right to four digits from here on.
  if (freedom >= static_cast<double>(kTable.size())) {
    return 1.959964 + 2.372271 / freedom + 2.822500 / (freedom * freedom);
  }
  const auto below = static_cast<size_t>(freedom);
  const double along = freedom - static_cast<double>(below);
  return kTable[below - 1] + along * (kTable[below] - kTable[below - 1]);
}

double Spread::Deviation(size_t steps) const {
  const double mean = Mean(steps);
  const double absent = static_cast<double>(steps - given) * mean * mean;
  return std::sqrt((squares_about_mean + absent) / static_cast<double>(steps - 1));
}

void Spread::AddDistance(double value, size_t steps) {
  const double distance = value - Mean(steps);
  squares_about_mean += distance * distance;
  ++given;
}

Spread SpreadOf(const std::vector<double>& values, size_t steps) {
  Spread spread;
  for (const double value : values) spread.sum += value;
  for (const double value : values) spread.AddDistance(value, steps);
  return spread;
}

std::optional<double> ChanceDifference(const Sample& a, const Sample& b) {
  if (a.size < 2 || b.size < 2) return std::nullopt;
  const double variance_a = a.deviation * a.deviation / static_cast<double>(a.size);
  const double variance_b = b.deviation * b.deviation / static_cast<double>(b.size);
  const double variance = variance_a + variance_b;
  if (!(variance > 0)) return 0;
  // Relative to their sum, so that squares of tiny numbers do not vanish.
  const double part_a = variance_a / variance;
  const double part_b = variance_b / variance;
  const double freedom = 1 / (part_a * part_a / static_cast<double>(a.size - 1) +
                              part_b * part_b / static_cast<double>(b.size - 1));
  return StudentQuantile(freedom) * std::sqrt(variance);
}

std::vector<uint32_t> KnownSteps(const Footprint& footprint) {
  std::set<uint32_t> steps;
  for (const EnergyShare& share : footprint.shares) {
    if (share.step != kNoStep && share.IsKnown()) steps.insert(share.step);
  }
  return {steps.begin(), steps.end()};
}

}  // namespace beryl::tree
