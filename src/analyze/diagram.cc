#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "analyze/analyze.h"

namespace beryl::analyze {
namespace {

const Column* ColumnOf(const std::vector<Column>& columns, const std::optional<Phase>& phase) {
  if (!phase) return &columns.front();
  const auto found = std::find_if(columns.begin(), columns.end(), [&](const Column& column) {
    return column.label == PhaseName(*phase);
  });
  return found == columns.end() ? nullptr : &*found;
}

// Merges the smallest boxes into one, to keep the figure readable. Shares still add up to the
// whole.
void Gather(EnergyDiagram& diagram, size_t most, std::vector<size_t>& box_of) {
  if (diagram.boxes.size() <= most) return;
  std::vector<size_t> order(diagram.boxes.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return diagram.boxes[a].energy > diagram.boxes[b].energy;
  });
  std::vector<bool> kept(order.size(), false);
  for (size_t i = 0; i + 1 < most; ++i) kept[order[i]] = true;
  DiagramBox rest;
  std::vector<DiagramBox> boxes;
  std::vector<size_t> new_place(order.size());
  for (size_t i = 0; i < diagram.boxes.size(); ++i) {
    DiagramBox& box = diagram.boxes[i];
    if (kept[i]) {
      new_place[i] = boxes.size();
      boxes.push_back(std::move(box));
      continue;
    }
    ++rest.gathered;
    AddKnown(rest.energy, box.energy);
    if (box.origin == Origin::kEstimated) rest.origin = Origin::kEstimated;
  }
  rest.name = fmt::format("{} more", rest.gathered);
  for (size_t i = 0; i < order.size(); ++i) {
    if (!kept[i]) new_place[i] = boxes.size();
  }
  boxes.push_back(std::move(rest));
  diagram.boxes = std::move(boxes);
  for (size_t& box : box_of) {
    if (box < new_place.size()) box = new_place[box];
  }
}

// Maps a kind to one of the repeated layers folded into `node`, by the layer's own path; empty if
// there are none.
class Instances {
 public:
  Instances(const OpTrace& trace, const ModelTree& tree, NodeId node)
      : trace_(trace), depth_(tree.nodes[node].depth) {
    for (NodeId at = node; at != 0; at = tree.nodes[at].parent) {
      folded_ = folded_ || tree.nodes[at].folded > 1;
    }
  }

  bool AreSame(uint32_t a, uint32_t b) const { return !folded_ || PathOf(a) == PathOf(b); }

 private:
  // Down to the depth of the node: a trace's paths are as deep as its tree.
  std::string PathOf(uint32_t kind) const {
    std::vector<PathId> steps;
    for (PathId at = trace_.kinds[kind].path; at != kRootPath; at = trace_.paths[at].parent) {
      steps.push_back(at);
    }
    return steps.size() < depth_ ? "" : trace_.PathText(steps[steps.size() - depth_]);
  }

  const OpTrace& trace_;
  size_t depth_;
  bool folded_ = false;
};

// Follows the largest energies down a tree.
class Descent {
 public:
  Descent(const ModelTree& tree, const Column& column, bool only_with_energy)
      : tree_(tree), column_(column), only_with_energy_(only_with_energy) {}

  // The child with children that has the most energy; the node itself if there is none.
  NodeId LargestWithParts(NodeId node) const {
    NodeId largest = node;
    for (const NodeId child : Parts(node)) {
      if (tree_.IsLeaf(child) || !(column_.total[child] > 0)) continue;
      if (largest == node || column_.total[child] > column_.total[largest]) largest = child;
    }
    return largest;
  }

  // Skips levels where one part has nearly all energy, down to the first with something to divide.
  // Repeated layers are worth showing, and so are all parts of the node that was asked for.
  NodeId PassThrough(NodeId node, bool asked_for) const {
    constexpr double kNearlyAll = 0.999;
    for (;;) {
      const NodeId part = LargestWithParts(node);
      if (part == node || column_.self[node] > 0 || tree_.nodes[part].folded > 1) return node;
      const bool only = Parts(node).size() == 1;
      const bool nearly_all = column_.total[part] >= kNearlyAll * column_.total[node];
      if (!only && (asked_for || !nearly_all)) return node;
      node = part;
    }
  }

 private:
  std::vector<NodeId> Parts(NodeId node) const {
    std::vector<NodeId> parts;
    for (const NodeId child : Children(tree_, node)) {
      if (!only_with_energy_ || column_.total[child] != 0) parts.push_back(child);
    }
    return parts;
  }

  const ModelTree& tree_;
  const Column& column_;
  bool only_with_energy_;
};

// One figure: first its boxes, then the arrows between them.
class Figure {
 public:
  Figure(const OpTrace& trace, const TraceTree& built, const std::vector<Column>& columns,
         NodeId node, const DiagramOptions& options)
      : trace_(trace),
        built_(built),
        tree_(built.tree),
        column_(ColumnOf(columns, options.phase)),
        node_(node),
        options_(options),
        box_of_(built.tree.size(), kOutside) {}

  EnergyDiagram Make() {
    diagram_.path = NodePath(tree_, node_);
    diagram_.phase = options_.phase;
    // A trace may have only part of the dataflow: PyTorch's has flows from forward to backward.
    const bool described =
        options_.flows != nullptr && options_.phase.value_or(Phase::kForward) == Phase::kForward;
    diagram_.has_dataflow = described || !trace_.dataflow.empty();
    diagram_.described_dataflow = described;
    AddItself();
    for (const NodeId child : Children(tree_, node_)) AddPart(child);
    Gather(diagram_, std::max<size_t>(options_.most_boxes, 2), box_of_);
    ShareOut();
    if (described) {
      AddDescribedFlows(*options_.flows);
    } else {
      AddTracedFlows();
    }
    for (const auto& [ends, count] : arrows_) {
      diagram_.arrows.push_back({ends.first, ends.second, count});
    }
    return std::move(diagram_);
  }

