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

}  // namespace

EnergyDiagram MakeDiagram(const OpTrace& trace, const TraceTree& built,
                          const std::vector<Column>& columns, NodeId node,
                          const DiagramOptions& options) {
  const ModelTree& tree = built.tree;
  const Column* column = ColumnOf(columns, options.phase);
  EnergyDiagram diagram;
  diagram.path = NodePath(tree, node);
  diagram.phase = options.phase;
  // A trace may have only part of the dataflow: PyTorch's has flows from forward to backward.
  const bool described =
      options.flows != nullptr && options.phase.value_or(Phase::kForward) == Phase::kForward;
  diagram.has_dataflow = described || !trace.dataflow.empty();
  diagram.described_dataflow = described;

  constexpr auto kOutside = static_cast<size_t>(-1);
  std::vector<size_t> box_of(tree.nodes.size(), kOutside);  // by node
  auto add = [&](NodeId id, double energy) -> DiagramBox* {
    // With a phase, a node without energy in it is not part of the figure.
    if (options.phase && energy == 0) return nullptr;
    diagram.boxes.emplace_back().energy = IfKnown<Joules>(energy);
    if (column != nullptr && !column->estimated.empty() && column->estimated[id]) {
      diagram.boxes.back().origin = Origin::kEstimated;
    }
    diagram.boxes.back().type = tree.nodes[id].type;
    return &diagram.boxes.back();
  };
  const double none = 0;
  if (const double self = column != nullptr ? column->self[node] : none;
      self != 0 && (std::isnan(self) || self > 0)) {
    if (DiagramBox* box = add(node, self)) {
      box->name = tree.IsLeaf(node) ? tree.nodes[node].name : "(itself)";
      box->path = diagram.path;
      box_of[node] = diagram.boxes.size() - 1;
    }
  }
  for (const NodeId child : Children(tree, node)) {
    DiagramBox* box = add(child, column != nullptr ? column->total[child] : none);
    if (box == nullptr) continue;
    const TreeNode& part = tree.nodes[child];
    box->name = part.name;
    box->path = NodePath(tree, child);
    box->composite = !tree.IsLeaf(child);
    box->folded = part.folded;
    box->folded_range = part.folded_range;
    if (!options.phase && !column->deviation.empty() && box->energy) {
      box->deviation = IfKnown<Joules>(column->deviation[child]);
    }
    for (NodeId inner = child; inner < part.end; ++inner) box_of[inner] = diagram.boxes.size() - 1;
  }
  Gather(diagram, std::max<size_t>(options.most_boxes, 2), box_of);

  for (const DiagramBox& box : diagram.boxes) AddKnown(diagram.energy, box.energy);
  for (DiagramBox& box : diagram.boxes) {
    if (box.energy && diagram.energy > Joules{}) box.share = *box.energy / *diagram.energy;
  }

  std::map<std::pair<size_t, size_t>, uint64_t> arrows;
  // A flow between two repeated layers leaves one and enters the other, though both share one
  // figure. `same_layer` is called only if needed, because it may compare paths.
  const auto add_flow = [&](size_t from, size_t to, auto&& same_layer) {
    if (from == kOutside && to == kOutside) return;
    const bool leaves = from == kOutside || to == kOutside || !same_layer();
    if (leaves && from != kOutside) ++diagram.boxes[from].to_outside;
    if (leaves && to != kOutside) ++diagram.boxes[to].from_outside;
    if (!leaves && from != to) ++arrows[{from, to}];
  };
  if (described) {
    const DescribedFlows& flows = *options.flows;
    const auto place = [&](NodeId at) { return flows.place.empty() ? at : flows.place[at]; };
    // Which of the repeated layers folded into `node` contains a node.
    const auto layer_of = [&](NodeId at) {
      while (at != 0 && place(at) != node) at = (*flows.unfolded)[at].parent;
      return at;
    };
    for (const Flow& flow : flows.flows) {
      add_flow(box_of[place(flow.from)], box_of[place(flow.to)],
               [&] { return layer_of(flow.from) == layer_of(flow.to); });
    }
  } else {
    const Instances instances(trace, tree, node);
    for (const Dataflow& flow : trace.dataflow) {
      if (options.phase && (trace.kinds[flow.from].phase != *options.phase ||
                            trace.kinds[flow.to].phase != *options.phase)) {
        continue;
      }
      add_flow(box_of[built.node_of_kind[flow.from]], box_of[built.node_of_kind[flow.to]],
               [&] { return instances.AreSame(flow.from, flow.to); });
    }
  }
  for (const auto& [ends, count] : arrows) {
    diagram.arrows.push_back({ends.first, ends.second, count});
  }
  return diagram;
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
