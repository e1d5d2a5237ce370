// Folding: replaces like layers of a model by one node, so that a tree fits on a page.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "types/model_tree.h"

namespace beryl {

// A folded tree, and the new node of each original node.
struct Folding {
  ModelTree tree;
  std::vector<NodeId> node_of;  // by node of the original tree
};

// Siblings become one node, `layer_*`, if their names differ only in a number (`layer_3`,
// `layers.3`, `h.3`, `block3`, `BertLayer_3`) and they have nearly the same parts. No list of names
// is involved. Modules numbered by class over the whole program are named by their position among
// their siblings inside a folded layer, `Linear[0]`.
//
// `differs`, if given, keeps siblings apart that only look alike but do different work.
using Differs = std::function<bool(NodeId, NodeId)>;
Folding Fold(const ModelTree& tree, const Differs& differs = {});

}  // namespace beryl
