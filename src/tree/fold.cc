#include <algorithm>
#include <map>
#include <string>

#include <fmt/format.h>

#include "base/string_table.h"
#include "base/text.h"
#include "tree/tree.h"

namespace beryl::tree {
namespace {

// How much of their substructure two layers must share. Real frameworks leave small differences
// between layers that are the same in the program: a constant that only the first one keeps, a bias
// that only the first one has.
constexpr double kAlike = 0.7;
// A stem with more different substructures than this is not a repetition of anything.
constexpr size_t kMostKinds = 16;

// A node while folding: one or several nodes of the tree below.
struct Draft {
  std::vector<NodeId> originals;
  std::vector<size_t> children;  // drafts
  std::string name;
  std::string key;  // tells it from its siblings, and pairs it with a sibling layer's child
  uint32_t folded = 1;
  std::string range;
};

class Folder {
 public:
  explicit Folder(const TraceTree& built) : built_(built), nodes_(built.tree.nodes) {
    drafts_.resize(nodes_.size());
    for (NodeId id = 0; id < nodes_.size(); ++id) {
      drafts_[id].originals = {id};
      drafts_[id].name = nodes_[id].name;
      if (id > 0) drafts_[nodes_[id].parent].children.push_back(id);
    }
  }

  TraceTree Run() {
    // Children have higher numbers than their parents, so this goes from the inside out: layers of
    // layers are compared with their own layers folded already.
    for (size_t id = nodes_.size(); id-- > 0;) FoldChildren(id);
    return Rebuild();
  }

 private:
  const TreeNode& Original(size_t draft) const { return nodes_[drafts_[draft].originals.front()]; }
  bool IsTyped(size_t draft) const {
    return Original(draft).level == Level::kModule && !Original(draft).type.empty();
  }

  void FoldChildren(size_t parent) {
    // What a child is called from inside a layer: by class and position where the class is known,
    // because the number in the name then counts over the whole model.
    std::map<std::string, int> seen;
    for (const size_t child : drafts_[parent].children) {
      drafts_[child].key =
          IsTyped(child) ? fmt::format("{}#{}", Original(child).type, seen[Original(child).type]++)
                         : drafts_[child].name;
    }
    std::map<std::string, std::vector<size_t>> by_stem;
    for (const size_t child : drafts_[parent].children) {
      if (const auto stem = Stem(parent, child); !stem.empty()) by_stem[stem].push_back(child);
    }
    for (const auto& [stem, members] : by_stem) FoldSiblings(parent, stem, members);
  }

  // The name of a child without its number, if it can be one of several layers.
  std::string Stem(size_t parent, size_t child) const {
    const Draft& draft = drafts_[child];
    if (draft.children.empty() || draft.originals.size() > 1) return {};
    const auto numbered = SplitNumber(draft.name);
    if (!numbered) return {};
    if (IsTyped(child)) {
      // Linear_0, Linear_1 and Linear_2 of an attention are its query, key and value, not three
      // layers; a module that has modules inside is a layer.
      const bool has_modules =
          std::any_of(draft.children.begin(), draft.children.end(),
                      [&](size_t inner) { return Original(inner).level == Level::kModule; });
      if (!has_modules) return {};
    } else {
      // `dense`, `dense_1`, `dense_2`: the number was put there to make a name unique.
      std::string_view bare = numbered->stem;
      while (bare.ends_with('_') || bare.ends_with('.')) bare.remove_suffix(1);
      const auto& siblings = drafts_[parent].children;
      if (!bare.empty() && std::any_of(siblings.begin(), siblings.end(),
                                       [&](size_t other) { return drafts_[other].name == bare; })) {
        return {};
      }
    }
    // A bare number is a stem too; it must not look like "none".
    return std::string(numbered->stem) + "*";
  }

