// Statistics of samples.
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

namespace beryl::analyze {

// Pearson's correlation of the pairs with both numbers known (not NaN). NaN if undefined: fewer
// than two pairs, or one of the two varies only by rounding.
double Pearson(const std::vector<double>& a, const std::vector<double>& b);

// Student's t: the probability that |T| exceeds `t`, which is at least 0. `freedom` is above 0; if
// infinite, the distribution is normal.
double StudentTail(double t, double freedom);
// The t that |T| exceeds with probability `tail`, between 0 and 1.
double StudentQuantile(double tail, double freedom);

// The variance of an estimate, and with how many degrees of freedom it is known.
struct Spread {
  double variance = 0;
  double freedom = std::numeric_limits<double>::infinity();
};
// The spread of a sum of independent estimates (Welch and Satterthwaite).
Spread SumOf(const std::vector<Spread>& parts);
// The spread of the mean of at least two independent values.
Spread SpreadOfMean(const std::vector<double>& values);

// Which of many hypotheses to reject so that at most `rate` of those rejected are true, on average
// (Benjamini and Hochberg). NaN: not tested.
std::vector<bool> FindAmongMany(const std::vector<double>& p_values, double rate);

// The integrated autocorrelation time of a series without its linear trend: how many of its values
// are worth one independent value. At least 1; 1 if the series is too short to tell.
double AutocorrelationTime(const std::vector<double>& series);

// A straight line through values at 0, 1, 2, ...
struct Trend {
  double mean = 0;
  double slope = 0;  // from a value to the next
  std::vector<double> residuals;
};
Trend TrendOf(const std::vector<double>& values);

}  // namespace beryl::analyze
