#include "learn/methods/law.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "learn/fit/least_squares.h"
#include "learn/methods/describe.h"
#include "learn/methods/method.h"

namespace beryl::learn {
namespace {

// Prior knowledge. Power supply and board lose a few percent on the way to a device. A busy desktop
// or workstation CPU draws 75 to 225 W more than an idle one.
constexpr double kLossPrior = 1.06;
constexpr double kLossPriorDeviation = 0.1;
constexpr double kBusyPrior = 1.5;  // watts per percent
constexpr double kBusyPriorDeviation = 0.75;
// The systematic error of meters, which repetition does not reduce. A term whose effect over the
// range of the data is smaller cannot be distinguished from drift.
constexpr double kSystematicError = 0.002;
constexpr double kLeastNoise = 0.003;     // of a single measurement
constexpr double kLeastDeviation = 1e-4;  // smaller deviations all weigh the same
constexpr int kMostRounds = 100;
constexpr int kNoiseRounds = 10;
constexpr double kSettled = 1e-8;
// A coefficient counts as measured if the data reduces its variance below this share of the
// prior's.
constexpr double kMeasuredShare = 0.5;

using Eigen::MatrixXd;
using Eigen::VectorXd;

double MedianOf(std::vector<double> values) {
  if (values.empty()) return kUnknown;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// One column for each coefficient, in joules.
struct Problem {
  MatrixXd terms;
  VectorXd joules;     // measured
  VectorXd taken;      // the part of `joules` that is already explained
  VectorXd prior;      // mean
  VectorXd precision;  // 1 / variance; 0: none
};

struct Solution {
  VectorXd value;
  VectorXd weights;  // of the rows, 1 on average
  MatrixXd inverse;  // of the weighted normal matrix, including the prior
  double noise = 0;  // variance of a row
  // The problem as last solved: every row divided by its energy.
  MatrixXd terms;
  VectorXd target;
};

// Least absolute relative deviations by reweighting. A row is divided by its measured or predicted
// value, whichever is larger: otherwise a reading that is far too low would outweigh all others.
Solution Solve(const Problem& problem, VectorXd expected) {
  const Eigen::Index lines = problem.terms.rows();
  Solution solution;
  solution.weights = VectorXd::Ones(lines);
  solution.noise = kLeastNoise * kLeastNoise;
  VectorXd off(lines);
  MatrixXd weighted(lines, problem.terms.cols());
  for (int round = 0; round < kMostRounds; ++round) {
    const Eigen::ArrayXd scale = problem.joules.cwiseMax(expected).array();
    solution.terms = problem.terms.array().colwise() / scale;
    solution.target = (problem.joules - problem.taken).array() / scale;
    weighted = solution.terms.array().colwise() * solution.weights.array();
    MatrixXd normal = solution.terms.transpose().lazyProduct(weighted);
    VectorXd side = weighted.transpose().lazyProduct(solution.target);
    normal.diagonal() += solution.noise * problem.precision;
    side += solution.noise * problem.precision.cwiseProduct(problem.prior);
    solution.inverse = PseudoInverse(normal);
    const VectorXd value = solution.inverse * side;
    const bool settled = round > 0 && (value - solution.value).norm() <= kSettled * value.norm();
    solution.value = value;
    if (settled) break;
    off.noalias() = solution.target - solution.terms.lazyProduct(value);
    solution.weights = off.array().abs().max(kLeastDeviation).inverse().matrix();
    solution.weights *= static_cast<double>(lines) / solution.weights.sum();
    expected.noalias() = problem.terms.lazyProduct(value) + problem.taken;
    // The noise only scales the priors and converges immediately.
    if (round < kNoiseRounds) {
      const VectorXd size = off.cwiseAbs();
      const double spread =
          std::max(kLeastNoise, 1.4826 * MedianOf({size.data(), size.data() + lines}));
      solution.noise = spread * spread;
    }
  }
  return solution;
}

// Standard deviation of a coefficient if the errors of rows in one group are correlated:
// measurements of one type of node in one model are not independent.
double GroupedDeviation(const Solution& solution, const std::vector<uint64_t>& groups,
                        Eigen::Index coefficient) {
  const VectorXd off = solution.target - solution.terms * solution.value;
  std::map<uint64_t, VectorXd> sums;
  for (Eigen::Index line = 0; line < off.size(); ++line) {
    auto [at, is_new] =
        sums.try_emplace(groups[static_cast<size_t>(line)], VectorXd::Zero(solution.terms.cols()));
    at->second += solution.weights[line] * off[line] * solution.terms.row(line).transpose();
  }
  MatrixXd spread = MatrixXd::Zero(solution.terms.cols(), solution.terms.cols());
  for (const auto& [group, sum] : sums) spread += sum * sum.transpose();
  if (sums.size() > 1) {
    spread *= static_cast<double>(sums.size()) / static_cast<double>(sums.size() - 1);
  }
  const MatrixXd variance = solution.inverse * spread * solution.inverse;
  return std::sqrt(std::max(0.0, variance(coefficient, coefficient)));
}

class LawFitter {
 public:
  LawFitter(const Measurements& all, const std::vector<uint32_t>& rows, const LawTerms& terms)
      : all_(all), rows_(rows), terms_(terms) {}

  EnergyLaw Fit() {
    EnergyLaw law;
    if (terms_.busy) {
      law.busy_reference = MedianOf(ColumnOf(Feature::kCpu));
      law.busy_w = BusyTerm(law.busy_reference);
    }
    Problem problem = MakeProblem(law);
    Solution solution = Solve(problem, TypicalJoules());
    // Power cannot be negative: then the devices' own meters already include everything.
    const Eigen::Index rest = problem.terms.cols() - 1;
    const bool no_rest = rest > 0 && solution.value[rest] < 0;
    if (no_rest) {
      problem.terms.col(rest).setZero();
      solution = Solve(problem, TypicalJoules());
    }
    Eigen::Index column = 0;
    auto take = [&](double prior_deviation) {
      LawTerm term;
      term.value = solution.value[column];
      term.deviation = std::sqrt(solution.noise * solution.inverse(column, column));
      term.measured = prior_deviation == 0 || term.deviation < kMeasuredShare * prior_deviation;
      ++column;
      return term;
    };
    if (terms_.gpu_energy) law.gpu_energy = take(kLossPriorDeviation);
    if (terms_.cpu_energy) law.cpu_energy = take(kLossPriorDeviation);
    law.rest_w = no_rest ? LawTerm{0, 0, false} : take(0);
    return law;
  }

 private:
  const MeasuredRow& Row(size_t line) const { return all_.rows[rows_[line]]; }
  // Joules from time alone, at the median power of the rows.
  VectorXd TypicalJoules() const {
    std::vector<double> watts = ColumnOf(Feature::kSeconds);
    const VectorXd seconds =
        Eigen::Map<VectorXd>(watts.data(), static_cast<Eigen::Index>(watts.size()));
    for (size_t line = 0; line < watts.size(); ++line)
      watts[line] = Row(line).measured / watts[line];
    return MedianOf(std::move(watts)) * seconds;
  }

  std::vector<double> ColumnOf(Feature feature) const {
    std::vector<double> values;
    for (size_t line = 0; line < rows_.size(); ++line) {
      values.push_back(At(Row(line).features, feature));
    }
    return values;
  }

  // With `free_busy`, the busy term is a free coefficient. Otherwise the busy term of `law` is
  // subtracted from the target.
  Problem MakeProblem(const EnergyLaw& law, bool free_busy = false) const {
    const auto lines = static_cast<Eigen::Index>(rows_.size());
    const auto columns = static_cast<Eigen::Index>(terms_.needed() + (free_busy ? 1 : 0));
    Problem problem;
    problem.terms.resize(lines, columns);
    problem.joules.resize(lines);
    problem.taken.resize(lines);
    for (Eigen::Index line = 0; line < lines; ++line) {
      const MeasuredRow& row = Row(static_cast<size_t>(line));
      const double seconds = At(row.features, Feature::kSeconds);
      const double busy = terms_.busy ? At(row.features, Feature::kCpu) - law.busy_reference : 0;
      Eigen::Index column = 0;
      auto add = [&](double value) { problem.terms(line, column++) = value; };
      if (terms_.gpu_energy) add(At(row.features, Feature::kGpuEnergy));
      if (terms_.cpu_energy) add(At(row.features, Feature::kCpuEnergy));
      add(seconds);
      if (free_busy) add(busy * seconds);
      problem.joules[line] = row.measured;
      problem.taken[line] = law.busy_w ? law.busy_w->value * busy * seconds : 0;
    }
    problem.prior = VectorXd::Zero(columns);
    problem.precision = VectorXd::Zero(columns);
    const Eigen::Index devices = (terms_.gpu_energy ? 1 : 0) + (terms_.cpu_energy ? 1 : 0);
    problem.prior.head(devices).setConstant(kLossPrior);
    problem.precision.head(devices).setConstant(1 / (kLossPriorDeviation * kLossPriorDeviation));
    return problem;
  }

  // Combines the data's estimate of a busy CPU's power with the prior.
  LawTerm BusyTerm(double reference) const {
    LawTerm term{kBusyPrior, kBusyPriorDeviation, false};
    const std::vector<double> cpu = ColumnOf(Feature::kCpu);
    double mean = 0;
    for (const double value : cpu) mean += value / static_cast<double>(cpu.size());
    const double power = TypicalJoules()[0] / At(Row(0).features, Feature::kSeconds);
    double variance = 0;
    for (const double value : cpu) {
      variance += (value - mean) * (value - mean) / static_cast<double>(cpu.size());
    }
    if (!(variance > 0) || rows_.size() <= terms_.needed() + 1) return term;
    EnergyLaw without;
    without.busy_reference = reference;
    const Problem problem = MakeProblem(without, true);
    const Solution solution = Solve(problem, TypicalJoules());
    const Eigen::Index last = problem.terms.cols() - 1;
    std::vector<uint64_t> groups;
    for (size_t line = 0; line < rows_.size(); ++line) {
      const MeasuredRow& row = Row(line);
      groups.push_back((uint64_t{row.model} << 32) | row.type);
    }
    const double scatter = GroupedDeviation(solution, groups, last);
    const double drift = kSystematicError * power / std::sqrt(variance);
    const double found = 1 / (scatter * scatter + drift * drift);
    const double prior = 1 / (kBusyPriorDeviation * kBusyPriorDeviation);
    term.value =
        std::max(0.0, (found * solution.value[last] + prior * kBusyPrior) / (found + prior));
    term.deviation = 1 / std::sqrt(found + prior);
    term.measured = term.deviation < kMeasuredShare * kBusyPriorDeviation;
    return term;
  }

  const Measurements& all_;
  const std::vector<uint32_t>& rows_;
  LawTerms terms_;
};

}  // namespace

LawTerms TermsOf(const std::vector<Feature>& known) {
  LawTerms terms;
  terms.gpu_energy = Has(known, Feature::kGpuEnergy);
  terms.cpu_energy = Has(known, Feature::kCpuEnergy);
  terms.busy = Has(known, Feature::kCpu) && !terms.cpu_energy;
  return terms;
}

std::vector<Feature> FeaturesOf(const LawTerms& terms) {
  std::vector<Feature> features;
  if (terms.busy) features.push_back(Feature::kCpu);
  features.push_back(Feature::kSeconds);
  if (terms.gpu_energy) features.push_back(Feature::kGpuEnergy);
  if (terms.cpu_energy) features.push_back(Feature::kCpuEnergy);
  return features;
}

EnergyLaw FitLaw(const Measurements& all, const std::vector<uint32_t>& rows,
                 const LawTerms& terms) {
  return LawFitter(all, rows, terms).Fit();
}

double Apply(const EnergyLaw& law, const FeatureRow& features) {
  double watts = law.rest_w.value;
  if (law.busy_w) {
    watts += law.busy_w->value * (At(features, Feature::kCpu) - law.busy_reference);
  }
  double joules = watts * At(features, Feature::kSeconds);
  if (law.gpu_energy) joules += law.gpu_energy->value * At(features, Feature::kGpuEnergy);
  if (law.cpu_energy) joules += law.cpu_energy->value * At(features, Feature::kCpuEnergy);
  return joules;
}

double Doubt(const EnergyLaw& law, const FeatureRow& features) {
  if (!law.busy_w) return 0;
  return law.busy_w->deviation * std::abs(At(features, Feature::kCpu) - law.busy_reference) *
         At(features, Feature::kSeconds);
}

void Members(auto& io, As<LawTerm> auto& term) {
  io("value", term.value);
  io("deviation", term.deviation);
  io("measured", term.measured);
  io.Require(term.deviation >= 0, "deviation", "must be 0 or more");
}

void Members(auto& io, As<EnergyLaw> auto& law) {
  io("gpu_energy", law.gpu_energy, false);
  io("cpu_energy", law.cpu_energy, false);
  io("rest_w", law.rest_w);
  io("busy_w", law.busy_w, false);
  const bool busy = law.busy_w.has_value();
  if (io.kReads || busy || law.busy_reference != 0) {
    io("busy_reference_pct", law.busy_reference, busy);
  }
}

namespace {

Status Check(FeatureSet set, const std::vector<Feature>& known) {
  if (set == FeatureSet::kModel) {
    return MisuseError(
        "the law uses features of a run (time and the device's energy); for features of "
        "the model alone choose another method, such as end2end",
        {"features", "method"});
  }
  if (!Has(known, Feature::kSeconds)) {
    return InvalidError("the law needs the time of every node (times_mean)");
  }
  if (!Has(known, Feature::kGpuEnergy) && !Has(known, Feature::kCpuEnergy)) {
    return InvalidError(
        "the law needs the energy of the computing device for every node (gpu_energy_mean or "
        "cpu_energy_mean)");
  }
  return {};
}

Status Fit(const FitInput& input, EnergyModel& model) {
  const LawTerms terms = TermsOf(input.known);
  model.features = FeaturesOf(terms);
  const auto rows = UsableRows(input.all, input.models, model.features);
  if (rows.size() < terms.needed()) {
    return InvalidError(
        fmt::format("the law has {} terms and needs as many measurements; there are {}",
                    terms.needed(), rows.size()));
  }
  model.learned = FitLaw(input.all, rows, terms);
  return {};
}

std::vector<double> Predict(const EnergyModel& model, const Measurements& all,
                            const ModelChoice& models, std::vector<Uncertainty>*) {
  return ByNode(all, models,
                [&](const MeasuredRow& row) { return Apply(*model.law(), row.features); });
}

struct Part {
  void operator()(auto& io, auto& model) const {
    auto& law = LearnedAs<EnergyLaw>(model);
    io("law", law);
    io("described", model.beside, false);
    // Requires every feature that the law multiplies from any data to be predicted.
    const auto need = [&](Feature feature, bool used) {
      io.Require(!used || Has(model.features, feature), "features",
                 fmt::format("lacks '{}', which the law uses", LookOf(feature).column));
    };
    need(Feature::kSeconds, true);
    need(Feature::kGpuEnergy, law.gpu_energy.has_value());
    need(Feature::kCpuEnergy, law.cpu_energy.has_value());
    need(Feature::kCpu, law.busy_w.has_value());
  }
};

}  // namespace

const MethodSteps kLawSteps = {Check, Fit, Predict, ReadPart<Part>, WritePart<Part>};

}  // namespace beryl::learn
