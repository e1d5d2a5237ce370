#include "types/merge_trees.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "base/text.h"

namespace beryl {
namespace {

// A node of the merged tree under construction: the nodes of each tree that it stands for.
struct Draft {
  std::string name;
  std::vector<std::vector<NodeId>> members;  // by tree
  NodeId parent = 0;
};

class Merger {
 public:
  explicit Merger(const std::vector<const ModelTree*>& trees) : trees_(trees) {
    drafts_.emplace_back();
    drafts_[0].members.assign(trees.size(), {0});
  }

  Merging Run() {
    for (size_t at = 0; at < drafts_.size(); ++at) Grow(static_cast<NodeId>(at));
    return Rebuild();
  }

 private:
  const TreeNode& Node(size_t tree, NodeId id) const { return (*trees_[tree])[id]; }

  // Whether a node is named by its class and a number that counts over the whole program.
  static bool IsNumberedByClass(const TreeNode& node) {
    return IsModule(node.level) && !node.type.empty() && node.folded == 1 &&
           node.name.starts_with(node.type);
  }

  std::vector<NodeId> ChildrenOf(const Draft& draft, size_t tree) const {
    std::vector<NodeId> children;
    for (const NodeId member : draft.members[tree]) {
      for (const NodeId child : Children(*trees_[tree], member)) children.push_back(child);
    }
    return children;
  }

  // `layer_*` for folded layers, whatever their numbers: a longer model has other numbers.
  static std::string StarName(const TreeNode& node) { return FoldedName(FoldedStem(node), ""); }

  void Grow(NodeId at) {
    std::vector<std::vector<NodeId>> children;
    for (size_t tree = 0; tree < trees_.size(); ++tree) {
      children.push_back(ChildrenOf(drafts_[at], tree));
    }
    std::set<std::string> folded;
    // The names of modules of a class, by tree. If the trees disagree, the numbers count over
    // different programs, and position identifies modules.
    std::map<std::string, std::map<size_t, std::vector<std::string>>> of_class;
    for (size_t tree = 0; tree < trees_.size(); ++tree) {
      for (const NodeId child : children[tree]) {
        const TreeNode& node = Node(tree, child);
        if (node.folded > 1) folded.insert(StarName(node));
        if (IsNumberedByClass(node)) of_class[node.type][tree].push_back(node.name);
      }
    }
    std::map<std::string, NodeId> by_name;
    for (size_t tree = 0; tree < trees_.size(); ++tree) {
      std::map<std::string, size_t> position;
      for (const NodeId child : children[tree]) {
        const TreeNode& node = Node(tree, child);
        std::string name = node.folded > 1 ? StarName(node) : node.name;
        if (IsNumberedByClass(node)) {
          const size_t place = position[node.type]++;
          name = NameByClass(of_class[node.type], node, place);
        }
        if (const auto numbered = SplitNumber(node.name); numbered && node.end > child + 1) {
          const std::string star = FoldedName(numbered->stem, "");
          if (folded.contains(star)) name = star;
        }
        const auto [place, is_new] = by_name.try_emplace(name, static_cast<NodeId>(drafts_.size()));
        if (is_new) {
          Draft& draft = drafts_.emplace_back();
          draft.name = name;
          draft.members.resize(trees_.size());
          draft.parent = at;
        }
        drafts_[place->second].members[tree].push_back(child);
      }
    }
  }

  static std::string NameByClass(const std::map<size_t, std::vector<std::string>>& names,
                                 const TreeNode& node, size_t position) {
    const bool agreed = std::all_of(names.begin(), names.end(), [&](const auto& of_tree) {
      return of_tree.second == names.begin()->second;
    });
    if (agreed) return node.name;
    const bool single = std::all_of(names.begin(), names.end(),
                                    [](const auto& of_tree) { return of_tree.second.size() == 1; });
    return single ? node.type : FoldedName(node.type, std::to_string(position));
  }

  Merging Rebuild() const {
    std::vector<TreeNode> nodes;
    for (const Draft& draft : drafts_) {
      TreeNode& node = nodes.emplace_back();
      bool first = true;
      for (size_t tree = 0; tree < trees_.size(); ++tree) {
        for (const NodeId member : draft.members[tree]) {
          const Level level =
              first ? Node(tree, member).level : std::max(node.level, Node(tree, member).level);
          if (first) node = Node(tree, member);
          node.level = level;
          first = false;
        }
      }
      if (nodes.size() > 1) node.name = draft.name;
      node.parent = draft.parent;
    }
    Merging merging;
    std::vector<NodeId> place;
    merging.tree = MakeTree(std::move(nodes), &place);
    for (size_t tree = 0; tree < trees_.size(); ++tree) {
      std::vector<NodeId>& node_of = merging.node_of.emplace_back(trees_[tree]->size(), 0);
      for (size_t draft = 0; draft < drafts_.size(); ++draft) {
        for (const NodeId member : drafts_[draft].members[tree]) node_of[member] = place[draft];
      }
    }
    return merging;
  }

  const std::vector<const ModelTree*>& trees_;
  std::vector<Draft> drafts_;
};

}  // namespace

Merging Merge(const std::vector<const ModelTree*>& trees) { return Merger(trees).Run(); }

}  // namespace beryl
