#include "learn/describe/shape_correction.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>

namespace beryl::learn {
namespace {

// Prior standard deviation of a measured type's constant offset from its group.
constexpr double kTypeOffset = 0.05;
constexpr std::array<double, 5> kLengths = {0.15, 0.3, 0.6, 1.2, 2.4};
constexpr std::array<double, 5> kSpreads = {0.01, 0.02, 0.04, 0.08, 0.16};
constexpr std::array<double, 5> kNoises = {0.0025, 0.005, 0.01, 0.02, 0.04};
constexpr double kJitter = 1e-12;  // keeps the matrix positive definite

using Point = ShapeCorrection::Point;

double Distance(const std::array<double, 4>& a, const std::array<double, 4>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double step = std::log(a[i] / b[i]);
    sum += step * step;
  }
  return std::sqrt(sum);
}

// Matern 3/2 kernel; half of it is shared by all types of the group.
double Likeness(double distance, double length, bool same_type) {
  const double at = std::sqrt(3.0) * distance / length;
  return (1 + at) * std::exp(-at) * (same_type ? 1 : 0.5);
}

// Without noise.
double Covariance(double distance, double length, double spread, bool same_type) {
  return spread * spread * Likeness(distance, length, same_type) +
         (same_type ? kTypeOffset * kTypeOffset : 0);
}

// Samples of one shape.
struct Group {
  const CorrectionSample* shape = nullptr;
  std::vector<const CorrectionSample*> samples;
};

std::vector<Group> GroupsOf(const std::vector<CorrectionSample>& samples) {
  std::vector<Group> groups;
  for (const CorrectionSample& sample : samples) {
    auto at = std::find_if(groups.begin(), groups.end(), [&](const Group& group) {
      return group.shape->type == sample.type && group.shape->sizes == sample.sizes;
    });
    if (at == groups.end()) at = groups.insert(groups.end(), Group{&sample, {}});
    at->samples.push_back(&sample);
  }
  return groups;
}

// Samples merged by shape, and the likelihood of their differences.
struct Merged {
  Eigen::VectorXd mean;
  Eigen::VectorXd variance;
  double log_likelihood = 0;
};

Merged Merge(const std::vector<Group>& groups, double noise) {
  Merged merged;
  merged.mean.resize(static_cast<Eigen::Index>(groups.size()));
  merged.variance.resize(static_cast<Eigen::Index>(groups.size()));
  for (size_t i = 0; i < groups.size(); ++i) {
    double weights = 0;
    double sum = 0;
    double logs = 0;
    for (const CorrectionSample* sample : groups[i].samples) {
      const double weight = 1 / (noise * noise + sample->variance);
      weights += weight;
      sum += weight * sample->correction;
      logs += std::log(weight);
    }
    const double mean = sum / weights;
    double off = 0;
    for (const CorrectionSample* sample : groups[i].samples) {
      const double weight = 1 / (noise * noise + sample->variance);
      off += weight * (sample->correction - mean) * (sample->correction - mean);
    }
    merged.mean[static_cast<Eigen::Index>(i)] = mean;
    merged.variance[static_cast<Eigen::Index>(i)] = 1 / weights;
    merged.log_likelihood += 0.5 * (logs - std::log(weights) - off);
  }
  return merged;
}

}  // namespace

