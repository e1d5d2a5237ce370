#include "types/trace_tree.h"

#include <utility>

#include "types/fold_tree.h"
#include "types/merge_trees.h"

namespace beryl {
namespace {

// The same kinds of operations on another tree; `node_of` gives the new node of each node.
TraceTree Move(const TraceTree& built, ModelTree tree, const std::vector<NodeId>& node_of) {
  TraceTree moved;
  moved.tree = std::move(tree);
  moved.in_names.assign(moved.tree.size(), false);
  for (NodeId node = 0; node < node_of.size(); ++node) {
    if (built.in_names[node]) moved.in_names[node_of[node]] = true;
  }
  for (const NodeId node : built.node_of_kind) moved.node_of_kind.push_back(node_of[node]);
  return moved;
}

}  // namespace

TraceTree Fold(const TraceTree& built, std::vector<NodeId>* node_of) {
  Folding folding = Fold(built.tree);
  TraceTree folded = Move(built, std::move(folding.tree), folding.node_of);
  if (node_of != nullptr) *node_of = std::move(folding.node_of);
  return folded;
}

std::vector<TraceTree> Merge(const std::vector<const TraceTree*>& trees) {
  std::vector<const ModelTree*> bare;
  bare.reserve(trees.size());
  for (const TraceTree* tree : trees) bare.push_back(&tree->tree);
  const Merging merging = Merge(bare);
  std::vector<TraceTree> merged;
  for (size_t i = 0; i < trees.size(); ++i) {
    merged.push_back(Move(*trees[i], merging.tree, merging.node_of[i]));
  }
  return merged;
}

}  // namespace beryl
