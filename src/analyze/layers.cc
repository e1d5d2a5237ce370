#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include <fmt/format.h>

#include "analyze/analyze.h"

namespace beryl::analyze {
namespace {

// Whether a node has several children with children.
bool HasLayers(const ModelTree& tree, NodeId node) {
  size_t with_parts = 0;
  for (const NodeId child : Children(tree, node)) with_parts += tree.IsLeaf(child) ? 0 : 1;
  return with_parts > 1;
}

class Grouper {
 public:
  Grouper(const TraceTree& built, const TraceTree& folded, const std::vector<Column>& columns)
      : built_(built),
        folded_(folded),
        total_(columns.front().total),
        group_of_node_(built.tree.nodes.size(), kNoLayer) {}

  LayerGroups Run(const LayerChoice& choice) {
    if (choice.node) {
      AddChildren(*choice.node);
    } else if (choice.level) {
      Level(*choice.level);
    } else if (!Repeated()) {
      NodeId node = 0;
      while (node < built_.tree.size() && !HasLayers(built_.tree, node)) ++node;
      AddChildren(node < built_.tree.size() ? node : 0);
    }
    KeepLargest();
    for (const NodeId node : built_.node_of_kind) {
      groups_.layer_of_kind.push_back(group_of_node_[node]);
    }
    return std::move(groups_);
  }

 private:
  double Energy(NodeId node) const { return std::isnan(total_[node]) ? 0 : total_[node]; }

  // Adds a node and its descendants.
  void Add(NodeId node, const std::string& name) {
    const auto [place, is_new] =
        group_of_name_.try_emplace(name, static_cast<uint32_t>(groups_.names.size()));
    if (is_new) {
      groups_.names.push_back(name);
      energy_.push_back(0);
    }
    energy_[place->second] += Energy(node);
    for (NodeId id = node; id < built_.tree.nodes[node].end; ++id) {
      group_of_node_[id] = place->second;
    }
  }

  void AddChildren(NodeId node) {
    groups_.of = node == 0 ? "the whole program" : NodePath(built_.tree, node);
    for (const NodeId child : Children(built_.tree, node)) Add(child, built_.tree[child].name);
  }

  void Level(int level) {
    const auto& nodes = built_.tree.nodes;
    groups_.of = fmt::format("level {}", level);
    for (NodeId id = 0; id < nodes.size(); ++id) {
      if (nodes[id].depth == level) Add(id, NodePath(built_.tree, id));
    }
  }

  // Repeated layers: those that share a node of the folded tree. In some frameworks the backward
  // pass is a separate tree with the same names, and so the same layers.
  bool Repeated() {
    const auto& nodes = folded_.tree.nodes;
    // The outermost of them; if there are several, the one with the most layers.
    NodeId chosen = 0;
    for (NodeId id = 1; id < nodes.size(); ++id) {
      if (nodes[id].folded < 2) continue;
      if (chosen == 0 ||
          (nodes[id].depth <= nodes[chosen].depth && nodes[id].folded > nodes[chosen].folded)) {
        chosen = id;
      }
    }
    if (chosen == 0) return false;
    groups_.of = NodePath(folded_.tree, chosen);
    for (size_t kind = 0; kind < folded_.node_of_kind.size(); ++kind) {
      // Both trees have the same depth at every kind, so the layer is at the depth of the folded
      // node.
      NodeId folded = folded_.node_of_kind[kind];
      NodeId built = built_.node_of_kind[kind];
      while (folded != 0) {
        const TreeNode& node = nodes[folded];
        if (node.folded > 1 && node.name == nodes[chosen].name) {
          if (group_of_node_[built] == kNoLayer) layer_nodes_.push_back(built);
          group_of_node_[built] = 0;
        }
        folded = node.parent;
        built = built_.tree.nodes[built].parent;
      }
    }
    std::fill(group_of_node_.begin(), group_of_node_.end(), kNoLayer);
    std::sort(layer_nodes_.begin(), layer_nodes_.end());
    for (const NodeId node : layer_nodes_) Add(node, built_.tree.nodes[node].name);
    return true;
  }

  void KeepLargest() {
    if (groups_.names.size() <= kMostLayers) return;
    std::vector<uint32_t> order(groups_.names.size());
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(),
                     [&](uint32_t a, uint32_t b) { return energy_[a] > energy_[b]; });
    order.resize(kMostLayers);
    std::sort(order.begin(), order.end());
    std::vector<uint32_t> new_number(groups_.names.size(), kNoLayer);
    std::vector<std::string> names;
    for (const uint32_t group : order) {
      new_number[group] = static_cast<uint32_t>(names.size());
      names.push_back(groups_.names[group]);
    }
    groups_.of += fmt::format(", the largest {} of {}", kMostLayers, groups_.names.size());
    groups_.names = std::move(names);
    for (uint32_t& group : group_of_node_) {
      if (group != kNoLayer) group = new_number[group];
    }
  }

  const TraceTree& built_;
  const TraceTree& folded_;
  const std::vector<double>& total_;
  std::vector<uint32_t> group_of_node_;
  std::vector<NodeId> layer_nodes_;
  std::map<std::string, uint32_t> group_of_name_;
  std::vector<double> energy_;
  LayerGroups groups_;
};

}  // namespace

LayerGroups GroupByLayer(const TraceTree& built, const TraceTree& folded,
                         const std::vector<Column>& columns, const LayerChoice& choice) {
  return Grouper(built, folded, columns).Run(choice);
}

}  // namespace beryl::analyze
