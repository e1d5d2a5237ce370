// The tree of a run: a ModelTree, and the node of each kind of operation.
#pragma once

#include <vector>

#include "types/model_tree.h"

namespace beryl {

// The maximal depth of a run's tree.
inline constexpr int kDeepestNode = 200;

// A tree and how a trace maps onto it.
struct TraceTree {
  ModelTree tree;
  std::vector<NodeId> node_of_kind;  // by OpTrace kind
  std::vector<bool> in_names;        // by node: whether it is a part of qualified names
};

// The same with like layers folded; `node_of`, if given, receives the folded node of each node of
// `built`.
TraceTree Fold(const TraceTree& built, std::vector<NodeId>* node_of = nullptr);
// Merges the trees of several runs: all results share the same `tree`.
std::vector<TraceTree> Merge(const std::vector<const TraceTree*>& trees);

}  // namespace beryl
