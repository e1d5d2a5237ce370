// Layers that are the same but for their number, put together.
#pragma once

#include <vector>

#include "types/model_tree.h"

namespace beryl::learn {

struct FoldedModel {
  ModelTree tree;
  std::vector<NodeId> node_of;  // by node of the tree that was folded
};

// Modules side by side with one type, the same inside, and names that differ only in a number
// become one node ("layer.*"). Names stay what they are in the model's scopes, and two primitives
// of one name stay two: both matter here, where nodes are measured and not traced.
FoldedModel FoldLayers(const ModelTree& tree);

}  // namespace beryl::learn