 private:
  static constexpr auto kOutside = static_cast<size_t>(-1);

  DiagramBox* AddBox(NodeId id, double energy) {
    // With a phase, a node without energy in it is not part of the figure.
    if (options_.phase && energy == 0) return nullptr;
    DiagramBox& box = diagram_.boxes.emplace_back();
    box.energy = IfKnown<Joules>(energy);
    if (column_ != nullptr && !column_->estimated.empty() && column_->estimated[id]) {
      box.origin = Origin::kEstimated;
    }
    box.type = tree_[id].type;
    box.path = NodePath(tree_, id);
    return &box;
  }

  void AddItself() {
    const double self = column_ != nullptr ? column_->self[node_] : 0;
    if (!std::isnan(self) && self <= 0) return;
    DiagramBox* box = AddBox(node_, self);
    if (box == nullptr) return;
    box->name = tree_.IsLeaf(node_) ? tree_[node_].name : "(itself)";
    box_of_[node_] = diagram_.boxes.size() - 1;
  }

  void AddPart(NodeId child) {
    DiagramBox* box = AddBox(child, column_ != nullptr ? column_->total[child] : 0);
    if (box == nullptr) return;
    const TreeNode& part = tree_[child];
    box->name = part.name;
    box->composite = !tree_.IsLeaf(child);
    box->folded = part.folded;
    box->folded_range = part.folded_range;
    if (!options_.phase && !column_->deviation.empty() && box->energy) {
      box->deviation = IfKnown<Joules>(column_->deviation[child]);
    }
    for (NodeId inner = child; inner < part.end; ++inner) {
      box_of_[inner] = diagram_.boxes.size() - 1;
    }
  }

  void ShareOut() {
    for (const DiagramBox& box : diagram_.boxes) AddKnown(diagram_.energy, box.energy);
    for (DiagramBox& box : diagram_.boxes) {
      if (box.energy && diagram_.energy > Joules{}) box.share = *box.energy / *diagram_.energy;
    }
  }

  // A flow between two repeated layers leaves one and enters the other, though both share one
  // figure. `same_layer` is called only if needed, because it may compare paths.
  template <typename SameLayer>
  void AddFlow(NodeId from_node, NodeId to_node, const SameLayer& same_layer) {
    const size_t from = box_of_[from_node];
    const size_t to = box_of_[to_node];
    if (from == kOutside && to == kOutside) return;
    // What the node does itself is inside the figure, also without a box.
    if (from == kOutside && from_node == node_) return;
    if (to == kOutside && to_node == node_) return;
    const bool leaves = from == kOutside || to == kOutside || !same_layer();
    if (leaves && from != kOutside) ++diagram_.boxes[from].to_outside;
    if (leaves && to != kOutside) ++diagram_.boxes[to].from_outside;
    if (!leaves && from != to) ++arrows_[{from, to}];
  }

  void AddDescribedFlows(const DescribedFlows& flows) {
    const auto place = [&](NodeId at) { return flows.place.empty() ? at : flows.place[at]; };
    // Which of the repeated layers folded into the node contains another.
    const auto layer_of = [&](NodeId at) {
      while (at != 0 && place(at) != node_) at = (*flows.unfolded)[at].parent;
      return at;
    };
    for (const Flow& flow : flows.flows) {
      AddFlow(place(flow.from), place(flow.to),
              [&] { return layer_of(flow.from) == layer_of(flow.to); });
    }
  }

  void AddTracedFlows() {
    const Instances instances(trace_, tree_, node_);
    for (const Dataflow& flow : trace_.dataflow) {
      if (options_.phase && (trace_.kinds[flow.from].phase != *options_.phase ||
                             trace_.kinds[flow.to].phase != *options_.phase)) {
        continue;
      }
      AddFlow(built_.node_of_kind[flow.from], built_.node_of_kind[flow.to],
              [&] { return instances.AreSame(flow.from, flow.to); });
    }
  }

  const OpTrace& trace_;
  const TraceTree& built_;
  const ModelTree& tree_;
  const Column* column_;  // nothing: no energy in this phase
  NodeId node_;
  const DiagramOptions& options_;
  std::vector<size_t> box_of_;  // by node
  std::map<std::pair<size_t, size_t>, uint64_t> arrows_;
  EnergyDiagram diagram_;
};

}  // namespace

EnergyDiagram MakeDiagram(const OpTrace& trace, const TraceTree& built,
                          const std::vector<Column>& columns, NodeId node,
                          const DiagramOptions& options) {
  return Figure(trace, built, columns, node, options).Make();
}

std::vector<EnergyDiagram> MakeDiagrams(const OpTrace& trace, const TraceTree& built,
                                        const std::vector<Column>& columns, NodeId node, int levels,
                                        const DiagramOptions& options) {
  std::vector<EnergyDiagram> diagrams;
  const Column* column = ColumnOf(columns, options.phase);
  if (column == nullptr) return {MakeDiagram(trace, built, columns, node, options)};
  const Descent descent(built.tree, *column, options.phase.has_value());
  for (int level = 0; level < levels; ++level) {
    node = descent.PassThrough(node, level == 0);
    diagrams.push_back(MakeDiagram(trace, built, columns, node, options));
    const NodeId next = descent.LargestWithParts(node);
    // The kernels of an operation are not a level of the program.
    if (next == node || (level > 0 && built.tree.nodes[next].level >= Level::kMath)) break;
    node = next;
  }
  return diagrams;
}

}  // namespace beryl::analyze
