#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

#include <fmt/format.h>

#include "tree/tree.h"

namespace beryl::tree {
namespace {

const EnergyColumn* ColumnOf(const std::vector<EnergyColumn>& columns,
                             const std::optional<Phase>& phase) {
  if (!phase) return &columns.front();
  const auto found = std::find_if(columns.begin(), columns.end(), [&](const EnergyColumn& column) {
    return column.label == PhaseName(*phase);
  });
  return found == columns.end() ? nullptr : &*found;
}

std::optional<double> Known(double energy) {
  return std::isnan(energy) ? std::nullopt : std::optional<double>(energy);
}

bool IsComposite(const ModelTree& tree, NodeId node) { return tree.nodes[node].end > node + 1; }

// The smallest boxes become one, so that a figure stays readable; shares still add up to all.
void Gather(EnergyDiagram& diagram, size_t most, std::vector<size_t>& box_of) {
  if (diagram.boxes.size() <= most) return;
  std::vector<size_t> order(diagram.boxes.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return diagram.boxes[a].energy_j.value_or(-1) > diagram.boxes[b].energy_j.value_or(-1);
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
    if (box.energy_j) rest.energy_j = rest.energy_j.value_or(0) + *box.energy_j;
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

}  // namespace

EnergyDiagram MakeDiagram(const OpTrace& trace, const TraceTree& built,
                          const std::vector<EnergyColumn>& columns, NodeId node,
                          const DiagramOptions& options) {
  const ModelTree& tree = built.tree;
  const EnergyColumn* column = ColumnOf(columns, options.phase);
  EnergyDiagram diagram;
  diagram.path = NodePath(tree, node);
  diagram.phase = options.phase;
  diagram.has_dataflow = !trace.dataflow.empty();

  constexpr auto kOutside = static_cast<size_t>(-1);
  std::vector<size_t> box_of(tree.nodes.size(), kOutside);  // by node
  auto add = [&](NodeId id, double energy) -> DiagramBox* {
    // With a phase, what took no part in it is not of the figure.
    if (options.phase && energy == 0) return nullptr;
    diagram.boxes.emplace_back().energy_j = Known(energy);
    diagram.boxes.back().type = tree.nodes[id].type;
    return &diagram.boxes.back();
  };
  const double none = 0;
  if (const double self = column != nullptr ? column->self[node] : none;
      self != 0 && (std::isnan(self) || self > 0)) {
    if (DiagramBox* box = add(node, self)) {
      box->name = IsComposite(tree, node) ? "(itself)" : tree.nodes[node].name;
      box->path = diagram.path;
      box_of[node] = diagram.boxes.size() - 1;
    }
  }
  for (NodeId child = node + 1; child < tree.nodes[node].end; child = tree.nodes[child].end) {
    DiagramBox* box = add(child, column != nullptr ? column->total[child] : none);
    if (box == nullptr) continue;
    const TreeNode& part = tree.nodes[child];
    box->name = part.name;
    box->path = NodePath(tree, child);
    box->composite = IsComposite(tree, child);
    box->folded = part.folded;
    box->folded_range = part.folded_range;
    if (!options.phase && !column->deviation.empty() && box->energy_j) {
      box->deviation_j = column->deviation[child];
    }
    for (NodeId inner = child; inner < part.end; ++inner) box_of[inner] = diagram.boxes.size() - 1;
  }
  Gather(diagram, std::max<size_t>(options.most_boxes, 2), box_of);

  for (const DiagramBox& box : diagram.boxes) {
    if (box.energy_j) diagram.energy_j = diagram.energy_j.value_or(0) + *box.energy_j;
  }
  for (DiagramBox& box : diagram.boxes) {
    if (box.energy_j && diagram.energy_j.value_or(0) > 0) {
      box.share = *box.energy_j / *diagram.energy_j;
    }
  }

  std::map<std::pair<size_t, size_t>, uint64_t> arrows;
  for (const Dataflow& flow : trace.dataflow) {
    if (options.phase && (trace.kinds[flow.from].phase != *options.phase ||
                          trace.kinds[flow.to].phase != *options.phase)) {
      continue;
    }
    const size_t from = box_of[built.node_of_kind[flow.from]];
    const size_t to = box_of[built.node_of_kind[flow.to]];
    if (from == to) continue;
    if (from == kOutside) {
      ++diagram.boxes[to].from_outside;
    } else if (to == kOutside) {
      ++diagram.boxes[from].to_outside;
    } else {
      ++arrows[{from, to}];
    }
  }
  for (const auto& [ends, count] : arrows) {
    diagram.arrows.push_back({ends.first, ends.second, count});
  }
  return diagram;
}

std::vector<EnergyDiagram> MakeDiagrams(const OpTrace& trace, const TraceTree& built,
                                        const std::vector<EnergyColumn>& columns, NodeId node,
                                        int levels, const DiagramOptions& options) {
  const ModelTree& tree = built.tree;
  const EnergyColumn* column = ColumnOf(columns, options.phase);
  std::vector<EnergyDiagram> diagrams;
  for (int level = 0; level < levels; ++level) {
    // A level with one part says nothing: go through it to where there is something to share out.
    auto children = [&](NodeId id) {
      std::vector<NodeId> result;
      for (NodeId child = id + 1; child < tree.nodes[id].end; child = tree.nodes[child].end) {
        const double energy = column != nullptr ? column->total[child] : 0;
        if (!options.phase || std::isnan(energy) || energy > 0) result.push_back(child);
      }
      return result;
    };
    auto self = [&](NodeId id) { return column != nullptr && column->self[id] > 0; };
    std::vector<NodeId> parts = children(node);
    while (parts.size() == 1 && IsComposite(tree, parts[0]) && !self(node)) {
      node = parts[0];
      parts = children(node);
    }
    diagrams.push_back(MakeDiagram(trace, built, columns, node, options));
    NodeId largest = node;
    for (const NodeId child : parts) {
      if (!IsComposite(tree, child) || column == nullptr || !(column->total[child] > 0)) continue;
      if (largest == node || column->total[child] > column->total[largest]) largest = child;
    }
    if (largest == node) break;
    // What an operation ran on is no level of the program.
    if (level > 0 && tree.nodes[largest].level >= Level::kOperation) break;
    node = largest;
  }
  return diagrams;
}

}  // namespace beryl::tree
