// What the analyses of a run come to, ready to be shown. Every one of them goes out with the books
// of the run or runs it was made from (AccountReport), so that its numbers can be traced.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "types/account_report.h"
#include "types/energy_column.h"
#include "types/model_tree.h"
#include "types/op_trace.h"

namespace beryl {

// A footprint of operations, ranked: by qualified name (TEF), with like layers added up (STEF), or
// that by power (STPF).
struct OperationRanking {
  enum class Kind : uint8_t { kTef, kStef, kStpf };
  Kind kind = Kind::kTef;
  std::optional<Phase> phase;  // nothing: all phases
  // One a name and phase, the largest first. `device` names all that it took energy from; energy is
  // their sum, and time at work counts once where several meters read the same device.
  OperationTable rows;
  OperationTable by_device;  // what they are made of, a row a device, in the same order
  // Of all names in these phases, in `rows` or not; nothing: none of it is known.
  std::optional<double> total_j;
  double min_share = 0;  // of that, to be in `rows`
};

// One level of an energy distribution diagram: what the parts of one node took.
struct DiagramBox {
  std::string name;
  std::string path;  // from below the root, joined by "/"; what to ask for to see inside
  std::string type;
  bool composite = false;  // has parts of its own
  uint32_t folded = 1;     // like nodes added up in it
  std::string folded_range;
  std::optional<double> energy_j;
  std::optional<double> share;  // of all boxes of this diagram, 0 to 1
  std::optional<double> deviation_j;
  uint32_t gathered = 0;  // small parts that share this box because there are too many; 0: none
  // Kinds of operations outside of the node that feed this box, and that it feeds.
  uint64_t from_outside = 0;
  uint64_t to_outside = 0;
};

// Dataflow between two boxes of a diagram; `count` kinds of operations on one side feed the other.
struct DiagramArrow {
  size_t from = 0;
  size_t to = 0;
  uint64_t count = 0;
};

struct EnergyDiagram {
  std::string path;  // of the node whose parts these are; empty: the whole program
  std::optional<Phase> phase;
  std::optional<double> energy_j;  // all boxes
  std::vector<DiagramBox> boxes;   // in the order of the program
  std::vector<DiagramArrow> arrows;
  bool has_dataflow = false;  // the trace told inputs or flows; if not, no arrow does not mean none
};

// A number for each pair of runs, row minus or against column: [row * runs + column].
struct PairMatrix {
  std::vector<double> values;  // NaN: not defined (fewer than two names in common, no variance)
};

// How alike runs are, name by name.
struct SimilarityMatrices {
  std::vector<std::string> runs;
  std::string level;             // "operation", "module", "layer", ...: what the names are of
  std::vector<uint64_t> common;  // names that both runs have, by pair
  PairMatrix energy_pearson;
  PairMatrix power_pearson;
  PairMatrix energy_difference;  // mean over the common names, joules; row minus column
  PairMatrix power_difference;   // watts
};

// A run's energy as one bar.
struct RunTotal {
  std::string run;
  std::array<std::optional<double>, kPhaseCount> phase_j;  // nothing: none of its energy is known
  std::optional<double> attributed_j;
  double idle_j = 0;
  double unattributed_j = 0;
  size_t steps = 0;
  // Attributed energy a step; nothing where there are fewer than two.
  std::optional<double> mean_step_j;
  std::optional<double> deviation_step_j;
};

// One name in two runs.
struct DifferenceRow {
  std::string path;
  Level level = Level::kModule;
  std::optional<double> before_j;  // nothing: not in that run, or not known there
  std::optional<double> after_j;
  bool in_before = false;
  bool in_after = false;
  double difference_j = 0;
  // Half width of the range that chance explains, from the deviation over steps of both runs;
  // nothing: fewer than two steps, so nobody can tell.
  std::optional<double> noise_j;
  bool is_noise = false;
};

struct Comparison {
  std::vector<AccountReport> runs;
  std::string basis;  // "a step" or "the whole run": what energies below are of
  std::vector<RunTotal> totals;
  SimilarityMatrices similarity;
  // First run against the second, the largest difference first; only with two runs.
  std::vector<DifferenceRow> differences;
  // With a limit: each run's attributed energy against the first's.
  struct Gate {
    double limit = 0;  // 0.05: five per cent
    std::string run;
    double change = 0;
    std::optional<double> noise;  // as a share, as in DifferenceRow
    bool failed = false;
  };
  std::vector<Gate> gates;
};

// How much an accounting result depends on how it was sampled.
struct Precision {
  std::vector<AccountReport> runs;
  // Accounting similarity with every n-th reading only.
  struct Sparsing {
    uint32_t every = 1;
    double period_ms = 0;     // mean between the readings that are left
    double pearson = 0;       // against all readings; mean over the runs
    double lowest = 0;        // of the runs
    double moved = 0;         // share of the energy that went to another operation
    double total_change = 0;  // of the attributed energy, relative
  };
  std::vector<Sparsing> sparsing;
  // Accounting similarity of the first n samples (runs, or steps of the only run) with all.
  struct Widening {
    uint32_t samples = 0;
    double pearson = 0;
    double moved = 0;
  };
  std::vector<Widening> widening;
  std::string sample;  // "run" or "step": what widening and stability are over
  // Between runs, or between steps of the only run.
  SimilarityMatrices stability;
};

// A limit that a part of a run is held to.
struct BudgetLine {
  std::string pattern;  // path with * for anything but "/" and ** for anything
  std::optional<Phase> phase;
  std::optional<double> limit_j;
  std::optional<double> limit_share;  // of the attributed energy
  uint64_t line = 0;                  // in the file
};

struct BudgetVerdict {
  BudgetLine budget;
  std::vector<std::string> matched;  // paths; empty: the pattern meets nothing
  std::optional<double> energy_j;
  std::optional<double> share;
  bool exceeded = false;
};

}  // namespace beryl
