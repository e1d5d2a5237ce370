// Energy by name, at a level of the tree.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "analyze/analyze.h"

namespace beryl::analyze {

struct NameTable {
  struct Name {
    std::string text;
    Phase phase = Phase::kForward;
  };
  std::vector<Name> names;
  // By kind: the names its energy counts for. Several only if modules contain one another.
  std::vector<std::vector<uint32_t>> of_kind;
};
NameTable MakeNames(const OpTrace& trace, const TraceTree& tree, NameLevel level);

// The qualified name of an operation, with the tree's module names.
std::string OperationName(const OpTrace& trace, const TraceTree& tree, uint32_t kind);

// The nodes that contain a kind at a level; at the level of operations, its own node.
std::vector<NodeId> NodesAt(const TraceTree& tree, uint32_t kind, NameLevel level);

// By name: the energy of the shares that `wanted` accepts. NaN: the name has shares, but none is
// known.
std::vector<double> EnergyByName(const NameTable& names, const Footprint& footprint,
                                 const std::function<bool(const EnergyShare&)>& wanted);

// The same shares, with energies divided by `divisor`. Names that did not run are left out.
EnergyProfile ProfileOf(const NameTable& names, const Footprint& footprint,
                        const std::function<bool(const EnergyShare&)>& wanted, double divisor);

}  // namespace beryl::analyze
