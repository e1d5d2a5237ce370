// How much of a model's work a run did, read off its operations.
#pragma once

#include <optional>
#include <vector>

#include "tree/match_model.h"
#include "types/description.h"
#include "types/op_trace.h"
#include "types/trace_tree.h"

namespace beryl::tree {

// How often a model ran forward.
struct SeenRuns {
  std::optional<double> passes;  // nothing: no calls were seen
  // By node of the description in `found`: the share of the passes in which it ran, below 1 where
  // all weights inside were used less often (layers that are skipped at random).
  std::vector<double> share;
};
SeenRuns CountRuns(const OpTrace& trace, const TraceTree& built, const Description& description,
                   const ModelMatch& found);

// The floating-point operations of described linear layers over the whole run, by node of the
// description in `found`; NaN: not seen.
struct LinearWork {
  std::vector<double> flops;
  std::vector<double> matmul_flops;  // the part in products
};
LinearWork SeeLinearWork(const OpTrace& trace, const TraceTree& built,
                         const Description& description, const ModelMatch& found);

// The floating-point operations of linear layers that the description lacks (adapters), over the
// whole run.
struct AddedWork {
  std::vector<double> flops;         // by node of the run, of its own
  std::vector<double> matmul_flops;  // the part in products
  std::vector<NodeId> modules;       // those that have any
};
AddedWork SeeAddedWork(const OpTrace& trace, const TraceTree& built, const Description& description,
                       const ModelMatch& found);

}  // namespace beryl::tree
