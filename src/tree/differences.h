// What differs between two runs, name by name.
#pragma once

#include <vector>

#include "tree/tree.h"

namespace beryl::tree {

struct Differences {
  std::vector<DifferenceRow> rows;  // the largest first
  uint64_t unknown_names = 0;       // nodes left out, because a run does not know their energy
};

// Of two runs on one merged tree. Without a level the rows are the deepest nodes that explain the
// difference: every operation is in exactly one row, and a node has one of its own when what is
// left for it is worth it; the rest goes to the node above. At the level of modules rows contain
// one another.
Differences FindDifferences(const Footprint& before, const TraceTree& before_tree,
                            const Footprint& after, const TraceTree& after_tree,
                            const std::optional<NameLevel>& level, bool per_step);

}  // namespace beryl::tree
