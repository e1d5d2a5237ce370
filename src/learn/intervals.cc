#include "learn/intervals.h"

#include <algorithm>
#include <cmath>

#include "learn/law.h"

namespace beryl::learn {
namespace {

// Below this a tail of 5 % is two nodes: both tails together are steadier.
constexpr size_t kEnoughForTails = 40;
constexpr double kNormal90 = 1.645;  // standard deviations on each side of 90 % of a normal

// The value that a share of all values to come stays below, given these sorted ones.
double Upper(const std::vector<double>& sorted, double share) {
  const auto count = static_cast<double>(sorted.size());
  const auto rank = static_cast<size_t>(std::ceil((count + 1) * share));
  return sorted[std::min(std::max<size_t>(rank, 1), sorted.size()) - 1];
}
double Lower(const std::vector<double>& sorted, double share) {
  const auto count = static_cast<double>(sorted.size());
  const auto rank = static_cast<size_t>(std::floor((count + 1) * share));
  return sorted[std::max<size_t>(rank, 1) - 1];
}

}  // namespace

ErrorBand BandOf(std::vector<double> ratios, double nominal) {
  ErrorBand band;
  if (ratios.empty()) return band;
  band.nodes = ratios.size();
  if (ratios.size() >= kEnoughForTails) {
    std::sort(ratios.begin(), ratios.end());
    band.low = Lower(ratios, (1 - nominal) / 2);
    band.high = Upper(ratios, (1 + nominal) / 2);
  } else {
    for (double& ratio : ratios) ratio = std::abs(ratio - 1);
    std::sort(ratios.begin(), ratios.end());
    const double off = Upper(ratios, nominal);
    band.low = 1 - off;
    band.high = 1 + off;
  }
  if (!std::isfinite(band.low) || !std::isfinite(band.high)) return {};
  band.low = std::max(0.0, band.low);
  return band;
}

std::array<ErrorBand, 3> BandsOf(const Measurements& all, const std::vector<double>& predicted,
                                 uint32_t except, double nominal) {
  std::array<std::vector<double>, 3> ratios;
  for (size_t i = 0; i < all.nodes.size(); ++i) {
    const Measurement& row = all.rows[all.nodes[i].row];
    if (row.model == except || !(row.measured > 0) || std::isnan(predicted[i])) continue;
    // What is predicted to give energy back is off by more than any factor.
    ratios[row.level].push_back(predicted[i] > 0 ? row.measured / predicted[i]
                                                 : std::numeric_limits<double>::infinity());
  }
  std::array<ErrorBand, 3> bands;
  for (size_t level = 0; level < bands.size(); ++level) {
    bands[level] = BandOf(std::move(ratios[level]), nominal);
  }
  return bands;
}

Interval IntervalOf(double predicted, const ErrorBand& band, double doubt) {
  if (band.nodes == 0 || !(predicted > 0)) return {};
  const double half = predicted * (band.high - band.low) / 2;
  const double widened = std::hypot(half, kNormal90 * doubt) - half;
  return {std::max(0.0, predicted * band.low - widened), predicted * band.high + widened};
}

std::array<double, 3> NoiseFactorsOf(const Measurements& all, const std::vector<double>& predicted,
                                     const std::vector<Spread>& spreads, uint32_t except,
                                     double nominal) {
  std::array<std::vector<double>, 3> needed;
  for (size_t i = 0; i < all.nodes.size(); ++i) {
    const Measurement& row = all.rows[all.nodes[i].row];
    if (row.model == except || !(row.measured > 0) || !(predicted[i] > 0)) continue;
    const double off = std::log(row.measured / predicted[i]);
    const double doubt = kNormal90 * spreads[i].doubt;
    needed[row.level].push_back(std::sqrt(std::max(0.0, off * off - doubt * doubt)) /
                                spreads[i].noise);
  }
  std::array<double, 3> factors = {};
  for (size_t level = 0; level < factors.size(); ++level) {
    if (needed[level].empty()) continue;
    std::sort(needed[level].begin(), needed[level].end());
    const double factor = Upper(needed[level], nominal);
    // An interval never closes: even where all were within their doubt, there is noise.
    factors[level] = std::isfinite(factor) ? std::max(factor, 0.1) : 0;
  }
  return factors;
}

Interval IntervalOf(double predicted, const Spread& spread, double noise_factor) {
  if (!(noise_factor > 0) || !(predicted > 0)) return {};
  const double width = std::exp(std::hypot(noise_factor * spread.noise, kNormal90 * spread.doubt));
  return {predicted / width, predicted * width};
}

double DoubtOf(const EnergyModel& model, const FeatureRow& features) {
  return model.method == Method::kLaw ? Doubt(model.law, features) : 0;
}

}  // namespace beryl::learn
