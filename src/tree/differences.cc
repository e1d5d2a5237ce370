#include "tree/differences.h"

#include <algorithm>
#include <cmath>

#include "tree/figures.h"
#include "tree/profile.h"

namespace beryl::tree {
namespace {

// A row of its own is for what moved at least this share of all that moved. So there are at most
// fifty rows, however large the tree.
constexpr double kWorthARow = 0.02;

RowsOfKind OwnNode(const TraceTree& tree) {
  RowsOfKind rows;
  for (const NodeId node : tree.node_of_kind) rows.push_back({node});
  return rows;
}

class Finder {
 public:
  Finder(const Footprint& before, const TraceTree& before_tree, const Footprint& after,
         const TraceTree& after_tree, bool per_step)
      : before_(before),
        after_(after),
        before_tree_(before_tree),
        after_tree_(after_tree),
        tree_(before_tree.tree),
        per_step_(per_step),
        in_before_(Presence(before_tree)),
        in_after_(Presence(after_tree)) {}

  Differences Run(const std::optional<NameLevel>& level) {
    level ? RowsByLevel(*level) : RowsByWorth();
    const size_t count = node_of_row_.size();
    const auto before = Figures(before_, rows_before_, count, per_step_);
    const auto after = Figures(after_, rows_after_, count, per_step_);
    for (size_t row = 0; row < count; ++row) Add(row, before[row], after[row]);
    std::stable_sort(found_.rows.begin(), found_.rows.end(),
                     [](const DifferenceRow& a, const DifferenceRow& b) {
                       auto size = [](const DifferenceRow& row) {
                         return row.difference ? std::fabs(row.difference->value) : -1;
                       };
                       return size(a) > size(b);
                     });
    return std::move(found_);
  }

 private:
  // By node: whether the run has an operation there or below.
  static std::vector<bool> Presence(const TraceTree& tree) {
    std::vector<bool> present(tree.tree.nodes.size(), false);
    for (const NodeId node : tree.node_of_kind) present[node] = true;
    return RollUp(tree.tree, std::move(present));
  }

  void RowsByLevel(NameLevel level) {
    std::vector<uint32_t> row_of_node(tree_.nodes.size(), kNoRow);
    auto rows_of = [&](const TraceTree& tree) {
      RowsOfKind rows;
      for (uint32_t kind = 0; kind < tree.node_of_kind.size(); ++kind) {
        std::vector<uint32_t>& of_kind = rows.emplace_back();
        for (const NodeId node : NodesAt(tree, kind, level)) {
          if (row_of_node[node] == kNoRow) {
            row_of_node[node] = static_cast<uint32_t>(node_of_row_.size());
            node_of_row_.push_back(node);
            is_rest_.push_back(false);
          }
          of_kind.push_back(row_of_node[node]);
        }
      }
      return rows;
    };
    rows_before_ = rows_of(before_tree_);
    rows_after_ = rows_of(after_tree_);
  }

  void RowsByWorth() {
    const size_t nodes = tree_.nodes.size();
    const auto before = Figures(before_, OwnNode(before_tree_), nodes, per_step_);
    const auto after = Figures(after_, OwnNode(after_tree_), nodes, per_step_);
    std::vector<double> left(nodes, 0);
    std::vector<bool> unknown(nodes, false);
    double moved = 0;
    for (size_t id = 0; id < nodes; ++id) {
      // Half a difference would be worse than none.
      unknown[id] =
          (before[id].present && !before[id].known) || (after[id].present && !after[id].known);
      if (unknown[id]) {
        ++found_.unknown_names;
        continue;
      }
      left[id] = (after[id].energy - before[id].energy).value;
      moved += std::fabs(left[id]);
    }
    std::vector<bool> listed(nodes, false);
    std::vector<bool> has_listed(nodes, false);
    for (size_t id = nodes; id-- > 0;) {
      listed[id] = id == 0 || (moved > 0 && std::fabs(left[id]) >= kWorthARow * moved);
      if (id == 0) break;
      const NodeId parent = tree_.nodes[id].parent;
      if (!listed[id]) left[parent] += left[id];
      if (listed[id] || has_listed[id]) has_listed[parent] = true;
    }
    std::vector<uint32_t> row_of_node(nodes, kNoRow);
    for (NodeId id = 0; id < nodes; ++id) {
      row_of_node[id] = row_of_node[tree_.nodes[id].parent];
      if (!listed[id]) continue;
      row_of_node[id] = static_cast<uint32_t>(node_of_row_.size());
      node_of_row_.push_back(id);
      is_rest_.push_back(has_listed[id]);
    }
    auto rows_of = [&](const TraceTree& tree) {
      RowsOfKind rows;
      for (const NodeId node : tree.node_of_kind) {
        rows.emplace_back();
        if (!unknown[node]) rows.back().push_back(row_of_node[node]);
      }
      return rows;
    };
    rows_before_ = rows_of(before_tree_);
    rows_after_ = rows_of(after_tree_);
  }

  void Add(size_t at, const RowFigures& before, const RowFigures& after) {
    if (!before.present && !after.present) return;
    const NodeId node = node_of_row_[at];
    DifferenceRow row;
    row.path = NodePath(tree_, node);
    row.rest = is_rest_[at];
    row.level = tree_.nodes[node].level;
    row.in_before = in_before_[node];
    row.in_after = in_after_[node];
    if (before.known) row.before = before.energy;
    if (after.known) row.after = after.energy;
    const bool unknown = (before.present && !before.known) || (after.present && !after.known);
    if (!unknown) {
      row.difference = after.energy - before.energy;
      if (const auto noise = ChanceDifference(before.steps, after.steps)) {
        row.noise = Joules{*noise};
        row.is_noise = std::fabs(row.difference->value) <= *noise;
      }
    }
    // What is left for a node is of interest only if it moved.
    if (row.rest && row.difference == Joules{}) return;
    found_.rows.push_back(std::move(row));
  }

  const Footprint& before_;
  const Footprint& after_;
  const TraceTree& before_tree_;
  const TraceTree& after_tree_;
  const ModelTree& tree_;
  bool per_step_;
  std::vector<bool> in_before_;
  std::vector<bool> in_after_;
  std::vector<NodeId> node_of_row_;
  std::vector<bool> is_rest_;
  RowsOfKind rows_before_;
  RowsOfKind rows_after_;
  Differences found_;
};

}  // namespace

Differences FindDifferences(const Footprint& before, const TraceTree& before_tree,
                            const Footprint& after, const TraceTree& after_tree,
                            const std::optional<NameLevel>& level, bool per_step) {
  return Finder(before, before_tree, after, after_tree, per_step).Run(level);
}

}  // namespace beryl::tree
