#include "learn/describe/bottleneck_fit.h"

#include <cmath>
#include <limits>

#include "learn/fit/nonnegative.h"

namespace beryl::learn {
namespace {

constexpr int kMostRounds = 30;
constexpr int kPatience = 5;
constexpr double kExact = 0.005;  // smaller errors weigh as if they were this large

using Mask = Eigen::Array<bool, Eigen::Dynamic, 1>;

// The rows under the assumption that those in `host_bound` are bound by the host. Each row is
// divided by its measured value and multiplied by its weight.
Eigen::MatrixXd Weighed(const BottleneckRows& rows, const Mask& host_bound, double overlap,
                        const Eigen::ArrayXd& root_weight) {
  const Eigen::Index devices = rows.device.cols();
  Eigen::MatrixXd matrix(rows.device.rows(), devices + rows.host.cols());
  const Eigen::ArrayXd by_row = root_weight / rows.measured.array();
  const Eigen::ArrayXd device = host_bound.select(
      Eigen::ArrayXd::Constant(by_row.size(), 1 - overlap), Eigen::ArrayXd::Ones(by_row.size()));
  const Eigen::ArrayXd host = host_bound.cast<double>();
  matrix.leftCols(devices) = (device * by_row).matrix().asDiagonal() * rows.device;
  matrix.rightCols(rows.host.cols()) = (host * by_row).matrix().asDiagonal() * rows.host;
  return matrix;
}

Eigen::VectorXd Solve(const BottleneckRows& rows, const Mask& host_bound, double overlap,
                      const Eigen::ArrayXd& weights, const std::optional<BottleneckPrior>& prior) {
  const Eigen::ArrayXd root = weights.sqrt();
  const Eigen::MatrixXd data = Weighed(rows, host_bound, overlap, root);
  if (!prior) return SolveNonnegative(data, root.matrix());
  const Eigen::Index count = data.cols();
  const double strength = std::sqrt(prior->weight * static_cast<double>(data.rows()));
  Eigen::MatrixXd matrix(data.rows() + count, count);
  Eigen::VectorXd target(data.rows() + count);
  matrix.topRows(data.rows()) = data;
  matrix.bottomRows(count) = (strength * prior->scale.cwiseInverse()).asDiagonal();
  target.head(data.rows()) = root.matrix();
  target.tail(count) = strength * prior->value.cwiseQuotient(prior->scale);
  return SolveNonnegative(matrix, target);
}

}  // namespace

BottleneckFit FitBottleneck(const BottleneckRows& rows, double overlap,
                            const std::optional<BottleneckPrior>& prior, double start) {
  const Eigen::Index devices = rows.device.cols();
  const Eigen::VectorXd host_count = rows.host.rowwise().sum();
  Eigen::ArrayXd weights = Eigen::ArrayXd::Ones(rows.measured.size());
  Mask host_bound = Mask::Constant(rows.measured.size(), false);
  if (prior) {
    host_bound = (rows.host * prior->value.tail(rows.host.cols())).array() >
                 overlap * (rows.device * prior->value.head(devices)).array();
  }
  BottleneckFit best;
  best.error = std::numeric_limits<double>::infinity();
  int since = 0;
  for (int round = 0; round < kMostRounds; ++round) {
    const Eigen::VectorXd costs = Solve(rows, host_bound, overlap, weights, prior);
    const Eigen::ArrayXd device = (rows.device * costs.head(devices)).array();
    Eigen::ArrayXd host = (rows.host * costs.tail(rows.host.cols())).array();
    if (!prior && round == 0) {
      // All that is known of the host at this point: no row can spend more on it than the row's
      // energy.
      const double an_operation = start * (rows.measured.array() / host_count.array()).minCoeff();
      host = an_operation * host_count.array();
    }
    host_bound = host > overlap * device;
    const Eigen::ArrayXd predicted = device.max(host + (1 - overlap) * device);
    const Eigen::ArrayXd error = (predicted / rows.measured.array() - 1).abs();
    weights = error.max(kExact).inverse();
    weights /= weights.mean();
    if (round == 0) continue;
    if (error.mean() < best.error * (1 - 1e-5)) {
      best = {costs, error.mean()};
      since = 0;
    } else if (++since >= kPatience) {
      break;
    }
  }
  if (best.costs.size() == 0) best.costs = Eigen::VectorXd::Zero(devices + rows.host.cols());
  return best;
}

}  // namespace beryl::learn
