// Which modules of a run are which modules of a model's description.
#pragma once

#include <vector>

#include "tree/one_model.h"
#include "types/description.h"
#include "types/model_alignment.h"
#include "types/op_trace.h"
#include "types/trace_tree.h"

namespace beryl::tree {

struct ModelMatch {
  OneModel one;               // the description
  std::vector<NodeId> match;  // by node of the run: its node in `one`, or kNoNode
  std::vector<NodeId> place;  // the same, including further places of matched modules
  NodeId root = 0;            // in the run: the root of the description
  NodeId whole = 0;           // the smallest part of the run that contains all matched modules
};

// Sets the numbers of modules in `alignment`, and those that were not found or have other sizes.
ModelMatch MatchModel(const OpTrace& trace, const TraceTree& built, const Description& description,
                      ModelAlignment& alignment);

}  // namespace beryl::tree
