// Analyses of accounted runs and data sets: rankings, diagrams, comparisons, precision, budgets,
// breakdowns, costs and trade-offs.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "types/analysis.h"
#include "types/budget.h"
#include "types/column.h"
#include "types/comparison.h"
#include "types/dataset.h"
#include "types/described_prediction.h"
#include "types/description.h"
#include "types/energy_use.h"
#include "types/footprint.h"
#include "types/measurement.h"
#include "types/op_trace.h"
#include "types/operation_table.h"
#include "types/precision.h"
#include "types/timeline.h"
#include "types/trace_tree.h"

namespace beryl::analyze {

// Operations by qualified name, phase and channel, with a row for each device without a meter.
// Names use the tree's module names; in a folded tree, repeated layers are added up.
OperationTable Operations(const OpTrace& trace, const Footprint& footprint, const TraceTree& tree);

// The paper's TEF, STEF or STPF, with the names of a tree. STEF and STPF expect a folded tree. An
// STPF leaves out names without known power.
struct RankingOptions {
  OperationRanking::Kind kind = OperationRanking::Kind::kTef;
  std::optional<Phase> phase = {};
  double min_share = 0;
};
OperationRanking Rank(const OpTrace& trace, const Footprint& footprint, const TraceTree& tree,
                      const RankingOptions& options);

// Dataflow between nodes of a run's tree. If the tree was folded, `place` maps its nodes to the
// folded ones.
struct DescribedFlows {
  const ModelTree* unfolded = nullptr;
  std::vector<Flow> flows;
  std::vector<NodeId> place;
};

// A figure of the parts of one node: its children, and its own work. `columns` are those of
// `built`. With a phase, parts without energy in that phase are left out. If there are too many
// parts, the small ones share a box.
struct DiagramOptions {
  std::optional<Phase> phase = {};
  size_t most_boxes = 40;
  // The description's dataflow, used if the trace has none. It covers the forward pass only.
  const DescribedFlows* flows = nullptr;
};
EnergyDiagram MakeDiagram(const OpTrace& trace, const TraceTree& built,
                          const std::vector<Column>& columns, NodeId node,
                          const DiagramOptions& options);
// This figure, then that of the largest part that has parts itself, up to `levels` figures. Skips
// nodes with a single part and, after the first figure, nodes where one part took nearly
// everything.
std::vector<EnergyDiagram> MakeDiagrams(const OpTrace& trace, const TraceTree& built,
                                        const std::vector<Column>& columns, NodeId node, int levels,
                                        const DiagramOptions& options);

// The level of the names in a comparison.
struct NameLevel {
  enum class Kind {
    kOperation,  // every operation by its qualified name, repeated layers added up
    kLayer,      // the innermost module of every operation
    kModule,     // every module, including its content
    kDepth,      // nodes at `depth`, and leaves above it
  };
  Kind kind = Kind::kOperation;
  int depth = 0;
};
// "operation", "layer", "module" or a depth from 1.
std::optional<NameLevel> ParseNameLevel(std::string_view text);
std::string NameLevelWords(NameLevel level);

// The energy of one name over all devices, and its power while it runs.
struct NamedEnergy {
  std::string name;
  Phase phase = Phase::kForward;
  std::optional<Joules> energy;
  std::optional<Watts> power;
};
using EnergyProfile = std::vector<NamedEnergy>;
// `per_step`: the energy of operations in steps, divided by the number of steps with known energy.
EnergyProfile Profile(const OpTrace& trace, const Footprint& footprint, const TraceTree& tree,
                      NameLevel level, bool per_step);
// The accounting similarity of every pair of runs, over the names that both have.
SimilarityMatrices Similarity(const std::vector<std::string>& labels,
                              const std::vector<EnergyProfile>& profiles);

// A run to compare. The pointers must stay valid during the call. OpTrace::ops is not used.
struct RunToCompare {
  std::string label;
  const OpTrace* trace = nullptr;
  const Footprint* footprint = nullptr;
  const TraceTree* folded = nullptr;
  RunConditions conditions = {};
  std::string missing = {};  // what its energy lacks; empty: it is complete, as far as is known
};
struct CompareOptions {
  NameLevel level;                             // for the similarity
  std::optional<NameLevel> differences_level;  // empty: the deepest that explain them
  std::vector<GateLimit> gates;
  // How many runs each side has, in order; empty: each run is a side.
  std::vector<size_t> sides = {};
  // The runs of a side are the rounds of one recording.
  bool runs_are_rounds = false;
  std::vector<std::string> side_labels = {};  // empty: made from those of the runs
  double false_discovery = 0.05;
  ComparedEnergy of = ComparedEnergy::kOperations;
};
// The first side is compared with each later one. Fills everything except Comparison::runs.
Comparison Compare(const std::vector<RunToCompare>& runs, const CompareOptions& options);

// Puts folded trees on one merged tree. The pointers must stay valid during the call. For each name
// in `columns`, which all sides must have: a column for each side, then for each side but the first
// its absolute and relative difference from the first.
struct SideToSet {
  std::string label;
  const TreeColumns* tree = nullptr;
};
TreeColumns SetSideBySide(const std::vector<SideToSet>& sides,
                          const std::vector<std::string>& columns);
// The names of columns that all sides have, in the order of the first.
std::vector<std::string> CommonColumns(const std::vector<SideToSet>& sides);

// "5%", "5 %" or "0.05"; not negative. A number of 1 or more without "%" returns nothing, because 5
// may mean 5 % or 500 %.
std::optional<double> ParseShare(std::string_view text);
// "5%" or "PATTERN=5%"; anything else is a misuse error.
Result<GateLimit> ParseGate(std::string_view text);

// One run accounted with fewer and fewer power readings. `thinned` has footprints of the same
// trace, the first with all readings; `every` has the period of the readings each one kept.
std::vector<Precision::Sparsing> Sparse(const OpTrace& trace, const std::vector<Footprint>& thinned,
                                        const std::vector<uint32_t>& every,
                                        const TraceTree& folded);
// Fills everything except Precision::runs, from the sparsing of each run and from the runs (or,
// with a single run, its steps).
Precision MeasurePrecision(const std::vector<RunToCompare>& runs,
                           const std::vector<std::vector<Precision::Sparsing>>& sparsing);
// 1, 2, 3, 4, 5, 8, 10, 16, 20, 32, ... up to `largest`.
std::vector<uint32_t> LogLikeCounts(uint64_t largest);

// Reads a budget file with one "PATTERN [PHASE] LIMIT [per step]" per line; `optimizer LIMIT` means
// all of that phase. # starts a comment.
// Errors name the file, the line and the expected form.
Result<std::vector<BudgetLine>> ReadBudget(ByteSource& source);
// Checks a run against its budget. Patterns match paths as in the program and as in the folded
// tree.
std::vector<BudgetVerdict> CheckBudget(const std::vector<BudgetLine>& budget, const OpTrace& trace,
                                       const Footprint& footprint, const TraceTree& built,
                                       const TraceTree& folded);
// Checks a prediction: a step of training, or one passage through the model.
std::vector<BudgetVerdict> CheckBudget(const std::vector<BudgetLine>& budget,
                                       const DescribedPrediction& prediction);
// Checks a recording: `total`, `ours` and the names of devices, with * and ?. A step is a round. No
// limit is kept where readings are missing, unless `allow_incomplete`: then those there are decide.
std::vector<BudgetVerdict> CheckBudget(const std::vector<BudgetLine>& budget,
                                       const Measurement& measured, bool allow_incomplete);
// Groups the kinds of a trace by layer: the children of `node`, or all nodes of a level (1: below
// the root). With neither, the outermost repeated layers; if there are none, the children of the
// first node that has several children with children. Keeps at most kMostLayers layers, those with
// the most energy. `columns` are those of `built`.
inline constexpr size_t kMostLayers = 32;
struct LayerChoice {
  std::optional<NodeId> node = {};  // of `built`
  std::optional<int> level = {};
};
LayerGroups GroupByLayer(const TraceTree& built, const TraceTree& folded,
                         const std::vector<Column>& columns, const LayerChoice& choice);

// Energy use of models. `predicted` has the columns of learn::Predict by run, or is empty; then
// only measured energy is used. It is an error if neither is known.

// How the energy of each model divides, over all its input sizes.
Result<std::vector<Breakdown>> BreakDown(const Dataset& data, const std::vector<Column>& predicted,
                                         std::vector<Note>& notes);

// The cost of queries: one row for each run of the given size (or of every size).
struct CostOptions {
  Electricity electricity;
  double queries = 1e6;
  double passages = 1;
  std::optional<double> batch_size = {};
  std::optional<double> seq_len = {};
};
// What measured energy costs, ours and that of the machine.
MeasuredCosts CostMeasurement(const Measurement& measured, const Electricity& electricity);
QueryCosts CostQueries(const DescribedPrediction& prediction, const CostOptions& options);
Result<QueryCosts> CostQueries(const Dataset& data, const std::vector<Column>& predicted,
                               const CostOptions& options);

// Accuracy against energy at one input size: the given one, otherwise the largest (batch size times
// length) that all models have and that agrees with what was given.
struct TradeoffOptions {
  std::optional<double> batch_size = {};
  std::optional<double> seq_len = {};
  std::optional<Joules> budget = {};
  std::optional<double> target = {};
};
Result<Tradeoff> TradeOff(const Dataset& data, const std::vector<Column>& predicted,
                          const std::vector<ModelAccuracy>& accuracies,
                          const TradeoffOptions& options);

}  // namespace beryl::analyze
