#include "analyze/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "base/compensated_sum.h"
#include "types/unknown.h"

namespace beryl::analyze {
namespace {

// Variation below this, relative to the largest number, is a rounding error of summation.
constexpr double kRounding = 1e-9;
// With more degrees of freedom, Student's t is normal to seven digits.
constexpr double kNearlyNormal = 1e7;
constexpr double kLargestQuantile = 1e300;
constexpr int kBisections = 100;
// The autocorrelation of fewer values is only noise.
constexpr size_t kLeastToCorrelate = 8;

// The continued fraction of the incomplete beta function, by Lentz's method.
double BetaFraction(double a, double b, double x) {
  constexpr double kTiny = 1e-300;
  constexpr int kMostTerms = 100'000;
  constexpr double kExact = 1e-15;
  const auto apart = [](double value) { return std::fabs(value) < kTiny ? kTiny : value; };
  double c = 1;
  double d = 1 / apart(1 - (a + b) * x / (a + 1));
  double fraction = d;
  for (int term = 1; term < kMostTerms; ++term) {
    const auto m = static_cast<double>(term);
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    for (const double part : {even, odd}) {
      d = 1 / apart(1 + part * d);
      c = apart(1 + part / c);
      fraction *= c * d;
    }
    if (std::fabs(c * d - 1) < kExact) break;
  }
  return fraction;
}

// I_x(a, b), given x and 1 - x.
double IncompleteBeta(double a, double b, double x, double rest) {
  if (!(x > 0)) return 0;
  if (!(rest > 0)) return 1;
  const double front = std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) +
                                a * std::log(x) + b * std::log(rest));
  // The fraction converges fast on this side of the mean.
  if (x < (a + 1) / (a + b + 2)) return front * BetaFraction(a, b, x) / a;
  return 1 - front * BetaFraction(b, a, rest) / b;
}

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
    // Relative to the largest, so that no square overflows or underflows.
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

double StudentTail(double t, double freedom) {
  if (std::isnan(t) || std::isnan(freedom)) return kUnknown;
  if (std::isinf(t)) return 0;
  if (freedom > kNearlyNormal) return std::erfc(t / std::numbers::sqrt2);
  // Both sides of x are computed directly, because 1 - x loses digits where t is small.
  const double square = t * t;
  if (std::isinf(square)) return 0;
  return IncompleteBeta(freedom / 2, 0.5, freedom / (freedom + square),
                        square / (freedom + square));
}

double StudentQuantile(double tail, double freedom) {
  double low = 0;
  double high = 1;
  while (StudentTail(high, freedom) > tail && high < kLargestQuantile) {
    low = high;
    high *= 2;
  }
  for (int turn = 0; turn < kBisections; ++turn) {
    const double middle = (low + high) / 2;
    (StudentTail(middle, freedom) > tail ? low : high) = middle;
  }
  return (low + high) / 2;
}

Spread SumOf(const std::vector<Spread>& parts) {
  Spread sum;
  for (const Spread& part : parts) sum.variance += part.variance;
  if (!(sum.variance > 0)) {
    for (const Spread& part : parts) sum.freedom = std::min(sum.freedom, part.freedom);
    return sum;
  }
  double reciprocal = 0;
  for (const Spread& part : parts) {
    // Relative to the sum, so that squares of tiny numbers do not underflow.
    const double weight = part.variance / sum.variance;
    reciprocal += weight * weight / part.freedom;
  }
  if (reciprocal > 0) sum.freedom = 1 / reciprocal;
  return sum;
}

Spread SpreadOfMean(const std::vector<double>& values) {
  const auto size = static_cast<double>(values.size());
  CompensatedSum sum;
  for (const double value : values) sum.Add(value);
  const double mean = sum.value() / size;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return {squares / (size - 1) / size, size - 1};
}

std::vector<bool> FindAmongMany(const std::vector<double>& p_values, double rate) {
  std::vector<double> tested;
  for (const double p : p_values) {
    if (!std::isnan(p)) tested.push_back(p);
  }
  std::sort(tested.begin(), tested.end());
  double largest = -1;
  for (size_t rank = 0; rank < tested.size(); ++rank) {
    const double allowed =
        rate * static_cast<double>(rank + 1) / static_cast<double>(tested.size());
    if (tested[rank] <= allowed) largest = tested[rank];
  }
  std::vector<bool> found;
  found.reserve(p_values.size());
  for (const double p : p_values) found.push_back(p <= largest);
  return found;
}

Trend TrendOf(const std::vector<double>& values) {
  Trend trend;
  if (values.empty()) return trend;
  const auto size = static_cast<double>(values.size());
  CompensatedSum sum;
  for (const double value : values) sum.Add(value);
  trend.mean = sum.value() / size;
  const double middle = (size - 1) / 2;
  double product = 0;
  double square = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const double from_middle = static_cast<double>(i) - middle;
    product += from_middle * (values[i] - trend.mean);
    square += from_middle * from_middle;
  }
  if (square > 0) trend.slope = product / square;
  trend.residuals.reserve(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    trend.residuals.push_back(values[i] - trend.mean -
                              trend.slope * (static_cast<double>(i) - middle));
  }
  return trend;
}

double AutocorrelationTime(const std::vector<double>& series) {
  const size_t size = series.size();
  if (size < kLeastToCorrelate) return 1;
  const Trend trend = TrendOf(series);
  const std::vector<double>& left = trend.residuals;
  const auto product = [&](size_t lag) {
    double sum = 0;
    for (size_t i = lag; i < size; ++i) sum += left[i] * left[i - lag];
    return sum;
  };
  const double squares = product(0);
  const double rounding = kRounding * trend.mean;
  if (!(squares > static_cast<double>(size) * rounding * rounding)) return 1;
  // Geyer's initial monotone sequence: sums of two neighbouring autocorrelations are positive and
  // fall; behind the first that is not, there is only noise.
  double time = -1;
  double last = std::numeric_limits<double>::infinity();
  for (size_t lag = 0; lag + 1 < size / 2; lag += 2) {
    const double pair = (product(lag) + product(lag + 1)) / squares;
    if (!(pair > 0)) break;
    last = std::min(last, pair);
    time += 2 * last;
  }
  return std::max(1.0, time);
}

}  // namespace beryl::analyze
