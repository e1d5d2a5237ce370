#include "types/model_tree.h"

#include <algorithm>
#include <array>
#include <utility>

namespace beryl {
namespace {

constexpr std::array<std::string_view, kLevelCount> kLevelNames = {"model", "module", "ml", "math",
                                                                   "kernel"};

std::string JoinNames(const ModelTree& tree, NodeId node, char separator) {
  std::vector<NodeId> steps;
  for (; node != 0; node = tree.nodes[node].parent) steps.push_back(node);
  std::string text;
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    if (!text.empty()) text += separator;
    text += tree.nodes[*step].name;
  }
  return text;
}

}  // namespace

std::string_view LevelName(Level level) { return kLevelNames[static_cast<size_t>(level)]; }

std::optional<Level> ParseLevel(std::string_view name) {
  const auto found = std::find(kLevelNames.begin(), kLevelNames.end(), name);
  if (found == kLevelNames.end()) return std::nullopt;
  return static_cast<Level>(found - kLevelNames.begin());
}

ModelTree MakeTree(std::vector<TreeNode> drafts, std::vector<NodeId>* place) {
  // Children as linked lists: the first child of each draft, and the next sibling.
  std::vector<NodeId> first(drafts.size(), kNoNode);
  std::vector<NodeId> next(drafts.size(), kNoNode);
  for (size_t draft = drafts.size(); draft-- > 1;) {
    next[draft] = std::exchange(first[drafts[draft].parent], static_cast<NodeId>(draft));
  }
  std::vector<NodeId> place_of(drafts.size(), 0);
  NodeId placed = 0;
  std::vector<NodeId> stack = {0};
  while (!stack.empty()) {
    const NodeId draft = stack.back();
    stack.pop_back();
    place_of[draft] = placed++;
    if (next[draft] != kNoNode) stack.push_back(next[draft]);
    if (first[draft] != kNoNode) stack.push_back(first[draft]);
  }
  for (TreeNode& draft : drafts) draft.parent = place_of[draft.parent];
  // In their own memory: there may be millions.
  std::vector<NodeId> place_left = place_of;
  for (NodeId at = 0; at < drafts.size(); ++at) {
    while (place_left[at] != at) {
      const NodeId there = place_left[at];
      std::swap(drafts[at], drafts[there]);
      std::swap(place_left[at], place_left[there]);
    }
  }
  ModelTree tree;
  tree.nodes = std::move(drafts);
  CloseTree(tree);
  if (place != nullptr) *place = std::move(place_of);
  return tree;
}

void CloseTree(ModelTree& tree) {
  for (NodeId node = 0; node < tree.size(); ++node) {
    TreeNode& of = tree.nodes[node];
    of.end = node + 1;
    of.depth = node == 0 ? uint16_t{0} : static_cast<uint16_t>(tree.nodes[of.parent].depth + 1);
  }
  for (NodeId node = tree.size(); node-- > 1;) {
    NodeId& end = tree.nodes[tree.nodes[node].parent].end;
    end = std::max(end, tree.nodes[node].end);
  }
}

std::string NodePath(const ModelTree& tree, NodeId node) { return JoinNames(tree, node, '/'); }
std::string ScopeOf(const ModelTree& tree, NodeId node) { return JoinNames(tree, node, '.'); }

bool IsNumberedByClass(const TreeNode& node) {
  return IsModule(node.level) && !node.type.empty() && node.name.starts_with(node.type + "_");
}

std::string FoldedName(std::string_view stem, std::string_view range) {
  std::string name(stem);
  return range.empty() ? name + "*" : name.append("[").append(range).append("]");
}

std::string_view FoldedStem(const TreeNode& node) {
  std::string_view name = node.name;
  if (name.ends_with('*')) return name.substr(0, name.size() - 1);
  const size_t range = node.folded_range.size() + 2;
  const bool ends = name.size() >= range && name.ends_with(']') &&
                    name.substr(name.size() - range + 1, range - 2) == node.folded_range;
  return ends ? name.substr(0, name.size() - range) : name;
}

std::string NodeLabel(const TreeNode& node) {
  if (node.folded <= 1) return node.name;
  // Shows the first two of many ranges, and the last.
  std::string_view range = node.folded_range;
  const size_t second = range.find(',', range.find(',') + 1);
  const size_t last = range.rfind(',');
  std::string label(FoldedStem(node));
  if (last == std::string_view::npos || second >= last) {
    label += range;
  } else {
    label.append(range.substr(0, second)).append(",…").append(range.substr(last));
  }
  return label + " ×" + std::to_string(node.folded);
}

std::string RangeText(std::vector<uint64_t> numbers) {
  std::sort(numbers.begin(), numbers.end());
  std::string text;
  for (size_t i = 0; i < numbers.size();) {
    size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    if (!text.empty()) text += ',';
    text += std::to_string(numbers[i]);
    if (last > i) text += "-" + std::to_string(numbers[last]);
    i = last + 1;
  }
  return text;
}

std::vector<double> RollUp(const ModelTree& tree, std::vector<double> self) {
  for (NodeId node = tree.size(); node-- > 1;) self[tree.nodes[node].parent] += self[node];
  return self;
}

std::vector<bool> RollUp(const ModelTree& tree, std::vector<bool> marks) {
  for (NodeId node = tree.size(); node-- > 1;) {
    if (marks[node]) marks[tree.nodes[node].parent] = true;
  }
  return marks;
}

}  // namespace beryl
