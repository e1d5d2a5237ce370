// Merging: combines trees of different runs, or of a run and a description, so that the same part
// of the program is the same node.
#pragma once

#include <vector>

#include "types/model_tree.h"

namespace beryl {

struct Merging {
  ModelTree tree;
  std::vector<std::vector<NodeId>> node_of;  // by tree, by its node
};

// Nodes with the same path become one node. Trees may be folded: layers are the same layer however
// many there are. Modules numbered by class over a whole program are identified by position where
// the programs differ.
Merging Merge(const std::vector<const ModelTree*>& trees);

}  // namespace beryl
