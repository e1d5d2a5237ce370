// How sure a difference between two sides of a comparison is. docs/design/0007-when-runs-differ.md
// has the reasons.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyze/figures.h"
#include "analyze/statistics.h"
#include "types/comparison.h"

namespace beryl::analyze {

// A part of the program on one side, by run.
struct SideFigures {
  std::vector<RowFigures> runs;

  bool present() const;   // in any of its runs
  bool known() const;     // and with known energy wherever it is present
  Joules energy() const;  // the mean over the runs; a run that lacks the part used none
};

// What two sides know about themselves, beside the energies: the systematic parts.
struct Circumstances {
  double before = 0;  // relative deviation assumed of a side with one run or recording
  double after = 0;
  double load = 0;  // relative deviations of the difference
  double clock = 0;
  double temperature = 0;
  bool has_blocks = false;   // one run a side, and both have enough blocks of steps
  bool have_rounds = false;  // one recording a side, and its rounds
};

// By side: the runs' conditions, and their blocks, which are empty for whole runs.
struct SideConditions {
  std::vector<const RunConditions*> runs;
  std::vector<const StepBlocks*> blocks;
};
Circumstances CircumstancesOf(const SideConditions& before, const SideConditions& after,
                              bool runs_are_rounds);

// A part of the program repeats less well than the whole.
Circumstances OfAPart(Circumstances whole);

// The variance of the difference, in J^2.
Spread SpreadOfDifference(const SideFigures& before, const SideFigures& after,
                          const Circumstances& circumstances);

// Both sides must be known.
EnergyChange ChangeOf(const SideFigures& before, const SideFigures& after,
                      const Circumstances& circumstances);

// How many further runs, or recordings of as many rounds, of each side would show, 4 times in 5,
// that the change is not `limit`, if it is what it looks like. Nothing if more than a thousand, or
// none.
std::optional<uint64_t> MoreRuns(const SideFigures& before, const SideFigures& after,
                                 const Circumstances& circumstances, double limit);

}  // namespace beryl::analyze
