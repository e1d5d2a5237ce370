#include "learn/fit/intervals.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "learn/methods/law.h"

namespace beryl::learn {
namespace {

// With fewer nodes, a tail of 5 % is two nodes or less; using both tails together is more stable.
constexpr size_t kEnoughForTails = 40;
constexpr double kNormal90 = 1.645;  // half width of the central 90 % of a normal distribution

// The value that the given share of future values stays below, estimated from sorted past values.
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

// An interval never has zero width: even if all nodes were within their doubt, there is noise.
constexpr double kLeastFactor = 0.1;

// The factor for the noise that a node needs to be inside its interval.
struct NeededFactor {
  uint32_t model = 0;
  double factor = 0;
};

// That the share `nominal` of the nodes of all models except one needs. 0: there are none.
double FactorOf(const std::vector<NeededFactor>& needed, uint32_t except, double nominal) {
  std::vector<double> factors;
  for (const NeededFactor& node : needed) {
    if (node.model != except) factors.push_back(node.factor);
  }
  if (factors.empty()) return 0;
  std::sort(factors.begin(), factors.end());
  return std::max(Upper(factors, nominal), kLeastFactor);
}

// By how much a model exceeds the factor of the others. The nodes of a model err together, so a
// factor from a few models is too small for one that is not among them. Each of them was, to the
// others, and shows how much is missing.
double ExcessOverOthers(const std::vector<NeededFactor>& needed, double nominal) {
  constexpr size_t kFewest = 3;  // with two, one model alone would speak for all
  std::map<uint32_t, double> of_others;
  for (const NeededFactor& node : needed) of_others.try_emplace(node.model, 0);
  if (of_others.size() < kFewest) return 1;
  for (auto& [model, factor] : of_others) factor = FactorOf(needed, model, nominal);
  std::vector<NeededFactor> excess = needed;
  for (NeededFactor& node : excess) node.factor /= of_others[node.model];
  return std::max(1.0, FactorOf(excess, kNoModel, nominal));
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
    const MeasuredRow& row = all.rows[all.nodes[i].row];
    if (row.model == except || !(row.measured > 0) || std::isnan(predicted[i])) continue;
    // A negative prediction is wrong by more than any factor.
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
                                     const std::vector<Uncertainty>& uncertainties, uint32_t except,
                                     double nominal) {
  std::array<std::vector<NeededFactor>, 3> needed;
  for (size_t i = 0; i < all.nodes.size(); ++i) {
    const MeasuredRow& row = all.rows[all.nodes[i].row];
    if (row.model == except || !(row.measured > 0) || !(predicted[i] > 0)) continue;
    const double off = std::log(row.measured / predicted[i]);
    const double doubt = kNormal90 * uncertainties[i].doubt;
    const double beyond = std::sqrt(std::max(0.0, off * off - doubt * doubt));
    needed[row.level].push_back({row.model, beyond / uncertainties[i].noise});
  }
  std::array<double, 3> factors = {};
  for (size_t level = 0; level < factors.size(); ++level) {
    const double factor =
        FactorOf(needed[level], kNoModel, nominal) * ExcessOverOthers(needed[level], nominal);
    factors[level] = std::isfinite(factor) ? factor : 0;
  }
  return factors;
}

Interval IntervalOf(double predicted, const Uncertainty& spread, double noise_factor) {
  if (!(noise_factor > 0) || !(predicted > 0)) return {};
  const double width = std::exp(std::hypot(noise_factor * spread.noise, kNormal90 * spread.doubt));
  return {predicted / width, predicted * width};
}

double DoubtOf(const EnergyModel& model, const FeatureRow& features) {
  return model.law() != nullptr ? Doubt(*model.law(), features) : 0;
}

}  // namespace beryl::learn
