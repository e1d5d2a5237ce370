// A prediction compared with a budget.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "analyze/analyze.h"
#include "base/text.h"
#include "types/find_nodes.h"

namespace beryl::analyze {
namespace {

constexpr size_t kNearest = 3;
constexpr size_t kMostPaths = 20;

Phase PhaseOf(RunPhase phase) {
  if (phase == RunPhase::kBackward) return Phase::kBackward;
  return phase == RunPhase::kOptimizer ? Phase::kOptimizer : Phase::kForward;
}

class PredictionChecker {
 public:
  explicit PredictionChecker(const DescribedPrediction& prediction)
      : prediction_(prediction), description_(prediction.description) {}

  BudgetVerdict Check(const BudgetLine& line) const {
    BudgetVerdict verdict;
    verdict.budget = line;
    const std::vector<NodeId> found = Find(line, verdict);
    if (found.empty()) {
      verdict.reason = !verdict.matched.empty() || line.whole_run
                           ? "nothing of it runs in that phase"
                           : "no path matches the pattern";
      if (verdict.matched.empty() && !line.whole_run) {
        verdict.nearest = NearPaths(description_.tree, line.pattern, kNearest);
      }
      return verdict;
    }
    double joules = 0;
    double high = 0;
    for (const NodeId node : found) {
      joules += prediction_.energy.total[node];
      if (node < prediction_.energy.high.size()) high += prediction_.energy.high[node];
    }
    const double whole = prediction_.energy.total[0];
    verdict.energy = IfKnown<Joules>(joules);
    if (whole > 0) verdict.share = joules / whole;
    const double value = line.limit_energy ? joules : verdict.share.value_or(kUnknown);
    const double limit =
        line.limit_energy ? line.limit_energy->value : line.limit_share.value_or(0);
    if (!std::isfinite(value)) {
      verdict.reason = "its energy is unknown";
      return verdict;
    }
    verdict.passed = value <= limit;
    if (!verdict.passed) {
      verdict.reason = line.limit_energy
                           ? fmt::format("{} over", FormatJoules(value - limit))
                           : fmt::format("{} of the whole over", FormatPercent(value - limit));
    } else if (line.limit_energy && high > limit) {
      verdict.reason = fmt::format("predicted; up to {} is expected", FormatJoules(high));
    }
    return verdict;
  }

 private:
  // The topmost nodes that a line means.
  std::vector<NodeId> Find(const BudgetLine& line, BudgetVerdict& verdict) const {
    const ModelTree& tree = description_.tree;
    const bool phases = description_.nodes[0].phase == RunPhase::kAll;
    const PathPattern pattern(line.pattern);
    std::vector<NodeId> found;
    std::vector<bool> met(tree.size(), line.whole_run);
    for (NodeId node = 0; node < tree.size(); ++node) {
      const TreeNode& of = tree.nodes[node];
      if (node > 0 && !met[node]) met[node] = met[of.parent] || Matches(pattern, node, phases);
      const bool is_top = met[node] && (node == 0 || line.whole_run || !met[of.parent]);
      if (is_top && !line.whole_run) {
        ++verdict.matched_count;
        if (verdict.matched.size() < kMostPaths) verdict.matched.push_back(NodePath(tree, node));
      }
      if (!met[node]) continue;
      const RunPhase phase = description_.nodes[node].phase;
      // The root of several phases is of none of them.
      const bool is_wanted =
          !line.phase || (phase != RunPhase::kAll && PhaseOf(phase) == *line.phase);
      const bool is_inside = !found.empty() && node < tree.nodes[found.back()].end;
      if (is_wanted && !is_inside) found.push_back(node);
    }
    return found;
  }

  // Paths may leave the phase out: "encoder/layer.0" is in all of them.
  bool Matches(const PathPattern& pattern, NodeId node, bool phases) const {
    const std::string path = NodePath(description_.tree, node);
    if (pattern.Matches(path)) return true;
    const size_t slash = path.find('/');
    return phases && slash != std::string::npos && pattern.Matches(path.substr(slash + 1));
  }

  const DescribedPrediction& prediction_;
  const Description& description_;
};

}  // namespace

std::vector<BudgetVerdict> CheckBudget(const std::vector<BudgetLine>& budget,
                                       const DescribedPrediction& prediction) {
  const PredictionChecker checker(prediction);
  std::vector<BudgetVerdict> verdicts;
  verdicts.reserve(budget.size());
  for (const BudgetLine& line : budget) verdicts.push_back(checker.Check(line));
  return verdicts;
}

}  // namespace beryl::analyze
