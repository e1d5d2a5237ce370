// Structure: from an operation trace to a model tree, from shares of energy to columns beside it,
// and the folding of repeated layers into one.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "types/analysis.h"
#include "types/energy_column.h"
#include "types/footprint.h"
#include "types/model_tree.h"
#include "types/op_trace.h"
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

// Folds repeated layers: siblings whose names differ only in a number (`layer_3`, `layers.3`,
// `h.3`, `block3`, `BertLayer_3`) and that have the same substructure become one node, `layer_*`.
// Never by a list of names.
TraceTree Fold(const TraceTree& built);

// "total" first, then the phases that occur, then the channels, then the ranks if there are
// several. Unknown energy is left out of sums; in the total, the phases and the ranks, a node all
// of whose operations are without a meter is NaN.
std::vector<EnergyColumn> Columns(const OpTrace& trace, const Footprint& footprint,
                                  const TraceTree& built);

// Operations by qualified name, phase and channel; a row for each device without a meter too.
OperationTable Operations(const OpTrace& trace, const Footprint& footprint);
// The same, by the names a folded tree gives them.
OperationTable Summarize(const OpTrace& trace, const Footprint& footprint, const TraceTree& folded);

// The footprint of the paper's TEF, STEF or STPF. `folded` names the layers of the latter two. Of
// an STPF, names without known power are left out.
struct RankingOptions {
  OperationRanking::Kind kind = OperationRanking::Kind::kTef;
  std::optional<Phase> phase = {};
  double min_share = 0;
};
OperationRanking Rank(const OpTrace& trace, const Footprint& footprint, const TraceTree& folded,
                      const RankingOptions& options);

// The parts of one node as a figure: its children, and what it did itself. `columns` are those of
// `built`. With a phase, parts that have none of its energy are left out. Of too many parts the
// small ones share a box.
struct DiagramOptions {
  std::optional<Phase> phase = {};
  size_t most_boxes = 40;
};
EnergyDiagram MakeDiagram(const OpTrace& trace, const TraceTree& built,
                          const std::vector<EnergyColumn>& columns, NodeId node,
                          const DiagramOptions& options);
// That, and on into the part with parts that took most, up to `levels` figures. Nodes with one part
// only, and below the first figure those of which one part took nearly all, are passed through.
std::vector<EnergyDiagram> MakeDiagrams(const OpTrace& trace, const TraceTree& built,
                                        const std::vector<EnergyColumn>& columns, NodeId node,
                                        int levels, const DiagramOptions& options);

// The nodes that `pattern` names: a whole path, else the ends of paths, else a path with * for
// anything but "/", ** for anything and ? for a character. Empty: none.
std::vector<NodeId> FindNodes(const ModelTree& tree, std::string_view pattern);
// Paths that were perhaps meant, the nearest first.
std::vector<std::string> NearPaths(const ModelTree& tree, std::string_view pattern, size_t most);

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
                         const std::vector<EnergyColumn>& columns, const LayerChoice& choice);

// Seconds at work of each node itself, once where several meters read the same device.
std::vector<double> SelfSeconds(const Footprint& footprint, const TraceTree& built);

}  // namespace beryl::tree
