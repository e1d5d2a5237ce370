// What nodes take themselves, added up to what they take with everything below.
#pragma once

#include <vector>

#include "types/model_tree.h"

namespace beryl::learn {

// In place. Children stand behind their parents, so one walk from the back does it.
inline void AddUp(const ModelTree& tree, std::vector<double>& column) {
  for (NodeId node = static_cast<NodeId>(column.size()); node-- > 1;) {
    column[tree.nodes[node].parent] += column[node];
  }
}

}  // namespace beryl::learn
