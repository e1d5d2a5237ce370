#include "types/fold_tree.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/string_table.h"
#include "base/text.h"

namespace beryl {
namespace {

// How much of their substructure two layers must share. Frameworks leave small differences between
// equal layers: a constant or a bias that only the first one has.
constexpr double kAlike = 0.7;
// A stem with more distinct substructures than this is not a repetition.
constexpr size_t kMostKinds = 16;

// A node while folding: one or several nodes of the tree below. A run may have a million names, so
// it holds numbers only; its name is that of its node, unless it is in Folder::renamed_.
struct Draft {
  NodeId first_child = kNoNode;  // children are a list
  NodeId last_child = kNoNode;
  NodeId next = kNoNode;
  // Where it comes among siblings of the same name or class; part of its key unless kOnly.
  int32_t place = kOnly;
  uint64_t key_hash = 0;
  bool is_several = false;

  static constexpr int32_t kOnly = -1;
};

struct Renamed {
  std::string name;
  std::string key;  // empty: unchanged
  std::string range;
  uint32_t folded = 1;
};

class Folder {
 public:
  Folder(const ModelTree& tree, const Differs& differs)
      : tree_(tree), differs_(differs), drafts_(tree.size()), merged_into_(tree.size(), kNoNode) {
    for (NodeId id = 1; id < tree.size(); ++id) Append(tree[id].parent, id);
  }

  Folding Run() {
    // Children have higher numbers than their parents, so this goes from the inside out: nested
    // layers are folded before their parents are compared.
    for (NodeId id = tree_.size(); id-- > 0;) FoldChildren(id);
    return Rebuild();
  }

 private:
  std::vector<NodeId> ChildrenOf(NodeId draft) const {
    std::vector<NodeId> children;
    for (NodeId child = drafts_[draft].first_child; child != kNoNode; child = drafts_[child].next) {
      children.push_back(child);
    }
    return children;
  }

  void Append(NodeId parent, NodeId child) {
    drafts_[child].next = kNoNode;
    NodeId& last = drafts_[parent].last_child;
    (last == kNoNode ? drafts_[parent].first_child : drafts_[last].next) = child;
    last = child;
  }

  // Of its key, without the place.
  const std::string& Base(NodeId draft) const {
    return IsNumberedByClass(tree_[draft]) ? tree_[draft].type : tree_[draft].name;
  }

  // Distinguishes it from siblings, and pairs it with a child of a sibling layer: by class and
  // position if its number counts over the whole program, and among siblings of the same name.
  std::string Key(NodeId draft) const {
    const auto renamed = renamed_.find(draft);
    if (renamed != renamed_.end() && !renamed->second.key.empty()) return renamed->second.key;
    const int32_t place = drafts_[draft].place;
    return place == Draft::kOnly ? Base(draft) : Base(draft) + "#" + std::to_string(place);
  }

  void FoldChildren(NodeId parent) {
    const std::vector<NodeId> children = ChildrenOf(parent);
    if (children.empty()) return;
    PlaceChildren(children);
    if (children.size() < 2) return;
    std::vector<std::string_view> names;
    for (const NodeId child : children) names.push_back(tree_[child].name);
    std::sort(names.begin(), names.end());
    std::map<std::string, std::vector<NodeId>> by_stem;
    for (const NodeId child : children) {
      if (const auto stem = Stem(child, names)) by_stem[*stem].push_back(child);
    }
    for (auto& [stem, members] : by_stem) FoldSiblings(parent, stem, std::move(members));
  }

  void PlaceChildren(std::vector<NodeId> children) {
    std::stable_sort(children.begin(), children.end(),
                     [&](NodeId a, NodeId b) { return Base(a) < Base(b); });
    int32_t place = 0;
    for (size_t i = 0; i < children.size(); ++i) {
      const NodeId child = children[i];
      place = i > 0 && Base(children[i - 1]) == Base(child) ? place + 1 : 0;
      if (IsNumberedByClass(tree_[child]) || place > 0) drafts_[child].place = place;
      drafts_[child].key_hash = HashBytes(Key(child));
    }
  }

