// Trees of different runs as one, so that what is the same in the program is the same node.
#include <algorithm>
#include <map>
#include <set>
#include <string>

#include <fmt/format.h>

#include "base/text.h"
#include "tree/tree.h"

namespace beryl::tree {
namespace {

// A node of the merged tree while it grows: the nodes of each run that it stands for.
struct Draft {
  std::string name;
  std::vector<std::vector<NodeId>> members;  // by run
  std::vector<size_t> children;
  size_t parent = 0;
};

class Merger {
 public:
  explicit Merger(const std::vector<const TraceTree*>& trees) : trees_(trees) {
    drafts_.emplace_back();
    drafts_[0].members.assign(trees.size(), {0});
  }

  std::vector<TraceTree> Run() {
    for (size_t at = 0; at < drafts_.size(); ++at) Grow(at);
    return Rebuild();
  }

 private:
  const TreeNode& Node(size_t run, NodeId id) const { return trees_[run]->tree.nodes[id]; }

  bool IsTyped(size_t run, NodeId id) const {
    const TreeNode& node = Node(run, id);
    return node.level == Level::kModule && !node.type.empty() && node.folded == 1;
  }

  std::vector<NodeId> ChildrenOf(const Draft& draft, size_t run) const {
    std::vector<NodeId> children;
    for (const NodeId member : draft.members[run]) {
      const NodeId end = Node(run, member).end;
      for (NodeId child = member + 1; child < end; child = Node(run, child).end) {
        children.push_back(child);
      }
    }
    return children;
  }

  // `layer_*` of folded layers, whichever of them they are: a longer model has other numbers.
  static std::string FoldedName(const TreeNode& node) {
    const std::string range = fmt::format("[{}]", node.folded_range);
    if (!node.name.ends_with(range)) return node.name;
    return node.name.substr(0, node.name.size() - range.size()) + "*";
  }

  void Grow(size_t at) {
    std::vector<std::vector<NodeId>> children;
    for (size_t run = 0; run < trees_.size(); ++run) {
      children.push_back(ChildrenOf(drafts_[at], run));
    }
    std::set<std::string> folded;
    // The names that modules of a class have, by run. Where the runs do not agree, their numbers
    // count over models that differ, and position is what tells them apart.
    std::map<std::string, std::map<size_t, std::vector<std::string>>> of_class;
    for (size_t run = 0; run < trees_.size(); ++run) {
      for (const NodeId child : children[run]) {
        const TreeNode& node = Node(run, child);
        if (node.folded > 1) folded.insert(FoldedName(node));
        if (IsTyped(run, child)) of_class[node.type][run].push_back(node.name);
      }
    }
    std::map<std::string, size_t> by_name;
    for (size_t run = 0; run < trees_.size(); ++run) {
      std::map<std::string, size_t> position;
      for (const NodeId child : children[run]) {
        const TreeNode& node = Node(run, child);
        std::string name = node.folded > 1 ? FoldedName(node) : node.name;
        if (IsTyped(run, child)) {
          const size_t place = position[node.type]++;
          name = NameByClass(of_class[node.type], node, place);
        }
        if (const auto numbered = SplitNumber(node.name); numbered && node.end > child + 1) {
          const std::string star = std::string(numbered->stem) + "*";
          if (folded.contains(star)) name = star;
        }
        const auto [place, is_new] = by_name.try_emplace(name, drafts_.size());
        if (is_new) {
          drafts_[at].children.push_back(drafts_.size());
          Draft draft;
          draft.name = name;
          draft.members.resize(trees_.size());
          draft.parent = at;
          drafts_.push_back(std::move(draft));
        }
        drafts_[place->second].members[run].push_back(child);
      }
    }
  }

  static std::string NameByClass(const std::map<size_t, std::vector<std::string>>& names,
                                 const TreeNode& node, size_t position) {
    const bool agreed = std::all_of(names.begin(), names.end(), [&](const auto& of_run) {
      return of_run.second == names.begin()->second;
    });
    if (agreed) return node.name;
    const bool single = std::all_of(names.begin(), names.end(),
                                    [](const auto& of_run) { return of_run.second.size() == 1; });
    return single ? node.type : fmt::format("{}[{}]", node.type, position);
  }

  std::vector<TraceTree> Rebuild() const {
    TraceTree merged;
    std::vector<std::vector<NodeId>> new_of_old;
    for (const TraceTree* tree : trees_) new_of_old.emplace_back(tree->tree.nodes.size(), 0);
    std::vector<std::pair<size_t, NodeId>> stack = {{0, 0}};
    while (!stack.empty()) {
      const auto [at, parent] = stack.back();
      stack.pop_back();
      const auto id = static_cast<NodeId>(merged.tree.nodes.size());
      const Draft& draft = drafts_[at];
      TreeNode node;
      bool in_names = false;
      bool first = true;
      for (size_t run = 0; run < trees_.size(); ++run) {
        for (const NodeId member : draft.members[run]) {
          new_of_old[run][member] = id;
          in_names = in_names || trees_[run]->in_names[member];
          const Level level =
              first ? Node(run, member).level : std::max(node.level, Node(run, member).level);
          if (first) node = Node(run, member);
          node.level = level;
          first = false;
        }
      }
      if (at > 0) node.name = draft.name;
      node.parent = parent;
      node.end = id + 1;
      node.depth =
          id == 0 ? uint16_t{0} : static_cast<uint16_t>(merged.tree.nodes[parent].depth + 1);
      merged.tree.nodes.push_back(std::move(node));
      merged.in_names.push_back(in_names);
      for (auto child = draft.children.rbegin(); child != draft.children.rend(); ++child) {
        stack.emplace_back(*child, id);
      }
    }
    for (size_t id = merged.tree.nodes.size(); id-- > 1;) {
      TreeNode& parent = merged.tree.nodes[merged.tree.nodes[id].parent];
      parent.end = std::max(parent.end, merged.tree.nodes[id].end);
    }
    std::vector<TraceTree> runs;
    for (size_t run = 0; run < trees_.size(); ++run) {
      TraceTree one = merged;
      for (const NodeId node : trees_[run]->node_of_kind) {
        one.node_of_kind.push_back(new_of_old[run][node]);
      }
      runs.push_back(std::move(one));
    }
    return runs;
  }

  const std::vector<const TraceTree*>& trees_;
  std::vector<Draft> drafts_;
};

}  // namespace

std::vector<TraceTree> Merge(const std::vector<const TraceTree*>& trees) {
  return Merger(trees).Run();
}

}  // namespace beryl::tree
