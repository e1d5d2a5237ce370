#include <cmath>

#include "datasets/datasets.h"
#include "types/power_trace.h"

namespace beryl::datasets {
namespace {

// The sum by node of all channels with this scope; empty if there are none.
std::vector<double> SumOf(const std::vector<Column>& columns, ChannelScope scope) {
  std::vector<double> sum;
  for (const Column& column : columns) {
    if (column.of != Column::Of::kChannel || ScopeOfName(column.label) != scope) continue;
    if (sum.empty()) sum.assign(column.total.size(), 0);
    for (size_t node = 0; node < sum.size(); ++node) {
      // Operations of other devices used no energy of this channel.
      if (std::isfinite(column.total[node])) sum[node] += column.total[node];
    }
  }
  return sum;
}

void SetFeature(FeatureRow& row, Feature feature, double value) {
  row[static_cast<size_t>(feature)] = value;
}

}  // namespace

ModelRun RunOfAccounting(std::string model, const ModelTree& tree,
                         const std::vector<Column>& energy, const Column& seconds) {
  const std::vector<double> gpu = SumOf(energy, ChannelScope::kGpu);
  const std::vector<double> cpu = SumOf(energy, ChannelScope::kPackage);
  ModelRun run;
  run.model = std::move(model);
  run.complete = false;  // FLOPs and bytes are unknown, and the tree is that of the program
  std::vector<NodeId> place(tree.nodes.size(), 0);
  for (NodeId id = 0; id < tree.nodes.size(); ++id) {
    const TreeNode& parent = tree.nodes[tree.nodes[id].parent];
    TreeNode node = tree.nodes[id];
    // Nodes inside a primitive are not listed. An operation outside every primitive counts as one.
    if (node.level == Level::kKernel || (id > 0 && parent.level >= Level::kMl)) continue;
    if (node.level == Level::kMath) node.level = Level::kMl;
    const auto at = static_cast<NodeId>(run.tree.nodes.size());
    place[id] = at;
    node.parent = place[node.parent];
    run.tree.nodes.push_back(std::move(node));
    FeatureRow row = UnknownFeatures();
    const double joules = energy.empty() ? kUnknown : energy.front().total[id];
    const bool known = joules > 0 && seconds.total[id] > 0;
    if (known) {
      SetFeature(row, Feature::kSeconds, seconds.total[id]);
      if (!gpu.empty()) SetFeature(row, Feature::kGpuEnergy, gpu[id]);
      if (!cpu.empty()) SetFeature(row, Feature::kCpuEnergy, cpu[id]);
    }
    run.features.push_back(row);
    run.measured.push_back(known ? joules : kUnknown);
  }
  CloseTree(run.tree);
  return run;
}

}  // namespace beryl::datasets
