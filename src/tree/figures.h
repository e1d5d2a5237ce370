// What parts of a run came to: energy, and how it varied from step to step.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/units.h"
#include "tree/statistics.h"
#include "tree/tree.h"

namespace beryl::tree {

inline constexpr uint32_t kNoRow = UINT32_MAX;
// The rows that each kind of operation is a part of.
using RowsOfKind = std::vector<std::vector<uint32_t>>;
// Share of the operation time on a metered device that may lack power readings; with more, the
// energy counts as not known where something is decided by it.
inline constexpr double kMostUncovered = 0.01;

// A part of a run: all operations that were put into one row.
struct RowFigures {
  bool present = false;  // it has operations
  bool known = false;    // the energy of at least one of them is known
  Joules energy;         // of the whole run, or of a step on average
  Sample steps;          // its energy step by step; empty where energies are of the whole run
};

// Of so many `rows`. With `per_step`, what ran in no step is left out.
std::vector<RowFigures> Figures(const Footprint& footprint, const RowsOfKind& rows_of_kind,
                                size_t rows, bool per_step);

// Known shares by step, those of no step left out.
std::vector<const EnergyShare*> SharesInSteps(const Footprint& footprint);
// Calls `visit` with each row's energy in a step, for the rows that have any in it.
void ForEachStep(const std::vector<const EnergyShare*>& shares, const RowsOfKind& rows_of_kind,
                 size_t rows, const std::function<void(uint32_t row, double energy)>& visit);

}  // namespace beryl::tree
