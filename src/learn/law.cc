#include "learn/law.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "learn/least_squares.h"

namespace beryl::learn {
namespace {

// What is known before any measurement. A supply and a board lose some percent on the way to a
// device; a desktop or workstation CPU takes 75 to 225 W more fully busy than idle.
constexpr double kLossPrior = 1.06;
constexpr double kLossPriorDeviation = 0.1;
constexpr double kBusyPrior = 1.5;  // watts for each percent
constexpr double kBusyPriorDeviation = 0.75;
// Meters are not better than this, however often they are asked: a term whose effect over the
// spread of the data is smaller cannot be told from their drift.
constexpr double kSystematicError = 0.002;
constexpr double kLeastNoise = 0.003;     // of a single measurement
constexpr double kLeastDeviation = 1e-4;  // below this, deviations weigh the same
constexpr int kMostRounds = 100;
constexpr int kNoiseRounds = 10;
constexpr double kSettled = 1e-8;
// A coefficient counts as measured where data leaves less than this share of the prior's doubt.
constexpr double kMeasuredShare = 0.5;

using Eigen::MatrixXd;
using Eigen::VectorXd;

double MedianOf(std::vector<double> values) {
  if (values.empty()) return kUnknown;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// A column for each coefficient, in joules.
struct Problem {
  MatrixXd terms;
  VectorXd joules;     // measured
  VectorXd taken;      // of them, what is explained already
  VectorXd prior;      // mean
  VectorXd precision;  // 1 / variance; 0: none
};

struct Solution {
  VectorXd value;
  VectorXd weights;  // of the lines, 1 on average
  MatrixXd inverse;  // of the weighted normal matrix, prior included
  double noise = 0;  // variance of a line
  // The problem as it was solved last: every line divided by its energy.
  MatrixXd terms;
  VectorXd target;
};

// Least absolute relative deviations by reweighting. A line is divided by what was measured or what
// is predicted, whichever is more: divided by a reading that is far too low, it would outweigh all
// others.
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
    // It only weighs the priors, and settles at once.
    if (round < kNoiseRounds) {
      const VectorXd size = off.cwiseAbs();
      const double spread =
          std::max(kLeastNoise, 1.4826 * MedianOf({size.data(), size.data() + lines}));
      solution.noise = spread * spread;
    }
  }
  return solution;
}

// Standard deviation of a coefficient where lines of one group err together: measurements of one
// type of node in one model are not independent.
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
    // Nothing in a box gives energy back: then everything is in the devices' own meters.
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
  const Measurement& Row(size_t line) const { return all_.rows[rows_[line]]; }
  // Joules by time alone, at the power that half of the lines stay below.
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

  // With `free_busy`, the busy term is a coefficient to be found; else what the law says of it is
  // taken off the target.
  Problem MakeProblem(const EnergyLaw& law, bool free_busy = false) const {
    const auto lines = static_cast<Eigen::Index>(rows_.size());
    const auto columns = static_cast<Eigen::Index>(terms_.needed() + (free_busy ? 1 : 0));
    Problem problem;
    problem.terms.resize(lines, columns);
    problem.joules.resize(lines);
    problem.taken.resize(lines);
    for (Eigen::Index line = 0; line < lines; ++line) {
      const Measurement& row = Row(static_cast<size_t>(line));
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

  // What the data says of the power of a busy CPU, weighed against what is known of CPUs.
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
      const Measurement& row = Row(line);
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

}  // namespace beryl::learn
