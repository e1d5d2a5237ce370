// Cuts the model out of the tree of the program that ran it.
#include <utility>

#include "tree/derived_columns.h"
#include "tree/tree.h"
#include "types/unknown.h"

namespace beryl::tree {

TreeColumns CutModel(const TreeColumns& tree, NodeId root) {
  const TextColumn* scopes = tree.FindText("scope");
  TreeColumns part;
  std::vector<NodeId> place(tree.tree.size(), 0);
  std::vector<NodeId> kept;
  for (NodeId node = root; node < tree.tree[root].end; ++node) {
    const NodeId parent = node == root ? 0 : place[tree.tree[node].parent];
    const bool known = scopes != nullptr && !scopes->values[node].empty();
    place[node] = parent;
    if (node != root && !(known && IsModule(tree.tree[node].level))) continue;
    TreeNode copy = tree.tree[node];
    copy.parent = parent;
    place[node] = part.tree.size();
    part.tree.nodes.push_back(std::move(copy));
    kept.push_back(node);
  }
  part.tree.nodes[0].level = Level::kModel;
  CloseTree(part.tree);
  const auto choose = [&](const auto& from, auto& to) {
    to.clear();
    if (from.empty()) return;
    for (const NodeId node : kept) to.push_back(from[node]);
  };
  for (const Column& column : tree.columns) {
    Column& cut = part.columns.emplace_back(column);
    choose(column.total, cut.total);
    choose(column.low, cut.low);
    choose(column.high, cut.high);
    choose(column.deviation, cut.deviation);
    choose(column.estimated, cut.estimated);
    choose(column.marked, cut.marked);
    // Removed nodes leave their own energy with their parent.
    cut.self.clear();
  }
  for (const TextColumn& column : tree.texts) {
    TextColumn& texts = part.texts.emplace_back(column);
    choose(column.values, texts.values);
    texts.top = 0;
  }
  return part;
}

TreeColumns OnePass(TreeColumns tree) {
  std::erase_if(tree.columns, [](const Column& column) {
    const bool of_run = column.name == "energy" || column.name == "time";
    return of_run || column.of != Column::Of::kAll || !LookOf(column.quantity).adds_up;
  });
  for (Column& column : tree.columns) {
    if (column.name == "pass") {
      column.name = column.label = "energy";
      column.key = "energy_j";
    } else if (column.name == "pass_time") {
      column.name = column.label = "time";
      column.key = "seconds";
    }
  }
  AddDerived(tree);
  return tree;
}

TreeColumns ForwardPass(const OpTrace& trace, const Footprint& energy, const Footprint& time,
                        const TraceTree& built, const ModelOfRun& model) {
  const auto forward = [&](const Footprint& all) {
    Footprint only = all;
    std::erase_if(only.shares, [&](const EnergyShare& share) {
      return trace.kinds[share.kind].phase != Phase::kForward;
    });
    return only;
  };
  TreeColumns tree;
  tree.tree = built.tree;
  tree.columns = Columns(trace, forward(energy), built);
  Column seconds = Columns(trace, forward(time), built).front();
  seconds.name = seconds.label = "time";
  seconds.key = "seconds";
  seconds.quantity = Quantity::kTime;
  tree.columns.push_back(std::move(seconds));
  for (Column& column : tree.columns) {
    for (double& value : column.total) value /= model.alignment.passes.value_or(kUnknown);
  }
  for (const Column& column : model.beside.columns) {
    if (column.origin == Origin::kDescribed) tree.columns.push_back(column);
  }
  tree.texts = model.beside.texts;
  return CutModel(tree, model.root);
}

}  // namespace beryl::tree
