#include <cmath>
#include <utility>
#include <vector>

#include "views/text/tree_view.h"
#include "views/views.h"

namespace beryl::views {
namespace {

std::vector<double> Cut(const ModelTree& tree, std::vector<double> self,
                        const ViewOptions& options) {
  for (NodeId node = tree.size(); node-- > 1;) {
    if (node >= self.size() || IsShown(tree, node, options)) continue;
    double& above = self[tree[node].parent];
    const double own = std::exchange(self[node], 0);
    if (!std::isnan(own)) above = std::isnan(above) ? own : above + own;
  }
  return self;
}

}  // namespace

void CutStacks(TreeColumns& tree, const ViewOptions& options) {
  for (Column& column : tree.columns) {
    column.self = Cut(tree.tree, std::move(column.self), options);
  }
}

void CutStacks(ExportedRun& run, const ViewOptions& options) {
  const ModelTree& tree = run.report.tree.tree;
  CutStacks(run.report.tree, options);
  run.self_s = Cut(tree, std::move(run.self_s), options);
  for (StepEnergy& step : run.steps) {
    std::vector<double> self(tree.size(), 0);
    for (const auto& [node, joules] : step.self_j) self[node] += joules;
    self = Cut(tree, std::move(self), options);
    step.self_j.clear();
    for (NodeId node = 0; node < self.size(); ++node) {
      if (self[node] != 0) step.self_j.emplace_back(node, self[node]);
    }
  }
}

}  // namespace beryl::views
