#include "types/fold_tree.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/string_table.h"
#include "base/text.h"

namespace beryl {
namespace {

// How much of their substructure two layers must share. Frameworks leave small differences between
// equal layers: a constant or a bias that only the first one has.
constexpr double kAlike = 0.7;
// A stem with more distinct substructures than this is not a repetition.
constexpr size_t kMostKinds = 16;

// A node while folding: one or several nodes of the tree below.
struct Draft {
  std::vector<NodeId> originals;
  std::vector<NodeId> children;  // drafts
  std::string name;
  std::string key;  // distinguishes it from siblings, and pairs it with a child of a sibling layer
  uint32_t folded = 1;
  std::string range;
};

class Folder {
 public:
  Folder(const ModelTree& tree, const Differs& differs) : tree_(tree), differs_(differs) {
    drafts_.resize(tree.size());
    for (NodeId id = 0; id < tree.size(); ++id) {
      drafts_[id].originals = {id};
      drafts_[id].name = tree[id].name;
      if (id > 0) drafts_[tree[id].parent].children.push_back(id);
    }
  }

  Folding Run() {
    // Children have higher numbers than their parents, so this goes from the inside out: nested
    // layers are folded before their parents are compared.
    for (NodeId id = tree_.size(); id-- > 0;) FoldChildren(id);
    return Rebuild();
  }

 private:
  const TreeNode& Original(NodeId draft) const { return tree_[drafts_[draft].originals.front()]; }

  void FoldChildren(NodeId parent) {
    // The name of a child inside a layer: by class and position if its number counts over the whole
    // program, and among siblings of the same name.
    std::map<std::string, int> seen;
    for (const NodeId child : drafts_[parent].children) {
      Draft& draft = drafts_[child];
      const bool by_class = IsNumberedByClass(Original(child));
      draft.key = by_class ? Original(child).type : draft.name;
      const int place = seen[draft.key]++;
      if (by_class || place > 0) draft.key += "#" + std::to_string(place);
    }
    std::map<std::string, std::vector<NodeId>> by_stem;
    for (const NodeId child : drafts_[parent].children) {
      if (const auto stem = Stem(parent, child)) by_stem[*stem].push_back(child);
    }
    for (auto& [stem, members] : by_stem) FoldSiblings(parent, stem, std::move(members));
  }

  // The name of a child without its number, if it may be one of several layers.
  std::optional<std::string> Stem(NodeId parent, NodeId child) const {
    const Draft& draft = drafts_[child];
    const TreeNode& node = Original(child);
    if (draft.children.empty() || draft.originals.size() > 1) return std::nullopt;
    // Linear_0, Linear_1 and Linear_2 of an attention are its query, key and value, not three
    // layers: a module named by class must contain modules to be a layer.
    if (!IsModule(node.level) || (node.level == Level::kMl && !node.type.empty())) {
      return std::nullopt;
    }
    const auto numbered = SplitNumber(draft.name);
    if (!numbered) return std::nullopt;
    if (!IsNumberedByClass(Original(child))) {
      // `dense`, `dense_1`, `dense_2`: the number only makes the name unique.
      std::string_view bare = numbered->stem;
      while (bare.ends_with('_') || bare.ends_with('.')) bare.remove_suffix(1);
      const auto& siblings = drafts_[parent].children;
      if (!bare.empty() && std::any_of(siblings.begin(), siblings.end(),
                                       [&](NodeId other) { return drafts_[other].name == bare; })) {
        return std::nullopt;
      }
    }
    return std::string(numbered->stem);
  }

