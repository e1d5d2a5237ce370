#include "learn/describe/operation_costs.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "learn/describe/bottleneck_fit.h"

namespace beryl::learn {
namespace {

constexpr auto kDevice = static_cast<Eigen::Index>(3 * kDeviceKindCount);
constexpr auto kHost = static_cast<Eigen::Index>(kHostKindCount);
constexpr auto kGroups = static_cast<Eigen::Index>(kPrimitiveGroups);

// Kernels are counted in units of 1e6, operations and bytes in units of 1e12, so that their costs
// have similar magnitudes whatever unit is measured.
constexpr double kKernelUnit = 1e-6;
constexpr double kWorkUnit = 1e-12;

// Candidates for how much device work overlaps with the host; the best one is used.
constexpr std::array<double, 5> kOverlaps = {0.3, 0.5, 0.7, 0.9, 0.98};
constexpr double kKindPrior = 1e-6;    // of the pooled costs, relative to one row
constexpr double kParentPrior = 1e-5;  // for parents: of the costs learned from all rows

// Prior doubts: relative standard deviations that are stated, not fitted.
constexpr double kDoubtPerDistance = 0.03;  // for each factor of e from the nearest measured shape
constexpr double kDoubtBeyond = 0.05;       // added for each factor of e beyond a factor of two
constexpr double kNear = 0.7;
constexpr double kOwnDoubt = 0.05;  // for operations outside every primitive
constexpr double kParentNoise = 0.01;
constexpr double kUnknownDistance = 3;  // for a group that was never measured

// For each kind: kernels, operations, bytes.
Eigen::VectorXd DeviceUnits() {
  return Eigen::Vector3d(kKernelUnit, kWorkUnit, kWorkUnit).replicate<kDeviceKindCount, 1>();
}

Eigen::VectorXd DeviceRow(const DeviceWork& work) {
  return Eigen::Map<const Eigen::VectorXd>(work.data(), kDevice).cwiseProduct(DeviceUnits());
}

Eigen::VectorXd HostRow(const HostWork& work) {
  return kKernelUnit * Eigen::Map<const Eigen::VectorXd>(work.data(), kHost);
}

DeviceWork AllWork(const NodeOperations& node, const std::vector<Primitive>& primitives) {
  DeviceWork all = node.own;
  for (const auto& [index, times] : node.primitives) Add(all, primitives[index].device, times);
  return all;
}

KindCosts CostsOf(const Eigen::VectorXd& device, const Eigen::VectorXd& host) {
  KindCosts costs;
  const Eigen::VectorXd of = device.cwiseProduct(DeviceUnits());
  Eigen::Index at = 0;
  for (DeviceCost& cost : costs.device) {
    cost = {of[at], of[at + 1], of[at + 2]};
    at += 3;
  }
  Eigen::Map<Eigen::VectorXd>(costs.host.data(), kHost) = host * kKernelUnit;
  return costs;
}

double DeviceCostOf(const KindCosts& costs, const DeviceWork& work) {
  double sum = 0;
  for (size_t kind = 0; kind < kDeviceKindCount; ++kind) {
    const DeviceCost& cost = costs.device[kind];
    sum += cost.kernel * work[3 * kind] + cost.flop * work[3 * kind + 1] +
           cost.byte * work[3 * kind + 2];
  }
  return sum;
}

double HostCostOf(const KindCosts& costs, const HostWork& work) {
  double sum = 0;
  for (size_t kind = 0; kind < kHostKindCount; ++kind) sum += costs.host[kind] * work[kind];
  return sum;
}

struct KindFit {
  Eigen::VectorXd costs;
  Eigen::VectorXd scale;
  double error = std::numeric_limits<double>::infinity();
  double overlap = 0;
};

// Fits all rows and all operations, by kind. It first fits a few pooled costs, then all costs, with
// the pooled ones as the prior where the data cannot tell them apart.
KindFit FitKinds(const BottleneckRows& rows, double overlap) {
  constexpr Eigen::Index kPooled = 6;
  BottleneckRows pooled{Eigen::MatrixXd::Zero(rows.device.rows(), kPooled),
                        rows.host.rowwise().sum(), rows.measured};
  std::array<std::vector<Eigen::Index>, kPooled> columns = {{{1}, {2}, {4}, {5}, {}, {}}};
  for (Eigen::Index kind = 2; kind < static_cast<Eigen::Index>(kDeviceKindCount); ++kind) {
    columns[4].push_back(3 * kind + 1);
    columns[5].push_back(3 * kind + 2);
  }
  for (Eigen::Index i = 0; i < kPooled; ++i) {
    for (const Eigen::Index column : columns[static_cast<size_t>(i)]) {
      pooled.device.col(i) += rows.device.col(column);
    }
  }
  BottleneckFit few;
  few.error = std::numeric_limits<double>::infinity();
  for (const double start : {0.5, 0.8, 1.0}) {
    BottleneckFit fit = FitBottleneck(pooled, overlap, std::nullopt, start);
    if (fit.error < few.error || few.costs.size() == 0) few = std::move(fit);
  }
  const double an_operation = few.costs[kPooled];
  const double a_byte = few.costs[5];
  BottleneckPrior prior;
  prior.weight = kKindPrior;
  prior.value = Eigen::VectorXd::Zero(kDevice + kHost);
  for (Eigen::Index i = 0; i < kPooled; ++i) {
    for (const Eigen::Index column : columns[static_cast<size_t>(i)]) {
      prior.value[column] = few.costs[i];
    }
  }
  prior.value.tail(kHost).setConstant(an_operation);
  // Plausible costs: a kernel costs as much as an operation of the host, a floating-point operation
  // as much as eight bytes.
  Eigen::VectorXd plausible(kDevice + kHost);
  for (Eigen::Index i = 0; i < kDevice; i += 3) {
    plausible.segment(i, 3) << an_operation, 8 * a_byte, a_byte;
  }
  for (const Eigen::Index product : {Eigen::Index{0}, Eigen::Index{1}}) {
    plausible[3 * product] = 2 * an_operation;
    plausible[3 * product + 1] = few.costs[2 * product] + 1e-3 * few.costs[0];
  }
  plausible.tail(kHost).setConstant(an_operation);
  prior.scale = prior.value.cwiseMax(0.3 * plausible).array() +
                1e-9 * (1 + rows.measured.cwiseAbs().maxCoeff());
  const BottleneckFit fit = FitBottleneck(rows, overlap, prior);
  return {fit.costs, prior.scale, fit.error, overlap};
}

double Median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

// Fits how far primitives of each shape deviate from the cost of their kind.
void FitCorrections(const std::vector<CostRow>& rows, const std::vector<Primitive>& primitives,
                    OperationCosts& costs) {
  struct Sample {
    uint8_t group = 0;
    double host_share = 0;
    CorrectionSample sample;
  };
  std::vector<Sample> samples;
  std::vector<double> jitters;
  for (const CostRow& row : rows) {
    if (!row.operations->primitive) continue;
    const Primitive& primitive = primitives[row.operations->primitives[0].first];
    const double device = DeviceCostOf(costs.alone, primitive.device);
    const double host = HostCostOf(costs.alone, primitive.host);
    const double idle = std::max(0.0, host - costs.overlap * device);
    if (!(device + idle > 0)) continue;
    const double runs = row.operations->primitives[0].second;
    Sample sample;
    sample.group = primitive.group;
    sample.host_share = idle > 0 ? host / (device + idle) : 0;
    sample.sample = {primitive.type, primitive.sizes,
                     std::log(row.measured / runs / (device + idle)), 0};
    if (sample.host_share > 0) {
      jitters.push_back(std::abs(sample.sample.correction) / sample.host_share);
    }
    samples.push_back(std::move(sample));
  }
  // The median absolute value, scaled to a standard deviation.
  if (jitters.size() > 4) costs.host_jitter = 1.4826 * Median(std::move(jitters));
  for (uint8_t group = 0; group < kPrimitiveGroups; ++group) {
    std::vector<CorrectionSample> of_group;
    for (Sample& sample : samples) {
      if (sample.group != group) continue;
      const double jitter = costs.host_jitter * sample.host_share;
      sample.sample.variance = jitter * jitter;
      of_group.push_back(sample.sample);
    }
    if (of_group.size() <= 3) continue;
    costs.corrections[group] = FitCorrection(of_group);
    costs.unmeasured_spread = std::max(costs.unmeasured_spread, costs.corrections[group].spread);
  }
}

// Fits modules and models: their corrected primitives times a factor near 1; everything else stays
// near the costs learned from all rows.
void FitParents(const std::vector<CostRow>& rows, const std::vector<Primitive>& primitives,
                const KindFit& kinds, double unit, OperationCosts& costs) {
  const PreparedCosts prepared(costs);
  const CostModel model(prepared, primitives);
  std::vector<const CostRow*> parents;
  for (const CostRow& row : rows) {
    if (!row.operations->primitive) parents.push_back(&row);
  }
  if (parents.empty()) return;
  const auto count = static_cast<Eigen::Index>(parents.size());
  BottleneckRows fitted{Eigen::MatrixXd::Zero(count, kGroups + kDevice),
                        Eigen::MatrixXd::Zero(count, kHost), Eigen::VectorXd(count)};
  for (Eigen::Index i = 0; i < count; ++i) {
    const NodeOperations& node = *parents[static_cast<size_t>(i)]->operations;
    for (const auto& [index, times] : node.primitives) {
      fitted.device(i, primitives[index].group) += times * model.PrimitiveWithin(index) / unit;
    }
    fitted.device.row(i).tail(kDevice) = DeviceRow(node.own).transpose();
    fitted.host.row(i) = HostRow(node.host).transpose();
    fitted.measured[i] = parents[static_cast<size_t>(i)]->measured / unit;
  }
  BottleneckPrior prior;
  prior.weight = kParentPrior;
  prior.value.resize(kGroups + kDevice + kHost);
  prior.value << Eigen::VectorXd::Ones(kGroups), kinds.costs;
  prior.scale.resize(kGroups + kDevice + kHost);
  prior.scale << Eigen::VectorXd::Constant(kGroups, 0.05),
      0.3 * kinds.costs.cwiseMax(0.3 * kinds.scale);
  const Eigen::VectorXd found = FitBottleneck(fitted, costs.overlap, prior).costs;
  for (Eigen::Index i = 0; i < kGroups; ++i) {
    costs.group_factors[static_cast<size_t>(i)] = found[i];
  }
  costs.within = CostsOf(unit * found.segment(kGroups, kDevice), unit * found.tail(kHost));
}

}  // namespace

OperationCosts FitCosts(const std::vector<CostRow>& rows,
                        const std::vector<Primitive>& primitives) {
  const auto count = static_cast<Eigen::Index>(rows.size());
  BottleneckRows all{Eigen::MatrixXd(count, kDevice), Eigen::MatrixXd(count, kHost),
                     Eigen::VectorXd(count)};
  std::vector<double> measured;
  measured.reserve(rows.size());
  for (const CostRow& row : rows) measured.push_back(row.measured);
  const double unit = Median(measured);
  for (Eigen::Index i = 0; i < count; ++i) {
    const CostRow& row = rows[static_cast<size_t>(i)];
    all.device.row(i) = DeviceRow(AllWork(*row.operations, primitives)).transpose();
    all.host.row(i) = HostRow(row.operations->host).transpose();
    all.measured[i] = row.measured / unit;
  }
  KindFit best;
  for (const double overlap : kOverlaps) {
    KindFit fit = FitKinds(all, overlap);
    if (fit.error < best.error || best.costs.size() == 0) best = std::move(fit);
  }
  OperationCosts costs;
  costs.overlap = best.overlap;
  costs.alone = CostsOf(unit * best.costs.head(kDevice), unit * best.costs.tail(kHost));
  costs.within = costs.alone;
  costs.group_factors.fill(1);
  FitCorrections(rows, primitives, costs);
  FitParents(rows, primitives, best, unit, costs);
  return costs;
}

PreparedCosts::PreparedCosts(const OperationCosts& of) : costs(&of) {
  for (const ShapeCorrection& correction : of.corrections) corrections.emplace_back(correction);
}

CostModel::CostModel(const PreparedCosts& prepared, const std::vector<Primitive>& primitives)
    : costs_(*prepared.costs), corrections_(prepared.corrections), primitives_(primitives) {
  for (const Primitive& primitive : primitives) estimates_.push_back(Estimate(primitive));
}

CostModel::PrimitiveEstimate CostModel::Estimate(const Primitive& primitive) const {
  const double device = DeviceCostOf(costs_.alone, primitive.device);
  const double host = HostCostOf(costs_.alone, primitive.host);
  const double idle = std::max(0.0, host - costs_.overlap * device);
  CorrectionModel::Answer answer{0, costs_.unmeasured_spread, kUnknownDistance};
  double noise = 0.02;
  const CorrectionModel& correction = corrections_[primitive.group];
  if (!correction.empty()) {
    answer = correction.Ask(primitive.type, primitive.sizes);
    noise = costs_.corrections[primitive.group].noise;
  }
  PrimitiveEstimate estimate;
  // The correction applies to the device only as far as the device is the bottleneck.
  const double own = device > 0 ? std::max(0.0, 1 - idle / device) : 0;
  estimate.within = device * std::exp(answer.correction * own);
  estimate.alone.value = (device + idle) * std::exp(answer.correction);
  estimate.alone.noise =
      idle > 0 ? std::hypot(noise, costs_.host_jitter * host / (device + idle)) : noise;
  const double far = std::max(0.0, answer.distance - kNear);
  estimate.alone.doubt =
      std::hypot(answer.deviation, kDoubtPerDistance * answer.distance + kDoubtBeyond * far);
  estimate.alone.distance = answer.distance;
  return estimate;
}

double CostModel::PrimitiveWithin(uint32_t primitive) const {
  return costs_.group_factors[primitives_[primitive].group] * estimates_[primitive].within;
}

double CostModel::DeviceWithin(const DeviceWork& work) const {
  return DeviceCostOf(costs_.within, work);
}

double CostModel::HostWithin(const HostWork& work) const { return HostCostOf(costs_.within, work); }

CostModel::WholeParts CostModel::Parts(const NodeOperations& whole) const {
  WholeParts parts;
  parts.device = DeviceWithin(whole.own);
  for (const auto& [index, times] : whole.primitives) {
    parts.device += times * PrimitiveWithin(index);
  }
  parts.host = HostWithin(whole.host);
  const double idle = std::max(0.0, parts.host - costs_.overlap * parts.device);
  parts.idle_share = parts.host > 0 ? idle / parts.host : 0;
  return parts;
}

CostEstimate CostModel::Alone(const NodeOperations& node) const {
  if (node.primitive) {
    CostEstimate estimate = estimates_[node.primitives[0].first].alone;
    estimate.value *= node.primitives[0].second;
    return estimate;
  }
  const WholeParts parts = Parts(node);
  const double idle = parts.idle_share * parts.host;
  CostEstimate estimate;
  estimate.value = parts.device + idle;
  if (!(estimate.value > 0)) return estimate;
  // Doubts about one type have one cause, so they add up. Doubts about different types are
  // independent.
  std::map<std::string_view, double> doubt_of_type;
  for (const auto& [index, times] : node.primitives) {
    const double joules = times * PrimitiveWithin(index);
    doubt_of_type[primitives_[index].type] += joules * estimates_[index].alone.doubt;
    estimate.distance += joules * estimates_[index].alone.distance / estimate.value;
  }
  double doubts = 0;
  for (const auto& [type, doubt] : doubt_of_type) doubts += doubt * doubt;
  estimate.doubt = std::sqrt(doubts) / estimate.value;
  const double own = kOwnDoubt * DeviceWithin(node.own) / estimate.value;
  const double jitter = idle > 0 ? costs_.host_jitter * parts.host / estimate.value : 0;
  estimate.noise = std::sqrt(kParentNoise * kParentNoise + own * own + jitter * jitter);
  return estimate;
}

}  // namespace beryl::learn