ShapeCorrection FitCorrection(const std::vector<CorrectionSample>& samples) {
  const std::vector<Group> groups = GroupsOf(samples);
  const auto count = static_cast<Eigen::Index>(groups.size());
  Eigen::MatrixXd distance(count, count);
  Eigen::MatrixXd offset(count, count);
  for (Eigen::Index i = 0; i < count; ++i) {
    for (Eigen::Index j = 0; j < count; ++j) {
      const CorrectionSample& a = *groups[static_cast<size_t>(i)].shape;
      const CorrectionSample& b = *groups[static_cast<size_t>(j)].shape;
      distance(i, j) = Distance(a.sizes, b.sizes);
      offset(i, j) = a.type == b.type ? 1 : 0;
    }
  }
  std::array<Merged, kNoises.size()> merged;
  for (size_t i = 0; i < kNoises.size(); ++i) merged[i] = Merge(groups, kNoises[i]);

  ShapeCorrection best;
  double most = -std::numeric_limits<double>::infinity();
  size_t best_noise = 0;
  for (const double length : kLengths) {
    const Eigen::MatrixXd likeness = distance.binaryExpr(
        offset, [&](double far, double same) { return Likeness(far, length, same > 0); });
    for (const double spread : kSpreads) {
      const Eigen::MatrixXd covariance =
          spread * spread * likeness + kTypeOffset * kTypeOffset * offset;
      for (size_t noise = 0; noise < kNoises.size(); ++noise) {
        Eigen::MatrixXd with_noise = covariance;
        with_noise.diagonal() += merged[noise].variance;
        with_noise.diagonal().array() += kJitter;
        const Eigen::LLT<Eigen::MatrixXd> factor(with_noise);
        if (factor.info() != Eigen::Success) continue;
        const Eigen::VectorXd solved = factor.matrixL().solve(merged[noise].mean);
        const Eigen::MatrixXd& lower = factor.matrixLLT();
        const double likelihood = merged[noise].log_likelihood - 0.5 * solved.squaredNorm() -
                                  lower.diagonal().array().log().sum();
        if (likelihood <= most) continue;
        most = likelihood;
        best_noise = noise;
        best.length = length;
        best.spread = spread;
        best.noise = kNoises[noise];
      }
    }
  }
  for (Eigen::Index i = 0; i < count; ++i) {
    const CorrectionSample& shape = *groups[static_cast<size_t>(i)].shape;
    best.points.push_back(
        {shape.type, shape.sizes, merged[best_noise].mean[i], merged[best_noise].variance[i]});
  }
  return best;
}

CorrectionModel::CorrectionModel(const ShapeCorrection& correction) : correction_(&correction) {
  const auto& points = correction.points;
  const auto count = static_cast<Eigen::Index>(points.size());
  if (count == 0) return;
  Eigen::MatrixXd covariance(count, count);
  Eigen::VectorXd mean(count);
  for (Eigen::Index i = 0; i < count; ++i) {
    const Point& a = points[static_cast<size_t>(i)];
    mean[i] = a.correction;
    for (Eigen::Index j = 0; j <= i; ++j) {
      const Point& b = points[static_cast<size_t>(j)];
      covariance(i, j) = covariance(j, i) = Covariance(
          Distance(a.sizes, b.sizes), correction.length, correction.spread, a.type == b.type);
    }
    covariance(i, i) += a.variance + kJitter;
  }
  const Eigen::LLT<Eigen::MatrixXd> factor(covariance);
  factor_ = factor.matrixL();
  weights_ = factor.solve(mean);
}

CorrectionModel::Answer CorrectionModel::Ask(const std::string& type,
                                             const std::array<double, 4>& sizes) const {
  const auto& points = correction_->points;
  Answer answer;
  answer.distance = std::numeric_limits<double>::infinity();
  bool measured = false;  // this type, at any shape
  Eigen::VectorXd likeness(static_cast<Eigen::Index>(points.size()));
  for (size_t i = 0; i < points.size(); ++i) {
    const double distance = Distance(sizes, points[i].sizes);
    answer.distance = std::min(answer.distance, distance);
    measured = measured || points[i].type == type;
    likeness[static_cast<Eigen::Index>(i)] =
        Covariance(distance, correction_->length, correction_->spread, points[i].type == type);
  }
  answer.correction = likeness.dot(weights_);
  const Eigen::VectorXd solved = factor_.triangularView<Eigen::Lower>().solve(likeness);
  // Types of a group do the same work with kernels of the same library. One that was never measured
  // may get another kernel, as another shape may, so it is off by as much as shapes are.
  const double offset = measured ? kTypeOffset : correction_->spread;
  const double prior = correction_->spread * correction_->spread + offset * offset;
  answer.deviation = std::sqrt(std::max(0.0, prior - solved.squaredNorm()));
  return answer;
}

}  // namespace beryl::learn