  void FoldSiblings(NodeId parent, const std::string& stem, std::vector<NodeId> members) {
    if (members.size() < 2) return;
    auto number = [&](NodeId draft) { return SplitNumber(drafts_[draft].name)->number; };
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
        return Original(cluster.members.front()).type == Original(member).type &&
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
      for (size_t i = 1; i < cluster.members.size(); ++i) {
        Merge(first, cluster.members[i]);
        std::erase(drafts_[parent].children, cluster.members[i]);
      }
      Draft& draft = drafts_[first];
      draft.range = RangeText(numbers);
      draft.name = FoldedName(stem, clusters.size() == 1 ? "" : draft.range);
      // If numbers continue from one group of layers to the next, the groups are still alike.
      if (clusters.size() == 1 && !IsNumberedByClass(Original(first))) draft.key = draft.name;
      draft.folded = static_cast<uint32_t>(cluster.members.size());
      NameByPosition(first);
    }
  }

  // All paths below a draft, hashed and sorted.
  std::vector<uint64_t> Structure(NodeId draft) const {
    std::vector<uint64_t> paths;
    std::vector<std::pair<NodeId, uint64_t>> stack = {{draft, 0}};
    while (!stack.empty()) {
      const auto [at, hash] = stack.back();
      stack.pop_back();
      for (const NodeId child : drafts_[at].children) {
        const uint64_t path = (hash ^ HashBytes(drafts_[child].key)) * 0x9E3779B97F4A7C15ULL;
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
      auto& originals = drafts_[to].originals;
      originals.insert(originals.end(), drafts_[at].originals.begin(), drafts_[at].originals.end());
      for (const NodeId child : drafts_[at].children) {
        auto& siblings = drafts_[to].children;
        const auto same = std::find_if(siblings.begin(), siblings.end(), [&](NodeId other) {
          return drafts_[other].key == drafts_[child].key;
        });
        if (same == siblings.end()) {
          siblings.push_back(child);
        } else {
          stack.emplace_back(*same, child);
        }
      }
    }
  }

  // Below a folded layer, a number that counts over the whole program is meaningless: `Linear_6`
  // becomes `Linear[0]`, its position.
  void NameByPosition(NodeId top) {
    std::vector<NodeId> stack = {top};
    while (!stack.empty()) {
      const NodeId at = stack.back();
      stack.pop_back();
      std::map<std::string, int> count;
      for (const NodeId child : drafts_[at].children) {
        if (IsNumberedByClass(Original(child))) ++count[Original(child).type];
      }
      for (const NodeId child : drafts_[at].children) {
        stack.push_back(child);
        if (!IsNumberedByClass(Original(child)) || drafts_[child].folded > 1) continue;
        const std::string& type = Original(child).type;
        const std::string& key = drafts_[child].key;
        drafts_[child].name =
            count[type] > 1 ? FoldedName(type, key.substr(key.rfind('#') + 1)) : type;
      }
    }
  }

  Folding Rebuild() const {
    Folding folding;
    folding.node_of.assign(tree_.size(), 0);
    std::vector<TreeNode> nodes;
    std::vector<NodeId> draft_of;
    std::vector<std::pair<NodeId, NodeId>> stack = {{0, 0}};
    while (!stack.empty()) {
      const auto [at, parent] = stack.back();
      stack.pop_back();
      const Draft& draft = drafts_[at];
      const auto id = static_cast<NodeId>(nodes.size());
      TreeNode& node = nodes.emplace_back(Original(at));
      node.parent = parent;
      node.name = draft.name;
      node.folded = draft.folded;
      node.folded_range = draft.range;
      for (const NodeId original : draft.originals) folding.node_of[original] = id;
      for (auto child = draft.children.rbegin(); child != draft.children.rend(); ++child) {
        stack.emplace_back(*child, id);
      }
    }
    folding.tree.nodes = std::move(nodes);  // in pre-order already
    CloseTree(folding.tree);
    return folding;
  }

  const ModelTree& tree_;
  const Differs& differs_;
  std::vector<Draft> drafts_;
};

}  // namespace

Folding Fold(const ModelTree& tree, const Differs& differs) { return Folder(tree, differs).Run(); }

}  // namespace beryl
