// How much a number varies from step to step.
#pragma once

#include <cmath>
#include <cstddef>
#include <set>

#include "types/footprint.h"

namespace beryl::tree {

// How many steps a deviation is taken over: those of which any energy is known.
inline size_t CountSteps(const Footprint& footprint) {
  std::set<uint32_t> steps;
  for (const EnergyShare& share : footprint.shares) {
    if (share.step != kNoStep && share.IsKnown()) steps.insert(share.step);
  }
  return steps.size();
}

// Mean and deviation over `steps` steps of values that are zero where not given.
struct Spread {
  double sum = 0;
  double squares_about_mean = 0;
  size_t given = 0;

  double Mean(size_t steps) const { return sum / static_cast<double>(steps); }
  double Deviation(size_t steps) const {
    const double mean = Mean(steps);
    const double absent = static_cast<double>(steps - given) * mean * mean;
    return std::sqrt((squares_about_mean + absent) / static_cast<double>(steps - 1));
  }
};

// Of all values at once.
template <typename Values>
Spread SpreadOf(const Values& values, size_t steps) {
  Spread spread;
  for (const double value : values) spread.sum += value;
  spread.given = values.size();
  for (const double value : values) {
    const double distance = value - spread.Mean(steps);
    spread.squares_about_mean += distance * distance;
  }
  return spread;
}

}  // namespace beryl::tree
