#include "learn/fold_layers.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/string_table.h"
#include "base/text.h"

namespace beryl::learn {
namespace {

constexpr uint64_t kSpread = 0x9E3779B97F4A7C15ULL;

// Siblings that become one node, by position among the children of their parent.
struct Group {
  std::vector<size_t> positions;
  std::string stem;  // empty: stands alone
  std::vector<uint64_t> numbers;
};

class LayerFolder {
 public:
  explicit LayerFolder(const ModelTree& tree) : nodes_(tree.nodes), children_(nodes_.size()) {
    for (NodeId id = 1; id < nodes_.size(); ++id) children_[nodes_[id].parent].push_back(id);
    inside_.resize(nodes_.size(), 0);
    // Children have higher numbers than their parents.
    for (size_t id = nodes_.size(); id-- > 0;) {
      for (const NodeId child : children_[id]) {
        uint64_t hash = HashBytes(nodes_[child].name) ^ (HashBytes(nodes_[child].type) * kSpread);
        hash = (hash ^ inside_[child]) * kSpread + static_cast<uint64_t>(nodes_[child].level);
        inside_[id] = (inside_[id] ^ hash) * kSpread + 1;
      }
    }
  }

  FoldedModel Run() {
    FoldedModel folded;
    folded.node_of.resize(nodes_.size(), 0);
    struct Step {
      std::vector<NodeId> originals;
      NodeId parent = 0;
      std::string name;
      std::string range;
      uint32_t count = 1;
    };
    std::vector<Step> stack = {{{0}, 0, nodes_[0].name, "", 1}};
    while (!stack.empty()) {
      const Step step = std::move(stack.back());
      stack.pop_back();
      const auto id = static_cast<NodeId>(folded.tree.nodes.size());
      TreeNode node = nodes_[step.originals.front()];
      node.parent = step.parent;
      node.end = id + 1;
      node.name = step.name;
      node.folded = step.count;
      node.folded_range = step.range;
      folded.tree.nodes.push_back(std::move(node));
      for (const NodeId original : step.originals) folded.node_of[original] = id;
      const std::vector<Group> groups = GroupsOf(step.originals.front());
      for (auto group = groups.rbegin(); group != groups.rend(); ++group) {
        Step next{{}, id, NameOf(step.originals.front(), *group, groups), "", 1};
        if (group->positions.size() > 1) {
          next.range = RangeText(group->numbers);
          next.count = static_cast<uint32_t>(group->positions.size());
        }
        // What was folded together has the same inside, position by position.
        for (const NodeId original : step.originals) {
          for (const size_t at : group->positions) {
            next.originals.push_back(children_[original][at]);
          }
        }
        stack.push_back(std::move(next));
      }
    }
    for (size_t id = folded.tree.nodes.size(); id-- > 1;) {
      TreeNode& parent = folded.tree.nodes[folded.tree.nodes[id].parent];
      parent.end = std::max(parent.end, folded.tree.nodes[id].end);
    }
    return folded;
  }

 private:
  std::vector<Group> GroupsOf(NodeId parent) const {
    std::vector<Group> groups;
    std::map<std::tuple<std::string, std::string, uint64_t>, size_t> known;
    for (size_t at = 0; at < children_[parent].size(); ++at) {
      const NodeId child = children_[parent][at];
      const TreeNode& node = nodes_[child];
      const auto numbered = SplitNumber(node.name);
      if (!numbered || node.level != Level::kModule || children_[child].empty()) {
        groups.push_back({{at}, "", {}});
        continue;
      }
      const std::string stem(numbered->stem);
      const auto [place, is_new] =
          known.emplace(std::make_tuple(stem, node.type, inside_[child]), groups.size());
      if (is_new) groups.push_back({{}, stem, {}});
      groups[place->second].positions.push_back(at);
      groups[place->second].numbers.push_back(numbered->number);
    }
    return groups;
  }

  std::string NameOf(NodeId parent, const Group& group, const std::vector<Group>& groups) const {
    if (group.positions.size() == 1) return nodes_[children_[parent][group.positions[0]]].name;
    const bool only = std::count_if(groups.begin(), groups.end(), [&](const Group& other) {
                        return !other.numbers.empty() && other.stem == group.stem;
                      }) == 1;
    return only ? group.stem + "*" : fmt::format("{}[{}]", group.stem, RangeText(group.numbers));
  }

  static std::string RangeText(std::vector<uint64_t> numbers) {
    std::sort(numbers.begin(), numbers.end());
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

  const std::vector<TreeNode>& nodes_;
  std::vector<std::vector<NodeId>> children_;
  std::vector<uint64_t> inside_;  // by node: a hash of all below it
};

}  // namespace

FoldedModel FoldLayers(const ModelTree& tree) {
  if (tree.nodes.empty()) return {};
  return LayerFolder(tree).Run();
}

}  // namespace beryl::learn
