#include <algorithm>
#include <cmath>
#include <utility>

#include "tree/tree.h"
#include "types/merge_trees.h"

namespace beryl::tree {
namespace {

// What is in none of a tree's nodes took nothing there; what is in one and not known is not known.
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

}  // namespace

TreeColumns SetSideBySide(const std::vector<SideToSet>& sides) {
  std::vector<const ModelTree*> trees;
  for (const SideToSet& side : sides) trees.push_back(&side.tree->tree);
  Merging merging = Merge(trees);
  const size_t nodes = merging.tree.size();
  TreeColumns set;
  std::vector<std::vector<bool>> present;
  for (size_t i = 0; i < sides.size(); ++i) {
    std::vector<bool>& here = present.emplace_back(nodes, false);
    for (const NodeId node : merging.node_of[i]) here[node] = true;
    Column column = *Regroup(*sides[i].tree->Find(sides[i].column), merging.node_of[i], nodes);
    column.name = column.label = sides[i].label;
    column.key = sides[i].label + std::string(LookOf(column.quantity).key);
    column.prefix = sides[i].label + "_";
    column.self.clear();
    column.deviation.clear();
    set.columns.push_back(std::move(column));
  }
  for (size_t i = 1; i < sides.size(); ++i) {
    const Column& first = set.columns[0];
    const std::string label = sides.size() == 2 ? "" : sides[i].label + "_";
    Column difference = NamedColumn(label + "difference",
                                    label + "difference" + std::string(LookOf(first.quantity).key),
                                    "difference", first.quantity);
    difference.origin = set.columns[i].origin;
    difference.by = set.columns[i].by;
    difference.total = Subtract(set.columns[i].total, first.total, present[i], present[0]);
    Column off = difference;
    off.quantity = Quantity::kOff;
    off.name = off.key = label + "off";
    off.label = "";
    off.total = Divide(difference.total, first.total);
    set.columns.push_back(std::move(difference));
    set.columns.push_back(std::move(off));
  }
  set.tree = std::move(merging.tree);
  return set;
}

}  // namespace beryl::tree
