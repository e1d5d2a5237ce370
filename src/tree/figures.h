// What parts of a run came to: energy, and how it varied from step to step.
#pragma once

#include <cstdint>
#include <vector>

#include "base/units.h"
#include "tree/statistics.h"
#include "tree/tree.h"

namespace beryl::tree {

inline constexpr uint32_t kNoRow = UINT32_MAX;
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

// `rows_of_kind`: the rows, out of `rows`, that each kind of operation is a part of. With
// `per_step`, what ran in no step is left out.
std::vector<RowFigures> Figures(const Footprint& footprint,
                                const std::vector<std::vector<uint32_t>>& rows_of_kind, size_t rows,
                                bool per_step);

}  // namespace beryl::tree
