// A description with prefill and decode as one model.
#pragma once

#include <vector>

#include "types/description.h"
#include "types/model_tree.h"

namespace beryl::tree {

// A description with prefill and decode merged, because a run does not separate them.
struct OneModel {
  ModelTree tree;
  std::vector<NodeId> node_of;  // by node of the description; kNoNode: it only groups the phases
  std::vector<NodeId> original_of;  // by node of `tree`: the first node that became it
};

OneModel AddPhases(const Description& description);

}  // namespace beryl::tree
