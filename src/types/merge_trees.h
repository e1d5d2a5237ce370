// Merging: trees of different runs, or of a run and a description, as one, so that what is the same
// in the program is the same node.
#pragma once

#include <vector>

#include "types/model_tree.h"

namespace beryl {

struct Merging {
  ModelTree tree;
  std::vector<std::vector<NodeId>> node_of;  // by tree, by its node
};

// What has the same path is one node, whichever trees it is in. Trees may be folded: layers are the
// same layer however many of them there are. Modules that are numbered by class over a whole
// program are told apart by their position where the programs differ.
Merging Merge(const std::vector<const ModelTree*>& trees);

}  // namespace beryl
