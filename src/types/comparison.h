// Comparison: runs side by side. It goes out with the books of every run (AccountReport), so that
// its numbers can be traced.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "types/account_report.h"
#include "types/model_tree.h"
#include "types/note.h"
#include "types/op_trace.h"
#include "types/provenance.h"

namespace beryl {

// A number for each pair of runs, row minus or against column: [row * runs + column]. NaN: not
// defined (fewer than two names in common, no variance, energy that is not known).
using PairMatrix = std::vector<double>;

// How alike runs are, name by name; a name is a path and a phase.
struct SimilarityMatrices {
  std::vector<std::string> runs;
  std::string level;                // what the names are of, in words: "operations", ...
  std::vector<uint64_t> names;      // how many names each run has
  std::vector<uint64_t> common;     // names that both runs have and know the energy of, by pair
  std::vector<uint64_t> only_here;  // names of the row's run that the column's has not, by pair
  PairMatrix energy_pearson;
  PairMatrix power_pearson;
  PairMatrix energy_difference;  // mean over the common names, joules; row minus column
  PairMatrix power_difference;   // watts
};

// A run's energy as one bar; energies are of the comparison's basis.
struct RunTotal {
  std::string run;
  // Nothing: it has operations in that phase, and the energy of none of them is known.
  std::array<std::optional<Joules>, kPhaseCount> by_phase;
  std::optional<Joules> attributed;
  std::optional<Joules> deviation;  // over steps; nothing where there are fewer than two
  Joules idle;                      // between the first and the last operation
  Joules unattributed;
  size_t steps = 0;  // those of which energy is known
  // Of the whole run: ran in no step, so not in a step's energy.
  std::optional<Joules> outside_steps;
};

// One name in two runs.
struct DifferenceRow {
  std::string path;   // empty: the whole program
  bool rest = false;  // what is below it and has a row of its own is not in this one
  Level level = Level::kModule;
  bool in_before = false;
  bool in_after = false;
  std::optional<Joules> before;  // nothing: not in that run, or not known there
  std::optional<Joules> after;
  // What is not in a run took no energy there. Nothing: not known.
  std::optional<Joules> difference;
  // Half width of the range that chance explains, from the deviation over steps of both runs (95
  // %); nothing: fewer than two steps in one of them, so nobody can tell.
  std::optional<Joules> noise;
  bool is_noise = false;
};

// How much more than the first run a later one may take.
struct GateLimit {
  std::string pattern;  // as in a BudgetLine; empty: all operations
  double limit = 0;     // 0.05: five per cent
};

struct GateVerdict {
  GateLimit gate;
  std::string run;
  std::optional<Joules> before;
  std::optional<Joules> after;
  std::optional<double> change;  // relative; nothing: cannot be told, and `reason` says why
  std::optional<double> noise;   // half width of what chance explains, relative too
  bool passed = false;
  bool certain = false;             // the noise does not reach from the change to the limit
  std::string reason;               // why it cannot be told; else empty
  std::vector<DifferenceRow> grew;  // what grew most
};

struct Comparison {
  Provenance provenance;
  std::vector<AccountReport> runs;
  bool per_step = false;  // energies below are of a step, on average; else of the whole run
  std::vector<RunTotal> totals;
  SimilarityMatrices similarity;
  // First run against second, the largest difference first; only with two runs.
  std::vector<DifferenceRow> differences;
  std::string differences_level;  // what its rows are, in words
  std::vector<GateVerdict> gates;
  std::vector<Note> notes;
};

}  // namespace beryl
