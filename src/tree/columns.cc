#include "tree/derived_columns.h"
#include "tree/tree.h"
#include "types/energy_by_step.h"

namespace beryl::tree {
namespace {

// The standard deviation over steps of every node's total.
std::vector<double> Deviations(const Footprint& footprint, const TraceTree& built,
                               size_t step_count) {
  const NodeId nodes = built.tree.size();
  RowsOfKind nodes_of_kind;
  for (NodeId node : built.node_of_kind) {
    std::vector<uint32_t>& around = nodes_of_kind.emplace_back(1, node);
    while (node != 0) around.push_back(node = built.tree[node].parent);
  }
  const std::vector<const EnergyShare*> shares = SharesInSteps(footprint);
  std::vector<StepStatistics> spreads(nodes);
  // Two passes: means must be known before summing distances from them.
  ForEachStep(shares, nodes_of_kind, nodes,
              [&](NodeId node, double energy) { spreads[node].sum += energy; });
  ForEachStep(shares, nodes_of_kind, nodes,
              [&](NodeId node, double energy) { spreads[node].AddDistance(energy, step_count); });
  std::vector<double> deviations;
  deviations.reserve(nodes);
  for (const StepStatistics& spread : spreads) deviations.push_back(spread.Deviation(step_count));
  return deviations;
}

// True for nodes whose operations counted by a column all lack a meter: unknown is not zero.
template <typename Counts>
void MarkUnknown(const Footprint& footprint, const TraceTree& built, Column& column,
                 Counts&& counts) {
  std::vector<double> metered(built.tree.nodes.size(), 0);
  std::vector<double> unmetered(built.tree.nodes.size(), 0);
  for (const EnergyShare& share : footprint.shares) {
    if (!counts(share.kind)) continue;
    (share.IsKnown() ? metered : unmetered)[built.node_of_kind[share.kind]] = 1;
  }
  for (const UnmeteredOps& ops : footprint.unmetered) {
    if (counts(ops.kind)) unmetered[built.node_of_kind[ops.kind]] = 1;
  }
  auto mark = [&](std::vector<double>& energy) {
    for (size_t node = 0; node < energy.size(); ++node) {
      if (unmetered[node] > 0 && metered[node] == 0) energy[node] = kUnknown;
    }
  };
  mark(column.self);
  metered = RollUp(built.tree, std::move(metered));
  unmetered = RollUp(built.tree, std::move(unmetered));
  mark(column.total);
}

}  // namespace

std::vector<Column> Columns(const OpTrace& trace, const Footprint& footprint,
                            const TraceTree& built) {
  const size_t nodes = built.tree.nodes.size();
  std::vector<Column> columns;
  auto add = [&](Column::Of of, std::string label, auto&& wanted) {
    Column column;
    column.of = of;
    column.name = of == Column::Of::kAll ? "energy" : label;
    column.key = "energy_j";
    column.label = std::move(label);
    column.self.assign(nodes, 0);
    std::vector<bool> estimated(nodes, false);
    bool any = false;
    bool any_estimated = false;
    for (const EnergyShare& share : footprint.shares) {
      if (!wanted(share)) continue;
      any = true;
      column.self[built.node_of_kind[share.kind]] += share.energy.value;
      if (footprint.channels[share.channel].origin == Origin::kMeasured || !share.IsKnown())
        continue;
      estimated[built.node_of_kind[share.kind]] = any_estimated = true;
    }
    if (!any && !columns.empty()) return;
    if (any_estimated) {
      column.origin = Origin::kEstimated;
      column.estimated = RollUp(built.tree, std::move(estimated));
    }
    column.total = RollUp(built.tree, column.self);
    columns.push_back(std::move(column));
  };
  add(Column::Of::kAll, "energy", [](const EnergyShare&) { return true; });
  for (const Phase phase : {Phase::kForward, Phase::kBackward, Phase::kOptimizer}) {
    add(Column::Of::kPhase, std::string(PhaseName(phase)),
        [&](const EnergyShare& share) { return trace.kinds[share.kind].phase == phase; });
  }
  for (size_t channel = 0; channel < footprint.channels.size(); ++channel) {
    add(Column::Of::kChannel, footprint.channels[channel].channel,
        [&](const EnergyShare& share) { return share.channel == channel; });
  }
  for (size_t rank = 0; trace.ranks.size() > 1 && rank < trace.ranks.size(); ++rank) {
    add(Column::Of::kRank, trace.ranks[rank],
        [&](const EnergyShare& share) { return trace.kinds[share.kind].rank == rank; });
  }
  const size_t step_count = KnownSteps(footprint).size();
  if (step_count >= 2) columns.front().deviation = Deviations(footprint, built, step_count);

  for (Column& column : columns) {
    if (column.of == Column::Of::kChannel) continue;
    MarkUnknown(footprint, built, column, [&](uint32_t kind) {
      const OpKind& op = trace.kinds[kind];
      if (column.of == Column::Of::kPhase) return column.label == PhaseName(op.phase);
      return column.of == Column::Of::kAll || column.label == trace.ranks[op.rank];
    });
  }
  return columns;
}

std::vector<double> SelfSeconds(const Footprint& footprint, const TraceTree& built) {
  std::map<NodeId, BusyByChannel> busy;
  for (const EnergyShare& share : footprint.shares) {
    busy[built.node_of_kind[share.kind]][share.channel] += share.busy.seconds();
  }
  std::vector<double> seconds(built.tree.nodes.size(), 0);
  for (const auto& [node, channels] : busy) seconds[node] = TimeAtWork(channels, footprint).value;
  return seconds;
}

TreeColumns MeasuredColumns(const OpTrace& trace, const Footprint& footprint,
                            const TraceTree& built, const BesideTree& beside) {
  TreeColumns tree;
  tree.tree = built.tree;
  tree.columns = Columns(trace, footprint, built);
  Column time = NamedColumn("time", "seconds", "time", Quantity::kTime);
  time.self = SelfSeconds(footprint, built);
  time.total = RollUp(built.tree, time.self);
  tree.columns.insert(tree.columns.begin() + 1, std::move(time));
  tree.columns.insert(tree.columns.end(), beside.columns.begin(), beside.columns.end());
  tree.texts = beside.texts;
  AddDerived(tree);
  return tree;
}

}  // namespace beryl::tree
