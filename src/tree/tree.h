// Structure: from an operation trace to a model tree, from shares of energy to columns beside it,
// and the folding of repeated layers into one. And what is said of several runs through their
// trees: how alike they are, what differs, whether a limit holds.
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
#include "types/described_prediction.h"
#include "types/description.h"
#include "types/find_nodes.h"
#include "types/fold_tree.h"
#include "types/footprint.h"
#include "types/model_alignment.h"
#include "types/model_tree.h"
#include "types/op_trace.h"
#include "types/precision.h"
#include "types/timeline.h"

namespace beryl::tree {

// A tree and how a trace maps onto it.
struct TraceTree {
  ModelTree tree;
  std::vector<NodeId> node_of_kind;  // by OpTrace kind
  std::vector<bool> in_names;        // by node: whether it is a part of qualified names
};

// Steps with one name below one parent are one node, whether scope or operation. What is nested
// deeper than kDeepest belongs to its ancestor at that depth.
inline constexpr int kDeepest = 200;
TraceTree Build(const OpTrace& trace);

// The same with like layers folded, and several runs' as one (types/fold_tree.h, merge_trees.h):
// all that Merge returns have the same `tree`.
TraceTree Fold(const TraceTree& built, std::vector<NodeId>* node_of = nullptr);
std::vector<TraceTree> Merge(const std::vector<const TraceTree*>& trees);

// What a model's description has for every node: FLOPs, bytes, parameters, scopes; with kAll also
// shapes, kinds of operations and everything else that is known.
enum class Detail { kWork, kAll };
TreeColumns DescribedColumns(const Description& description, Detail detail);
// What was predicted of a description beside that: energy first, then time where it is known.
TreeColumns PredictedColumns(const DescribedPrediction& prediction);
// Folds like layers, adds up what they have, and appends to both what follows from the columns:
// shares, power, rates.
ShownTree Show(TreeColumns tree);

// "energy" first, then the phases that occur, then the channels, then the ranks if there are
// several. Unknown energy is left out of sums; in the total, the phases and the ranks, a node all
// of whose operations are without a meter is NaN.
std::vector<Column> Columns(const OpTrace& trace, const Footprint& footprint,
                            const TraceTree& built);

// The same on their tree, with the time at work, with `beside`, and with what follows from all of
// these: power, shares, rates.
struct BesideTree {
  std::vector<Column> columns;
  std::vector<TextColumn> texts;
};
TreeColumns MeasuredColumns(const OpTrace& trace, const Footprint& footprint,
                            const TraceTree& built, const BesideTree& beside = {});
// What stands beside a tree, beside the one that it was folded into.
BesideTree FoldBeside(const BesideTree& beside, const std::vector<NodeId>& node_of, size_t nodes);

// What went into a model, as the shapes of its run tell: sequences by batch and length, images by
// batch and size, in the order in which they were first seen, and how often. Empty: not seen.
struct SeenInput {
  struct Size {
    int64_t batch = 0;
    int64_t length = 0;  // tokens, or pixels a side
    uint64_t count = 0;
  };
  std::vector<Size> tokens;  // by the look-ups in the table of words, one for each place of them
  std::vector<Size> images;
  std::optional<AttentionKind> attention;
};
// `vocabulary`: how many rows the table of words has; 0: of all tables it is the largest.
SeenInput SeeInput(const OpTrace& trace, int64_t vocabulary);

// What a description gives a run: columns and scopes beside the run's own tree.
struct ModelOfRun {
  ModelAlignment alignment;
  BesideTree beside;
  std::vector<Flow> flows;  // between nodes of the run's tree, each once
  NodeId root = 0;          // where the model begins in there
};
// Finds the modules of a description in a run, and gives them its names, classes and levels.
// `described` has the description's columns, or what was predicted of it.
ModelOfRun AlignModel(const OpTrace& trace, const Footprint& footprint,
                      const Description& description, const TreeColumns& described,
                      TraceTree& built);

// A description's columns with prefill and decode, which a run does not tell apart, added up.
TreeColumns WithoutPhases(const Description& description, TreeColumns tree);
// The model alone: the part of a tree from `root` on, with modules and operations that have no
// scope taken out of the way.
TreeColumns CutModel(const TreeColumns& tree, NodeId root);
// Energy, time and rates of one pass of it, named as those of a prediction are.
TreeColumns OnePass(TreeColumns tree);
// Energy by channel and time of one forward pass of the model alone, with the description's
// columns; `time` is a footprint of seconds. Precondition: the number of passes is known.
TreeColumns ForwardPass(const OpTrace& trace, const Footprint& energy, const Footprint& time,
                        const TraceTree& built, const ModelOfRun& model);

// Operations by qualified name, phase and channel; a row for each device without a meter too. Names
// are those that the tree has for the modules around them: of a folded one, layers are added up.
OperationTable Operations(const OpTrace& trace, const Footprint& footprint, const TraceTree& tree);

// The footprint of the paper's TEF, STEF or STPF, by the names of a tree: the latter two want it
// folded. Of an STPF, names without known power are left out.
struct RankingOptions {
  OperationRanking::Kind kind = OperationRanking::Kind::kTef;
  std::optional<Phase> phase = {};
  double min_share = 0;
};
OperationRanking Rank(const OpTrace& trace, const Footprint& footprint, const TraceTree& tree,
                      const RankingOptions& options);

// Dataflow between nodes of a run's tree, and where they went if `place` is not empty: the tree was
// folded.
struct DescribedFlows {
  const ModelTree* unfolded = nullptr;
  std::vector<Flow> flows;
  std::vector<NodeId> place;
};

// The parts of one node as a figure: its children, and what it did itself. `columns` are those of
// `built`. With a phase, parts that have none of its energy are left out. Of too many parts the
// small ones share a box.
struct DiagramOptions {
  std::optional<Phase> phase = {};
  size_t most_boxes = 40;
  // What a description knows of the dataflow, where the trace tells none; it is of the forward
  // pass.
  const DescribedFlows* flows = nullptr;
};
EnergyDiagram MakeDiagram(const OpTrace& trace, const TraceTree& built,
                          const std::vector<Column>& columns, NodeId node,
                          const DiagramOptions& options);
// That, and on into the part with parts that took most, up to `levels` figures. Nodes with one part
// only, and below the first figure those of which one part took nearly all, are passed through.
std::vector<EnergyDiagram> MakeDiagrams(const OpTrace& trace, const TraceTree& built,
                                        const std::vector<Column>& columns, NodeId node, int levels,
                                        const DiagramOptions& options);

// At which level names are taken for a comparison.
struct NameLevel {
  enum class Kind {
    kOperation,  // every operation by its qualified name, layers added up
    kLayer,      // the innermost module of every operation
    kModule,     // every module, with all that is in it
    kDepth,      // nodes at `depth`, and what ends above it
  };
  Kind kind = Kind::kOperation;
  int depth = 0;
};
// "operation", "layer", "module" or a depth from 1.
std::optional<NameLevel> ParseNameLevel(std::string_view text);
std::string NameLevelWords(NameLevel level);

// One name's energy over all devices, and its power while at work.
struct NamedEnergy {
  std::string name;
  Phase phase = Phase::kForward;
  std::optional<Joules> energy;
  std::optional<Watts> power;
};
using EnergyProfile = std::vector<NamedEnergy>;
// `per_step`: what ran in steps, divided by the steps of which energy is known.
EnergyProfile Profile(const OpTrace& trace, const Footprint& footprint, const TraceTree& tree,
                      NameLevel level, bool per_step);
// Accounting similarity of every pair: of the names that both have.
SimilarityMatrices Similarity(const std::vector<std::string>& labels,
                              const std::vector<EnergyProfile>& profiles);

// A run to be set beside others; what it points at has to outlive the call. Its single operations
// (OpTrace::ops) are not looked at.
struct RunToCompare {
  std::string label;
  const OpTrace* trace = nullptr;
  const Footprint* footprint = nullptr;
  const TraceTree* folded = nullptr;
};
struct CompareOptions {
  NameLevel level;                             // of the similarity
  std::optional<NameLevel> differences_level;  // nothing: the deepest nodes that explain them
  std::vector<GateLimit> gates;
};
// Everything but Comparison::runs.
Comparison Compare(const std::vector<RunToCompare>& runs, const CompareOptions& options);

// Folded trees on one; what it points at has to outlive the call. For each name in `columns`, which
// all sides have: a column for each side, then for each but the first its difference from the
// first, and by how much of it that is.
struct SideToSet {
  std::string label;
  const TreeColumns* tree = nullptr;
};
TreeColumns SetSideBySide(const std::vector<SideToSet>& sides,
                          const std::vector<std::string>& columns);
// Names of the columns that all of them have, in the order of the first.
std::vector<std::string> CommonColumns(const std::vector<SideToSet>& sides);

// "5%", "5 %" or "0.05", from 0. A bare number from 1 on is nothing: 5 may be meant as 5 % or 500
// %.
std::optional<double> ParseShare(std::string_view text);
// "5%" or "PATTERN=5%"; fails as misuse.
Result<GateLimit> ParseGate(std::string_view text);

// One run accounted with fewer and fewer power readings: `thinned` are footprints of the same
// trace, the first with all readings, and `every` says how many of them each kept.
std::vector<Precision::Sparsing> Sparse(const OpTrace& trace, const std::vector<Footprint>& thinned,
                                        const std::vector<uint32_t>& every,
                                        const TraceTree& folded);
// Everything of a precision but Precision::runs: from the sparsing of each run, and from the runs,
// or the steps of the only one.
Precision MeasurePrecision(const std::vector<RunToCompare>& runs,
                           const std::vector<std::vector<Precision::Sparsing>>& sparsing);
// 1, 2, 3, 4, 5, 8, 10, 16, 20, 32, ... up to `largest`.
std::vector<uint32_t> LogLikeCounts(uint64_t largest);

// Reads a budget file: a line each, "PATTERN [PHASE] LIMIT [per step]", # starts a comment. Fails
// with file, line and what is expected.
Result<std::vector<BudgetLine>> ReadBudget(ByteSource& source);
// Holds a run to its budget. Patterns are matched against paths as they are in the program and as
// folding names them.
std::vector<BudgetVerdict> CheckBudget(const std::vector<BudgetLine>& budget, const OpTrace& trace,
                                       const Footprint& footprint, const TraceTree& built,
                                       const TraceTree& folded);
// Groups the kinds of a trace by the layer they belong to: the children of `node`, or all nodes of
// a level (1: below the root), or, with neither, the outermost like layers, and where there are
// none, the parts of the first node that has several parts with parts. At most kMostLayers of them,
// those that took most. `columns` are those of `built`.
inline constexpr size_t kMostLayers = 32;
struct LayerChoice {
  std::optional<NodeId> node = {};  // of `built`
  std::optional<int> level = {};
};
LayerGroups GroupByLayer(const TraceTree& built, const TraceTree& folded,
                         const std::vector<Column>& columns, const LayerChoice& choice);

// Seconds at work of each node itself, once where several meters read the same device.
std::vector<double> SelfSeconds(const Footprint& footprint, const TraceTree& built);

}  // namespace beryl::tree
