#include <algorithm>
#include <cmath>
#include <utility>

#include "analyze/analyze.h"
#include "types/merge_trees.h"

namespace beryl::analyze {
namespace {

// A node missing from a tree used nothing there. A node that is present but unknown stays unknown.
std::vector<double> Subtract(const std::vector<double>& after, const std::vector<double>& before,
                             const std::vector<bool>& in_after,
                             const std::vector<bool>& in_before) {
  std::vector<double> difference(after.size(), kUnknown);
  for (size_t node = 0; node < after.size(); ++node) {
    if (!in_after[node] && !in_before[node]) continue;
    difference[node] = (in_after[node] ? after[node] : 0) - (in_before[node] ? before[node] : 0);
  }
  return difference;
}

// Moves a column to the merged tree. Columns that do not add up are copied: no two nodes of a
// folded tree become one.
Column Place(const Column& column, const std::vector<NodeId>& node_of, size_t nodes) {
  if (auto grouped = Regroup(column, node_of, nodes)) return *std::move(grouped);
  Column placed = column;
  placed.total.assign(nodes, kUnknown);
  for (size_t node = 0; node < node_of.size(); ++node) {
    placed.total[node_of[node]] = column.total[node];
  }
  placed.low.clear();
  placed.high.clear();
  return placed;
}

// Names the column as on its own tree, with `before` as a prefix.
void Name(Column& column, const std::string& before, const std::string& name,
          const std::string& key) {
  column.name = before + "_" + name;
  column.key = before + "_" + key;
  column.prefix = column.name + "_";
}

class Setter {
 public:
  explicit Setter(const std::vector<SideToSet>& sides) : sides_(sides) {
    std::vector<const ModelTree*> trees;
    trees.reserve(sides.size());
    for (const SideToSet& side : sides) trees.push_back(&side.tree->tree);
    merging_ = Merge(trees);
    for (const std::vector<NodeId>& node_of : merging_.node_of) {
      std::vector<bool>& here = present_.emplace_back(merging_.tree.size(), false);
      for (const NodeId node : node_of) here[node] = true;
    }
  }

  TreeColumns Run(const std::vector<std::string>& columns) {
    several_ = columns.size() > 1;
    for (const std::string& column : columns) Set(column);
    set_.tree = std::move(merging_.tree);
    return std::move(set_);
  }

 private:
  void Set(const std::string& name) {
    const size_t first = set_.columns.size();
    const std::string of = several_ ? " " + sides_[0].tree->Find(name)->label : "";
    for (size_t i = 0; i < sides_.size(); ++i) {
      const Column& from = *sides_[i].tree->Find(name);
      Column column = Place(from, merging_.node_of[i], merging_.tree.size());
      Name(column, sides_[i].label, name, from.key);
      column.label = sides_[i].label + of;
      column.self.clear();
      column.deviation.clear();
      set_.columns.push_back(std::move(column));
    }
    for (size_t i = 1; i < sides_.size(); ++i) {
      const Column& before = set_.columns[first];
      const Column& after = set_.columns[first + i];
      const std::string whose = sides_.size() == 2 ? "" : sides_[i].label + "_";
      Column difference;
      difference.quantity = before.quantity;
      difference.origin = after.origin;
      difference.by = after.by;
      Name(difference, whose + "difference", name, sides_[0].tree->Find(name)->key);
      difference.label = "difference";
      difference.total = Subtract(after.total, before.total, present_[i], present_[0]);
      Column off = difference;
      off.quantity = Quantity::kOff;
      Name(off, whose + "off", name, name);
      off.label = "";
      off.total = Divide(difference.total, before.total);
      set_.columns.push_back(std::move(difference));
      set_.columns.push_back(std::move(off));
    }
  }

  const std::vector<SideToSet>& sides_;
  Merging merging_;
  std::vector<std::vector<bool>> present_;  // by side, by node of the merged tree
  bool several_ = false;
  TreeColumns set_;
};

}  // namespace

TreeColumns SetSideBySide(const std::vector<SideToSet>& sides,
                          const std::vector<std::string>& columns) {
  return Setter(sides).Run(columns);
}

std::vector<std::string> CommonColumns(const std::vector<SideToSet>& sides) {
  std::vector<std::string> names;
  for (const Column& column : sides.front().tree->columns) {
    const bool in_all = std::all_of(sides.begin(), sides.end(), [&](const SideToSet& side) {
      return side.tree->Find(column.name) != nullptr;
    });
    if (in_all && column.of == Column::Of::kAll) names.push_back(column.name);
  }
  return names;
}

}  // namespace beryl::analyze
