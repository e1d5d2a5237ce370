// Folding: like layers of a model become one node, so that a tree can be taken in.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "types/model_tree.h"

namespace beryl {

// A tree in which others stand folded, and where each of their nodes went.
struct Folding {
  ModelTree tree;
  std::vector<NodeId> node_of;  // by node of the tree that was folded
};

// Siblings whose names differ only in a number (`layer_3`, `layers.3`, `h.3`, `block3`,
// `BertLayer_3`), that have parts and nearly the same ones, become one node, `layer_*`. Never by a
// list of names. Modules that are numbered by class over the whole program are named by their
// position among their siblings inside a folded layer, `Linear[0]`.
//
// `differs`, if it is given, keeps two siblings apart that only look alike: they do other work.
using Differs = std::function<bool(NodeId, NodeId)>;
Folding Fold(const ModelTree& tree, const Differs& differs = {});

}  // namespace beryl
