// Builds the model tree of an operation trace or a description, and turns shares of energy into
// columns of the tree.
#pragma once

#include <optional>
#include <vector>

#include "types/column.h"
#include "types/described_prediction.h"
#include "types/description.h"
#include "types/footprint.h"
#include "types/model_alignment.h"
#include "types/model_tree.h"
#include "types/op_trace.h"
#include "types/trace_tree.h"

namespace beryl::tree {

// Path steps with the same name and parent are one node, whether scope or operation. Anything
// deeper than kDeepestNode belongs to its ancestor at that depth.
TraceTree Build(const OpTrace& trace);

// The columns of a description: FLOPs, bytes, parameters, scopes; with kAll also shapes, kinds of
// operations and everything else that is known.
enum class Detail { kWork, kAll };
TreeColumns DescribedColumns(const Description& description, Detail detail);
// These columns and the prediction: energy first, then time if known.
TreeColumns PredictedColumns(const DescribedPrediction& prediction);
// Folds repeated layers, adds up their values, and appends the derived columns (shares, power,
// rates) to both trees.
ShownTree Show(TreeColumns tree);
// Only the tree in full: that is faster, and all but tables show nothing else.
ShownTree ShowWhole(TreeColumns tree);

// "energy" first, then the phases that occur, the channels, and the ranks if there are several.
// Unknown energy is left out of sums. In the total, the phases and the ranks, a node whose
// operations all lack a meter is NaN.
std::vector<Column> Columns(const OpTrace& trace, const Footprint& footprint,
                            const TraceTree& built);

// The same with their tree, the operation time, the columns in `beside`, and all derived columns:
// power, shares, rates.
struct BesideTree {
  std::vector<Column> columns;
  std::vector<TextColumn> texts;
};
TreeColumns MeasuredColumns(const OpTrace& trace, const Footprint& footprint,
                            const TraceTree& built, const BesideTree& beside = {});
// Moves the additional columns of a tree to the tree it was folded into.
BesideTree FoldBeside(const BesideTree& beside, const std::vector<NodeId>& node_of, size_t nodes);

// A model's input, from the shapes in its run. Empty if not seen.
struct SeenInput {
  struct Size {
    int64_t batch = 0;
    int64_t length = 0;  // tokens, or pixels per side
    uint64_t count = 0;
    NodeId place = 0;  // node of the run's tree that received it

    friend bool operator==(const Size&, const Size&) = default;
  };
  // In the order of the calls of each thread; equal ones in a row are one.
  std::vector<Size> tokens;  // from look-ups in the word table
  std::vector<Size> images;
  // How many tokens a single token attended to, itself included: the mean.
  std::optional<double> keys;
  bool only_last_tokens = false;  // words are predicted for the last token of each sequence only
  std::optional<AttentionKind> attention;
  std::optional<Dtype> dtype;  // of most matrix products

  friend bool operator==(const SeenInput&, const SeenInput&) = default;
};
// `vocabulary`: the number of rows in the word table; 0: the largest table is used. `within`:
// considers only these nodes of the run and everything below; empty: all.
SeenInput SeeInput(const OpTrace& trace, const TraceTree& built, int64_t vocabulary,
                   const std::vector<bool>& within = {});

// What a description adds to a run: columns and scopes for the run's own tree.
struct ModelOfRun {
  ModelAlignment alignment;
  BesideTree beside;
  std::vector<Flow> flows;  // between nodes of the run's tree, without duplicates
  NodeId root = 0;          // the root of the model in the run's tree
  std::vector<bool> found;  // by node of the run's tree: whether it is a module of the model
};
// Finds the modules of a description in a run, and gives them its names, classes and levels.
// `described` has the description's columns or its prediction.
ModelOfRun AlignModel(const OpTrace& trace, const Footprint& footprint,
                      const Description& description, const TreeColumns& described,
                      TraceTree& built);

// A description's columns with prefill and decode added up, because a run does not separate them.
TreeColumns WithoutPhases(const Description& description, TreeColumns tree);
// The model alone: the subtree at `root`, without modules and operations that have no scope.
TreeColumns CutModel(const TreeColumns& tree, NodeId root);
// Energy, time and rates of one pass, named like those of a prediction.
TreeColumns OnePass(TreeColumns tree);
// Energy by channel and time of one forward pass of the model alone, with the description's
// columns. `time` is a footprint of seconds. Precondition: the number of passes is known.
TreeColumns ForwardPass(const OpTrace& trace, const Footprint& energy, const Footprint& time,
                        const TraceTree& built, const ModelOfRun& model);

// Seconds of operation of each node itself. A device with several meters counts once.
std::vector<double> SelfSeconds(const Footprint& footprint, const TraceTree& built);

}  // namespace beryl::tree
