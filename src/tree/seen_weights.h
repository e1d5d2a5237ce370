// The weights that modules of a run use, read off the shapes of their operations.
#pragma once

#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "tree/seen_shapes.h"
#include "types/op_trace.h"
#include "types/trace_tree.h"

namespace beryl::tree {

// The innermost module around an operation; 0 if there is none.
NodeId ModuleOf(const TraceTree& built, uint32_t kind);
// Which input of an operation is a weight; nothing if it has no known weight.
std::optional<size_t> WeightOf(std::string_view type);

class SeenWeights {
 public:
  SeenWeights(const OpTrace& trace, const TraceTree& built);

  // Whether a module uses weights with so many parameters: a matrix, one with a bias, or the two
  // vectors of a norm. Nothing if no weights were seen.
  std::optional<bool> Has(NodeId node, uint64_t parameters) const;

 private:
  std::vector<std::set<TensorShape>> shapes_;  // by node of the run
};

// Whether a tensor of this shape, with or without a bias, has so many elements.
bool MayHold(const TensorShape& shape, uint64_t parameters);

}  // namespace beryl::tree
