// What can be said of numbers that vary.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "types/footprint.h"

namespace beryl::tree {

// Pearson's correlation of the pairs of which both numbers are known (not NaN). NaN where it is not
// defined: fewer than two pairs, or no variance in one of the two but that of rounding.
double Pearson(const std::vector<double>& a, const std::vector<double>& b);

// How many standard errors a mean is from the truth at most, in 95 of 100 cases (Student's t, two
// sided), for `freedom` degrees of freedom, at least 1.
double StudentQuantile(double freedom);

// Mean and deviation over `steps` steps of values that are zero where not given.
struct Spread {
  double sum = 0;
  double squares_about_mean = 0;
  size_t given = 0;

  double Mean(size_t steps) const { return sum / static_cast<double>(steps); }
  double Deviation(size_t steps) const;
  // Once the sum is known.
  void AddDistance(double value, size_t steps);
};
// Of all values at once.
Spread SpreadOf(const std::vector<double>& values, size_t steps);

// Mean and standard deviation of a sample.
struct Sample {
  double mean = 0;
  double deviation = 0;
  size_t size = 0;
};
// Half width of the range about 0 that the difference of two means has by chance (Welch). Nothing:
// one of the samples has fewer than two members.
std::optional<double> ChanceDifference(const Sample& a, const Sample& b);

// Steps of which any energy is known, sorted.
std::vector<uint32_t> KnownSteps(const Footprint& footprint);

}  // namespace beryl::tree