  // The name of a child without its number, if it may be one of several layers. `names`: those of
  // its siblings, sorted.
  std::optional<std::string> Stem(NodeId child, const std::vector<std::string_view>& names) const {
    const TreeNode& node = tree_[child];
    if (drafts_[child].first_child == kNoNode || drafts_[child].is_several) return std::nullopt;
    // Linear_0, Linear_1 and Linear_2 of an attention are its query, key and value, not three
    // layers: a module named by class must contain modules to be a layer.
    if (!IsModule(node.level) || (node.level == Level::kMl && !node.type.empty())) {
      return std::nullopt;
    }
    const auto numbered = SplitNumber(node.name);
    if (!numbered) return std::nullopt;
    if (!IsNumberedByClass(node)) {
      // `dense`, `dense_1`, `dense_2`: the number only makes the name unique.
      std::string_view bare = numbered->stem;
      while (bare.ends_with('_') || bare.ends_with('.')) bare.remove_suffix(1);
      if (!bare.empty() && std::binary_search(names.begin(), names.end(), bare)) {
        return std::nullopt;
      }
    }
    return std::string(numbered->stem);
  }

  void FoldSiblings(NodeId parent, const std::string& stem, std::vector<NodeId> members) {
    if (members.size() < 2) return;
    auto number = [&](NodeId draft) { return SplitNumber(tree_[draft].name)->number; };
    std::stable_sort(members.begin(), members.end(),
                     [&](NodeId a, NodeId b) { return number(a) < number(b); });
    struct Cluster {
      std::vector<uint64_t> structure;
      std::vector<NodeId> members;
    };
    std::vector<Cluster> clusters;
    for (const NodeId member : members) {
      std::vector<uint64_t> structure = Structure(member);
      auto like = std::find_if(clusters.begin(), clusters.end(), [&](const Cluster& cluster) {
        return tree_[cluster.members.front()].type == tree_[member].type &&
               (!differs_ || !differs_(cluster.members.front(), member)) &&
               Similarity(cluster.structure, structure) >= kAlike;
      });
      if (like == clusters.end()) {
        if (clusters.size() == kMostKinds) return;
        clusters.push_back({std::move(structure), {}});
        like = clusters.end() - 1;
      }
      like->members.push_back(member);
    }
    for (const Cluster& cluster : clusters) {
      if (cluster.members.size() < 2) continue;
      const NodeId first = cluster.members.front();
      std::vector<uint64_t> numbers;
      for (const NodeId member : cluster.members) numbers.push_back(number(member));
      for (size_t i = 1; i < cluster.members.size(); ++i) Merge(first, cluster.members[i]);
      Renamed& renamed = renamed_[first];
      renamed.range = RangeText(numbers);
      renamed.name = FoldedName(stem, clusters.size() == 1 ? "" : renamed.range);
      // If numbers continue from one group of layers to the next, the groups are still alike.
      if (clusters.size() == 1 && !IsNumberedByClass(tree_[first])) {
        renamed.key = renamed.name;
        drafts_[first].key_hash = HashBytes(renamed.key);
      }
      renamed.folded = static_cast<uint32_t>(cluster.members.size());
      NameByPosition(first);
    }
    // All at once: one by one takes forever where there are a million.
    const std::vector<NodeId> children = ChildrenOf(parent);
    drafts_[parent].first_child = drafts_[parent].last_child = kNoNode;
    for (const NodeId child : children) {
      if (merged_into_[child] == kNoNode) Append(parent, child);
    }
  }

  // All paths below a draft, hashed and sorted.
  std::vector<uint64_t> Structure(NodeId draft) const {
    std::vector<uint64_t> paths;
    std::vector<std::pair<NodeId, uint64_t>> stack = {{draft, 0}};
    while (!stack.empty()) {
      const auto [at, hash] = stack.back();
      stack.pop_back();
      for (NodeId child = drafts_[at].first_child; child != kNoNode; child = drafts_[child].next) {
        const uint64_t path = (hash ^ drafts_[child].key_hash) * 0x9E3779B97F4A7C15ULL;
        paths.push_back(path);
        stack.emplace_back(child, path);
      }
    }
    std::sort(paths.begin(), paths.end());
    return paths;
  }

