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
