#include "learn/fit/primitives.h"

#include <Eigen/Core>
#include <cmath>

#include "learn/fit/least_squares.h"

namespace beryl::learn {
namespace {

// Directions in which standardised features vary less than this, relative to the widest, are
// rounding errors.
constexpr double kCollinear = 1e-10;

PrimitiveRegressor Fit(const Measurements& all, const std::vector<uint32_t>& rows,
                       const std::vector<Feature>& features) {
  PrimitiveRegressor regressor;
  regressor.standard = StandardOf(all, rows, features);
  const auto lines = static_cast<Eigen::Index>(rows.size());
  const auto columns = static_cast<Eigen::Index>(features.size());
  double mean = 0;
  for (const uint32_t row : rows) {
    mean += all.rows[row].count * all.rows[row].measured;
    regressor.samples += all.rows[row].count;
  }
  mean /= static_cast<double>(regressor.samples);
  Eigen::MatrixXd x(lines, columns);
  Eigen::VectorXd y(lines);
  for (Eigen::Index line = 0; line < lines; ++line) {
    const MeasuredRow& row = all.rows[rows[static_cast<size_t>(line)]];
    const double root = std::sqrt(static_cast<double>(row.count));
    const std::vector<double> picked = Pick(row.features, features);
    for (size_t i = 0; i < picked.size(); ++i) {
      x(line, static_cast<Eigen::Index>(i)) =
          root * (picked[i] - regressor.standard.mean[i]) / regressor.standard.scale[i];
    }
    y[line] = root * (row.measured - mean);
  }
  const Eigen::VectorXd weights = SolveShortest(x, y, kCollinear);
  regressor.weights.assign(weights.data(), weights.data() + columns);
  regressor.bias = mean;
  return regressor;
}

}  // namespace

std::vector<double> Pick(const FeatureRow& row, const std::vector<Feature>& features) {
  std::vector<double> picked;
  picked.reserve(features.size());
  for (const Feature feature : features) picked.push_back(At(row, feature));
  return picked;
}

Standard StandardOf(const Measurements& all, const std::vector<uint32_t>& rows,
                    const std::vector<Feature>& features) {
  Standard standard;
  double weight = 0;
  for (const uint32_t row : rows) weight += all.rows[row].count;
  for (const Feature feature : features) {
    double mean = 0;
    double largest = 0;
    for (const uint32_t row : rows) {
      const double value = At(all.rows[row].features, feature);
      mean += all.rows[row].count * value / weight;
      largest = std::max(largest, std::abs(value));
    }
    double variance = 0;
    for (const uint32_t row : rows) {
      const double off = At(all.rows[row].features, feature) - mean;
      variance += all.rows[row].count * off * off / weight;
    }
    const double deviation = std::sqrt(variance);
    standard.mean.push_back(mean);
    standard.scale.push_back(deviation > 1e-12 * largest ? deviation : 1);
  }
  return standard;
}

std::map<std::string, PrimitiveRegressor> FitPrimitives(const Measurements& all,
                                                        const std::vector<uint32_t>& rows,
                                                        const std::vector<Feature>& features) {
  std::map<uint32_t, std::vector<uint32_t>> by_type;
  for (const uint32_t row : rows) {
    if (all.rows[row].level == kPrimitiveLevel) by_type[all.rows[row].type].push_back(row);
  }
  std::map<std::string, PrimitiveRegressor> regressors;
  for (const auto& [type, of_type] : by_type) {
    regressors.emplace(all.types[type], Fit(all, of_type, features));
  }
  return regressors;
}

double Apply(const PrimitiveRegressor& regressor, const std::vector<double>& features) {
  double joules = regressor.bias;
  for (size_t i = 0; i < features.size(); ++i) {
    joules += regressor.weights[i] * (features[i] - regressor.standard.mean[i]) /
              regressor.standard.scale[i];
  }
  return joules;
}

}  // namespace beryl::learn
