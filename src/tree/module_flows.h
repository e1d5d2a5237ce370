// Dataflow between the modules of a run, from the description's.
#pragma once

#include <vector>

#include "types/description.h"
#include "types/model_tree.h"

namespace beryl::tree {

// Without duplicates. `flows` are between operations of a description, grouped by consumer, and
// `module_of` says which module of `run` each of them is part of (kNoNode: none). What a module
// does itself with the result of one part for another is a flow between these parts, too: from the
// projection of the query, through the products of the attention, to the projection of the output.
std::vector<Flow> FlowsOfModules(const std::vector<Flow>& flows,
                                 const std::vector<NodeId>& module_of, const ModelTree& run);

}  // namespace beryl::tree
