// The energy of parts of a run, and how much it varied within the run.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyze/analyze.h"
#include "analyze/statistics.h"
#include "base/units.h"
#include "types/energy_by_step.h"

namespace beryl::analyze {

inline constexpr uint32_t kNoRow = UINT32_MAX;
// The share of operation time on a metered device that may lack power readings. Above it, the
// energy counts as unknown in decisions.
inline constexpr double kMostUncovered = 0.01;

// The steps of a run in blocks of neighbours, so long that blocks vary nearly independently.
struct StepBlocks {
  std::vector<uint32_t> steps;  // with known energy, sorted
  size_t count = 0;

  // Whether they are too few to show how the run varies.
  bool too_few() const;
};
StepBlocks BlocksOf(const Footprint& footprint);

// A part of a run: all operations in one row.
struct RowFigures {
  bool present = false;  // it has operations
  bool known = false;    // the energy of at least one of them is known
  Joules energy;         // of the whole run, or the mean of a step
  // How exactly the run's blocks give the mean of a step; nothing with fewer than two blocks.
  std::optional<Spread> within;
  // How far the step's energy drifted from the run's start to its end, beyond what chance explains.
  Joules drift;
};

// Figures for `rows` rows of whole runs, or with `per_step` of a step; then operations outside
// steps are left out.
std::vector<RowFigures> Figures(const Footprint& footprint, const RowsOfKind& rows_of_kind,
                                size_t rows, bool per_step);
// Of a step, without what its blocks tell, and with that.
std::vector<RowFigures> MeansOfSteps(const Footprint& footprint, const RowsOfKind& rows_of_kind,
                                     size_t rows, const StepBlocks& blocks);
std::vector<RowFigures> Figures(const Footprint& footprint, const RowsOfKind& rows_of_kind,
                                size_t rows, const StepBlocks& blocks);

}  // namespace beryl::analyze
