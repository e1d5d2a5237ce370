// Comparison: runs side by side. It is shown with the balances of every run (AccountReport), so
// that its numbers can be traced.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "types/account_report.h"
#include "types/column.h"
#include "types/model_tree.h"
#include "types/note.h"
#include "types/op_trace.h"
#include "types/provenance.h"

namespace beryl {

// How a run was made, as far as it is known.
struct RunConditions {
  bool estimated = false;                      // some of its energy is an estimate
  std::set<std::string> estimates;             // what from: their curves; empty: unknown
  std::optional<Seconds> duration;             // of its recording
  std::optional<double> others_share;          // of the energy that anybody used
  std::map<std::string, double> clocks;        // mean, MHz, by device; "CPU": the processors
  std::map<std::string, double> temperatures;  // mean, degrees Celsius, likewise
};

// Where it is known from how much a side would differ if it ran again.
enum class VariationUnit : uint8_t {
  kRuns,     // both sides have several runs
  kOneSide,  // one side has: the other is taken to vary as much
  kRounds,   // rounds of one recording a side, and an assumption about recordings
  kBlocks,   // blocks of the steps of one run a side, and an assumption about runs
  kAssumed,  // only the assumption: a run has no steps, or too few
};

// Whose energy is compared.
enum class ComparedEnergy : uint8_t {
  kOperations,
  kOurs,     // of recordings without operations: what the watched processes used
  kMachine,  // of recordings that watched nothing: everything
};
std::string_view ComparedEnergyName(ComparedEnergy of);  // "operations", "ours", "machine"
std::string_view VariationUnitName(VariationUnit unit);  // "runs", "one_side", ...

// A number for each pair of runs, row minus or against column: [row * runs + column]. NaN:
// undefined (fewer than two names in common, no variance, unknown energy).
using PairMatrix = std::vector<double>;

// How similar runs are, by name; a name is a path and a phase.
struct SimilarityMatrices {
  std::vector<std::string> runs;
  std::string level;                // what the names stand for, in words: "operations", ...
  std::vector<uint64_t> names;      // how many names each run has
  std::vector<uint64_t> common;     // names that both runs have, with known energy, by pair
  std::vector<uint64_t> only_here;  // names of the row's run that the column's run lacks, by pair
  PairMatrix energy_pearson;
  PairMatrix power_pearson;
  PairMatrix energy_difference;  // mean over the common names, joules; row minus column
  PairMatrix power_difference;   // watts
};

// The energy of a run as one bar, on the comparison's basis.
struct RunTotal {
  std::string run;
  // Nothing: it has operations in that phase, but their energy is unknown.
  std::array<std::optional<Joules>, kPhaseCount> by_phase;
  std::optional<Joules> attributed;
  std::optional<Joules> deviation;  // over steps; nothing with fewer than two
  Joules idle;                      // between the first and the last operation
  Joules unattributed;
  size_t steps = 0;  // steps with known energy
  // Energy of the whole run outside of all steps, so not in a step's energy.
  std::optional<Joules> outside_steps;
};

// One name in two runs.
struct DifferenceRow {
  std::string path;   // empty: the whole program
  bool rest = false;  // excludes everything below it that has a row of its own
  Level level = Level::kModule;
  bool in_before = false;
  bool in_after = false;
  std::optional<Joules> before;  // nothing: not in that run, or unknown there
  std::optional<Joules> after;
  // A name that a run lacks took no energy there. Nothing if unknown.
  std::optional<Joules> difference;
  // Half width of the range that chance explains 95 times in 100; nothing if nobody can tell.
  std::optional<Joules> noise;
  bool is_noise = false;          // within that range
  std::optional<double> p_value;  // how often chance alone gives such a difference, two-sided
  // Whether it counts as a difference although many rows were tested: of the rows found, at most
  // the false discovery rate are chance, on average.
  bool found = false;
};

// How much more energy than the first run a later run may take.
struct GateLimit {
  std::string pattern;  // as in a BudgetLine; empty: all operations
  double limit = 0;     // 0.05: five per cent
};

// One side of a comparison: a run, or several runs of the same program.
struct ComparedSide {
  std::string label;
  std::vector<size_t> runs;  // indices into Comparison::totals
};

// A relative change of energy and how sure it is. Shares: 0.05 is 5 %.
struct EnergyChange {
  std::optional<Joules> before;  // mean over the runs of a side
  std::optional<Joules> after;
  std::optional<double> change;  // nothing if it cannot be determined
  std::optional<double> low;     // the 95 % interval; nothing if nobody can tell
  std::optional<double> high;
  std::optional<double> p_value;  // of no change
  VariationUnit unit = VariationUnit::kAssumed;
  double assumed = 0;  // relative deviation between runs that is assumed; 0: observed
  // Relative deviations that no number of further runs on these conditions removes: others' load,
  // clocks and temperatures that differ between the sides.
  double load = 0;
  double clock = 0;
  double temperature = 0;
  double drift = 0;  // of the steps within a run; only for one run a side
};

// Whether the energy of all operations changed from the first side to a later one.
struct TotalVerdict {
  std::string before;  // labels of the sides
  std::string after;
  EnergyChange change;
  bool certain = false;  // the interval excludes 0
  // If not certain: further runs (of rounds: recordings) of each side that would show a change of
  // this size 4 times in 5. Nothing: no reasonable number.
  std::optional<uint64_t> more_runs;
  std::optional<Note> reason;  // why the change cannot be determined
};

struct GateVerdict {
  GateLimit gate;
  std::string run;  // the label of the side
  EnergyChange change;
  bool passed = false;                // the interval does not lie above the limit as a whole
  bool certain = false;               // the interval does not contain the limit
  std::optional<Note> reason;         // why it cannot be determined
  std::optional<uint64_t> more_runs;  // as in TotalVerdict, to tell on which side of the limit
  std::vector<DifferenceRow> grew;    // what grew most
};

struct Comparison {
  Provenance provenance;
  std::vector<AccountReport> runs;
  bool per_step = false;  // energies below are means per step; otherwise of the whole run
  ComparedEnergy of = ComparedEnergy::kOperations;
  std::vector<RunTotal> totals;
  std::vector<ComparedSide> sides;     // the first is the baseline
  std::vector<TotalVerdict> verdicts;  // for every later side
  double false_discovery = 0;          // the rate that `found` keeps
  SimilarityMatrices similarity;
  // First side against second, the largest difference first; only with two sides.
  std::vector<DifferenceRow> differences;
  std::string differences_level;  // what its rows stand for, in words
  std::vector<GateVerdict> gates;
  // The runs on one tree, like layers folded: the energy of each whole run, and differences from
  // the first. Without nodes for recordings, which have no operations.
  TreeColumns tree;
  std::vector<Note> notes;
};

}  // namespace beryl
