#include "tree/one_model.h"

#include <algorithm>
#include <utility>

#include "tree/tree.h"
#include "types/merge_trees.h"

namespace beryl::tree {
namespace {

ModelTree Below(const ModelTree& tree, NodeId top) {
  ModelTree part;
  part.nodes.assign(tree.nodes.begin() + top, tree.nodes.begin() + tree[top].end);
  for (TreeNode& node : part.nodes) node.parent = node.parent < top ? 0 : node.parent - top;
  CloseTree(part);
  return part;
}

}  // namespace

OneModel AddPhases(const Description& description) {
  OneModel one;
  const ModelTree& tree = description.tree;
  one.node_of.assign(tree.size(), kNoNode);
  if (description.nodes[0].phase != RunPhase::kAll) {
    one.tree = tree;
    for (NodeId node = 0; node < tree.size(); ++node) one.node_of[node] = node;
    one.original_of = one.node_of;
    return one;
  }
  std::vector<NodeId> tops;
  std::vector<ModelTree> parts;
  for (const NodeId top : Children(tree, 0)) {
    tops.push_back(top);
    parts.push_back(Below(tree, top));
  }
  std::vector<const ModelTree*> pointers;
  pointers.reserve(parts.size());
  for (const ModelTree& part : parts) pointers.push_back(&part);
  Merging merging = Merge(pointers);
  one.tree = std::move(merging.tree);
  one.original_of.assign(one.tree.size(), kNoNode);
  for (size_t part = 0; part < parts.size(); ++part) {
    for (NodeId node = 0; node < parts[part].size(); ++node) {
      const NodeId place = merging.node_of[part][node];
      one.node_of[tops[part] + node] = place;
      if (one.original_of[place] == kNoNode) one.original_of[place] = tops[part] + node;
    }
  }
  return one;
}

TreeColumns WithoutPhases(const Description& description, TreeColumns tree) {
  if (description.nodes[0].phase != RunPhase::kAll) return tree;
  OneModel one = AddPhases(description);
  const size_t nodes = one.tree.size();
  // Nodes that only group the phases come last and are cut off.
  std::replace(one.node_of.begin(), one.node_of.end(), kNoNode, static_cast<NodeId>(nodes));
  TreeColumns together;
  for (const Column& column : tree.columns) {
    auto sum = Regroup(column, one.node_of, nodes + 1);
    if (!sum) continue;
    for (std::vector<double>* values : {&sum->self, &sum->total, &sum->low, &sum->high}) {
      if (!values->empty()) values->pop_back();
    }
    together.columns.push_back(*std::move(sum));
  }
  for (const TextColumn& column : tree.texts) {
    TextColumn& texts = together.texts.emplace_back(column);
    texts.values.clear();
    for (const NodeId node : one.original_of) texts.values.push_back(column.values[node]);
  }
  together.tree = std::move(one.tree);
  return together;
}

}  // namespace beryl::tree
