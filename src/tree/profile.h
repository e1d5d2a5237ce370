// Energy by name: what operations are added up under, at a level of the tree.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tree/tree.h"

namespace beryl::tree {

struct NameTable {
  struct Name {
    std::string text;
    Phase phase = Phase::kForward;
  };
  std::vector<Name> names;
  // By kind: the names its energy is added to. Several only where modules contain one another.
  std::vector<std::vector<uint32_t>> of_kind;
};
NameTable MakeNames(const OpTrace& trace, const TraceTree& tree, NameLevel level);

// The qualified name of an operation by the names the tree gives its modules.
std::string OperationName(const OpTrace& trace, const TraceTree& tree, uint32_t kind);

// The nodes that a kind's energy is a part of at a level; at the level of operations its own.
std::vector<NodeId> NodesAt(const TraceTree& tree, uint32_t kind, NameLevel level);

// By name, the energy of the shares that `wanted` takes; NaN: it has some, and none is known.
std::vector<double> EnergyByName(const NameTable& names, const Footprint& footprint,
                                 const std::function<bool(const EnergyShare&)>& wanted);

// Of the same shares, with energies divided by `divisor`; names that did not run are left out.
EnergyProfile ProfileOf(const NameTable& names, const Footprint& footprint,
                        const std::function<bool(const EnergyShare&)>& wanted, double divisor);

}  // namespace beryl::tree