  // Shared paths over all paths of both.
  static double Similarity(const std::vector<uint64_t>& a, const std::vector<uint64_t>& b) {
    size_t shared = 0;
    for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
      if (a[i] == b[j]) {
        ++shared;
        ++i;
        ++j;
      } else if (a[i] < b[j]) {
        ++i;
      } else {
        ++j;
      }
    }
    const size_t all = a.size() + b.size() - shared;
    return all == 0 ? 1 : static_cast<double>(shared) / static_cast<double>(all);
  }

  // Merges `from` and everything below it into `into`.
  void Merge(NodeId into, NodeId from) {
    std::vector<std::pair<NodeId, NodeId>> stack = {{into, from}};
    while (!stack.empty()) {
      const auto [to, at] = stack.back();
      stack.pop_back();
      merged_into_[at] = to;
      drafts_[to].is_several = true;
      for (const NodeId child : ChildrenOf(at)) {
        const NodeId same = FindChild(to, child);
        if (same == kNoNode) {
          Append(to, child);
        } else {
          stack.emplace_back(same, child);
        }
      }
    }
  }

  // The child with the key of another draft.
  NodeId FindChild(NodeId parent, NodeId like) const {
    NodeId child = drafts_[parent].first_child;
    while (child != kNoNode &&
           (drafts_[child].key_hash != drafts_[like].key_hash || Key(child) != Key(like))) {
      child = drafts_[child].next;
    }
    return child;
  }

  // Below a folded layer, a number that counts over the whole program is meaningless: `Linear_6`
  // becomes `Linear[0]`, its position.
  void NameByPosition(NodeId top) {
    std::vector<NodeId> stack = {top};
    while (!stack.empty()) {
      const std::vector<NodeId> children = ChildrenOf(stack.back());
      stack.pop_back();
      std::map<std::string_view, int> count;
      for (const NodeId child : children) {
        if (IsNumberedByClass(tree_[child])) ++count[tree_[child].type];
      }
      for (const NodeId child : children) {
        stack.push_back(child);
        if (!IsNumberedByClass(tree_[child])) continue;
        Renamed& renamed = renamed_[child];
        if (renamed.folded > 1) continue;
        const std::string& type = tree_[child].type;
        renamed.name =
            count[type] > 1 ? FoldedName(type, std::to_string(drafts_[child].place)) : type;
      }
    }
  }

  Folding Rebuild() const {
    Folding folding;
    folding.node_of.assign(tree_.size(), 0);
    std::vector<TreeNode> nodes;
    std::vector<std::pair<NodeId, NodeId>> stack = {{0, 0}};
    while (!stack.empty()) {
      const auto [at, parent] = stack.back();
      stack.pop_back();
      const auto id = static_cast<NodeId>(nodes.size());
      TreeNode& node = nodes.emplace_back(tree_[at]);
      node.parent = parent;
      const auto renamed = renamed_.find(at);
      node.folded = 1;
      node.folded_range.clear();
      if (renamed != renamed_.end()) {
        node.name = renamed->second.name;
        node.folded = renamed->second.folded;
        node.folded_range = renamed->second.range;
      }
      folding.node_of[at] = id;
      const std::vector<NodeId> children = ChildrenOf(at);
      for (auto child = children.rbegin(); child != children.rend(); ++child) {
        stack.emplace_back(*child, id);
      }
    }
    for (NodeId original = 0; original < tree_.size(); ++original) {
      NodeId into = original;
      while (merged_into_[into] != kNoNode) into = merged_into_[into];
      folding.node_of[original] = folding.node_of[into];
    }
    folding.tree.nodes = std::move(nodes);  // in pre-order already
    CloseTree(folding.tree);
    return folding;
  }

  const ModelTree& tree_;
  const Differs& differs_;
  std::vector<Draft> drafts_;
  std::vector<NodeId> merged_into_;  // by node; kNoNode: it is in the folded tree
  std::unordered_map<NodeId, Renamed> renamed_;
};

}  // namespace

Folding Fold(const ModelTree& tree, const Differs& differs) { return Folder(tree, differs).Run(); }

}  // namespace beryl
