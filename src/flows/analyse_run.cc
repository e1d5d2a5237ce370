#include "flows/analyse_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/file.h"
#include "types/find_nodes.h"

namespace beryl::flows {
namespace {

constexpr size_t kMostFigures = 12;
constexpr size_t kNearPaths = 5;

Error NoSuchNode(const std::string& pattern, const ModelTree& tree) {
  const auto near = NearPaths(tree, pattern, kNearPaths);
  const std::string problem = fmt::format("node '{}': no such node", pattern);
  if (near.empty()) {
    return MisuseError(problem + "; beryl diagram shows the nodes there are", {"node"});
  }
  return MisuseError(fmt::format("{}; similar:\n  {}", problem, fmt::join(near, "\n  ")));
}

void FailIncomplete(const Provenance& provenance, std::vector<BudgetVerdict>& verdicts) {
  if (provenance.incomplete.empty()) return;
  for (BudgetVerdict& verdict : verdicts) {
    if (!verdict.passed) continue;
    verdict.passed = false;
    verdict.reason = "unknown: the input is incomplete";
  }
}

}  // namespace

OperationRanking RankRun(const AccountedRun& run, const analyze::RankingOptions& options) {
  const bool each = options.kind == OperationRanking::Kind::kTef;
  return analyze::Rank(run.input.ops, run.footprint, each ? run.built : run.folded, options);
}

Result<std::vector<BudgetLine>> ReadBudget(const std::string& file) {
  if (file.empty()) return std::vector<BudgetLine>();
  auto source = TRY(ByteSource::Open(file));
  return analyze::ReadBudget(source);
}

std::vector<BudgetVerdict> CheckBudget(const std::vector<BudgetLine>& budget,
                                       const AccountedRun& run, const AccountReport& report,
                                       bool allow_incomplete) {
  auto verdicts = analyze::CheckBudget(budget, run.input.ops, run.footprint, run.built, run.folded);
  if (!allow_incomplete) FailIncomplete(report.provenance, verdicts);
  return verdicts;
}

std::vector<BudgetVerdict> CheckBudget(const std::vector<BudgetLine>& budget,
                                       const Measurement& measured, bool allow_incomplete) {
  auto verdicts = analyze::CheckBudget(budget, measured, allow_incomplete);
  if (!allow_incomplete) FailIncomplete(measured.provenance, verdicts);
  return verdicts;
}

std::vector<BudgetVerdict> CheckBudget(const std::vector<BudgetLine>& budget,
                                       const DescribedPrediction& prediction) {
  return analyze::CheckBudget(budget, prediction);
}

Result<std::vector<EnergyDiagram>> DiagramsOf(const AccountedRun& run, const AccountReport& report,
                                              const DiagramRequest& request) {
  bool fold = request.fold;
  std::vector<NodeId> nodes = {0};
  if (!request.node.empty()) {
    nodes = FindNodes(fold ? run.folded.tree : run.built.tree, request.node);
    if (nodes.empty() && fold) {
      fold = false;
      nodes = FindNodes(run.built.tree, request.node);
    }
    if (nodes.empty()) return NoSuchNode(request.node, run.built.tree);
  }
  const TraceTree& built = fold ? run.folded : run.built;
  const auto& columns = fold ? report.folded.columns : report.tree.columns;
  if (nodes.size() > kMostFigures) {
    return MisuseError(
        fmt::format(
            "node '{}': matches {} nodes, the first are {} and {}; more than {} figures are not "
            "readable, name fewer",
            request.node, nodes.size(), NodePath(built.tree, nodes[0]),
            NodePath(built.tree, nodes[1]), kMostFigures),
        {"node"});
  }
  analyze::DiagramOptions options;
  options.phase = request.phase;
  analyze::DescribedFlows flows;
  if (run.model && !run.model->flows.empty()) {
    flows = {&run.built.tree, run.model->flows, fold ? run.folded_of : std::vector<NodeId>()};
    options.flows = &flows;
  }
  if (nodes.size() == 1) {
    return analyze::MakeDiagrams(run.input.ops, built, columns, nodes[0], request.depth, options);
  }
  std::vector<EnergyDiagram> diagrams;
  diagrams.reserve(nodes.size());
  for (const NodeId node : nodes) {
    diagrams.push_back(analyze::MakeDiagram(run.input.ops, built, columns, node, options));
  }
  return diagrams;
}

Result<Timeline> TimelineOf(const AccountedRun& run, const AccountReport& report,
                            const TimelineRequest& request) {
  analyze::LayerChoice choice;
  choice.level = request.level;
  if (!request.node.empty()) {
    const auto nodes = FindNodes(run.built.tree, request.node);
    if (nodes.empty()) return NoSuchNode(request.node, run.built.tree);
    choice.node = nodes.front();
  }
  account::TimelineOptions wanted;
  wanted.slices = request.slices;
  wanted.mean = request.mean;
  if (request.mean && run.footprint.whole_steps < 2) {
    return MisuseError("no mean over steps: there are fewer than two", {"mean"});
  }
  wanted.layers = analyze::GroupByLayer(run.built, run.folded, report.tree.columns, choice);
  return account::MakeTimeline(run.input.power, run.input.ops, run.accounting, run.footprint,
                               wanted);
}

}  // namespace beryl::flows