  void FoldSiblings(size_t parent, const std::string& stem, std::vector<size_t> members) {
    if (members.size() < 2) return;
    auto number = [&](size_t draft) { return SplitNumber(drafts_[draft].name)->number; };
    std::stable_sort(members.begin(), members.end(),
                     [&](size_t a, size_t b) { return number(a) < number(b); });
    struct Cluster {
      std::vector<uint64_t> structure;
      std::vector<size_t> members;
    };
    std::vector<Cluster> clusters;
    for (const size_t member : members) {
      std::vector<uint64_t> structure = Structure(member);
      auto like = std::find_if(clusters.begin(), clusters.end(), [&](const Cluster& cluster) {
        return Similarity(cluster.structure, structure) >= kAlike;
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
      const size_t first = cluster.members.front();
      std::vector<uint64_t> numbers;
      for (const size_t member : cluster.members) numbers.push_back(number(member));
      const std::string range = RangeText(numbers);
      for (size_t i = 1; i < cluster.members.size(); ++i) {
        Merge(first, cluster.members[i]);
        auto& siblings = drafts_[parent].children;
        siblings.erase(std::find(siblings.begin(), siblings.end(), cluster.members[i]));
      }
      drafts_[first].name = clusters.size() == 1
                                ? stem
                                : fmt::format("{}[{}]", stem.substr(0, stem.size() - 1), range);
      // Where numbers go on from one group of layers to the next, the groups are still alike.
      if (clusters.size() == 1 && !IsTyped(first)) drafts_[first].key = stem;
      drafts_[first].folded = static_cast<uint32_t>(cluster.members.size());
      drafts_[first].range = range;
      NameByPosition(first);
    }
  }

  static std::string RangeText(const std::vector<uint64_t>& numbers) {
    std::string text;
    for (size_t i = 0; i < numbers.size();) {
      size_t last = i;
      while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
      if (!text.empty()) text += ',';
      text += last > i ? fmt::format("{}-{}", numbers[i], numbers[last])
                       : fmt::format("{}", numbers[i]);
      i = last + 1;
    }
    return text;
  }

  // All paths below a draft, hashed and sorted.
  std::vector<uint64_t> Structure(size_t draft) const {
    std::vector<uint64_t> paths;
    std::vector<std::pair<size_t, uint64_t>> stack = {{draft, 0}};
    while (!stack.empty()) {
      const auto [at, hash] = stack.back();
      stack.pop_back();
      for (const size_t child : drafts_[at].children) {
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

  // Puts `from` and everything below it into `into`. As deep as the tree, which Build bounds.
  void Merge(size_t into, size_t from) {  // NOLINT(misc-no-recursion)
    auto& originals = drafts_[into].originals;
    originals.insert(originals.end(), drafts_[from].originals.begin(),
                     drafts_[from].originals.end());
    for (const size_t child : drafts_[from].children) {
      auto& siblings = drafts_[into].children;
      const auto same = std::find_if(siblings.begin(), siblings.end(), [&](size_t other) {
        return drafts_[other].key == drafts_[child].key;
      });
      if (same == siblings.end()) {
        siblings.push_back(child);
      } else {
        Merge(*same, child);
      }
    }
  }

  // Below a folded layer, a module's number says nothing any more: `Linear_6` becomes `Linear[0]`,
  // its position.
  void NameByPosition(size_t top) {
    std::vector<size_t> stack = {top};
    while (!stack.empty()) {
      const size_t at = stack.back();
      stack.pop_back();
      std::map<std::string, int> count;
      for (const size_t child : drafts_[at].children) {
        if (IsTyped(child)) ++count[Original(child).type];
      }
      for (const size_t child : drafts_[at].children) {
        stack.push_back(child);
        if (!IsTyped(child) || drafts_[child].folded > 1) continue;
        const std::string& type = Original(child).type;
        const std::string& key = drafts_[child].key;
        drafts_[child].name =
            count[type] > 1 ? fmt::format("{}[{}]", type, key.substr(key.rfind('#') + 1)) : type;
      }
    }
  }

  TraceTree Rebuild() const {
    TraceTree folded;
    std::vector<NodeId> new_of_old(nodes_.size(), 0);
    std::vector<std::pair<size_t, NodeId>> stack = {{0, 0}};
    while (!stack.empty()) {
      const auto [at, parent] = stack.back();
      stack.pop_back();
      const auto id = static_cast<NodeId>(folded.tree.nodes.size());
      const Draft& draft = drafts_[at];
      TreeNode node = Original(at);
      node.parent = parent;
      node.end = id + 1;
      node.name = draft.name;
      node.folded = draft.folded;
      node.folded_range = draft.range;
      folded.tree.nodes.push_back(std::move(node));
      folded.in_names.push_back(built_.in_names[draft.originals.front()]);
      for (const NodeId original : draft.originals) new_of_old[original] = id;
      for (auto child = draft.children.rbegin(); child != draft.children.rend(); ++child) {
        stack.emplace_back(*child, id);
      }
    }
    for (size_t id = folded.tree.nodes.size(); id-- > 1;) {
      TreeNode& parent = folded.tree.nodes[folded.tree.nodes[id].parent];
      parent.end = std::max(parent.end, folded.tree.nodes[id].end);
    }
    for (const NodeId node : built_.node_of_kind) folded.node_of_kind.push_back(new_of_old[node]);
    return folded;
  }

  const TraceTree& built_;
  const std::vector<TreeNode>& nodes_;
  std::vector<Draft> drafts_;
};

}  // namespace

TraceTree Fold(const TraceTree& built) { return Folder(built).Run(); }

}  // namespace beryl::tree
