#include "views/folded_description.h"

#include <algorithm>
#include <bit>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/string_table.h"
#include "base/text.h"

namespace beryl::views {
namespace {

constexpr uint64_t kSpread = 0x9E3779B97F4A7C15ULL;
// A tree of at most so many lines can be taken in.
constexpr size_t kScreen = 40;
constexpr size_t kMostRanges = 3;

// "0-11"; "0,2,…,24" where they do not follow one another.
std::string RangeText(const std::vector<uint64_t>& numbers) {
  std::vector<std::string> ranges;
  for (size_t i = 0; i < numbers.size();) {
    size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    ranges.push_back(last > i ? fmt::format("{}-{}", numbers[i], numbers[last])
                              : fmt::format("{}", numbers[i]));
    i = last + 1;
  }
  if (ranges.size() > kMostRanges) {
    return fmt::format("{},{},…,{}", ranges[0], ranges[1], ranges.back());
  }
  return fmt::format("{}", fmt::join(ranges, ","));
}

class LikeFolder {
 public:
  explicit LikeFolder(const Description& description)
      : description_(description), nodes_(description.tree.nodes), hash_(nodes_.size(), 0) {
    // Children have higher numbers than their parents: from the inside out, the last child first.
    for (NodeId node = static_cast<NodeId>(nodes_.size()); node-- > 0;) {
      hash_[node] = (hash_[node] ^ OwnHash(node)) * kSpread;
      if (node == 0) break;
      uint64_t& parent = hash_[nodes_[node].parent];
      parent = (parent ^ hash_[node] ^ HashBytes(nodes_[node].name)) * kSpread + 1;
    }
  }

  std::vector<FoldedNode> Run() {
    FoldedNode root;
    root.name = nodes_[0].name;
    root.nodes = {0};
    Append(root);
    return std::move(lines_);
  }

 private:
  uint64_t OwnHash(NodeId node) const {
    const DescribedNode& described = description_.nodes[node];
    uint64_t hash = HashBytes(nodes_[node].type) + static_cast<uint64_t>(nodes_[node].level);
    for (const double number :
         {described.work.flops, described.work.matmul_flops, described.work.bytes_read,
          described.work.bytes_written, described.work.bytes_sent, described.runs,
          static_cast<double>(described.parameters)}) {
      hash = (hash ^ std::bit_cast<uint64_t>(number)) * kSpread;
    }
    return hash;
  }

  bool DoesNothing(NodeId node) const {
    const DescribedNode& described = description_.nodes[node];
    return described.work.flops == 0 && described.work.Bytes() == 0 &&
           described.work.bytes_sent == 0 && described.parameters == 0;
  }

  // As deep as the tree, which is as deep as models nest their modules.
  void Append(const FoldedNode& line) {  // NOLINT(misc-no-recursion)
    lines_.push_back(line);
    struct Group {
      FoldedNode line;
      std::string_view stem;
      std::vector<uint64_t> numbers;
    };
    std::vector<Group> groups;
    std::map<std::tuple<std::string_view, uint64_t>, size_t> known;
    const NodeId parent = line.first();
    for (NodeId child = parent + 1; child < nodes_[parent].end; child = nodes_[child].end) {
      if (DoesNothing(child)) continue;
      // What was folded together has the same inside: the same offsets from its top.
      std::vector<NodeId> like;
      for (const NodeId top : line.nodes) like.push_back(top + (child - parent));
      const auto numbered = SplitNumber(nodes_[child].name);
      const bool may_fold = numbered && nodes_[child].level == Level::kModule;
      size_t at = groups.size();
      if (may_fold) at = known.emplace(std::tuple(numbered->stem, hash_[child]), at).first->second;
      if (at == groups.size()) {
        groups.emplace_back();
        groups[at].line.name = nodes_[child].name;
        groups[at].line.depth = static_cast<uint16_t>(line.depth + 1);
        groups[at].line.count = 0;
      }
      ++groups[at].line.count;
      auto& nodes = groups[at].line.nodes;
      nodes.insert(nodes.end(), like.begin(), like.end());
      if (may_fold) {
        groups[at].stem = numbered->stem;
        groups[at].numbers.push_back(numbered->number);
      }
    }
    for (Group& group : groups) {
      if (group.line.count > 1)
        group.line.name = std::string(group.stem) + RangeText(group.numbers);
      Append(group.line);
    }
  }

  const Description& description_;
  const std::vector<TreeNode>& nodes_;
  std::vector<uint64_t> hash_;  // of everything in a node but its own name
  std::vector<FoldedNode> lines_;
};

}  // namespace

std::vector<FoldedNode> FoldLike(const Description& description) {
  return LikeFolder(description).Run();
}

std::vector<FoldedNode> ShownLines(const Description& description,
                                   const std::vector<FoldedNode>& lines, std::optional<int> depth) {
  std::vector<FoldedNode> shown;
  int deepest = 0;
  for (const FoldedNode& line : lines) {
    const bool is_math = description.tree.nodes[line.first()].level == Level::kMath;
    if (depth ? line.depth > *depth : is_math) continue;
    deepest = std::max<int>(deepest, line.depth);
    shown.push_back(line);
  }
  while (!depth && shown.size() > kScreen && deepest > 1) {
    --deepest;
    std::erase_if(shown, [&](const FoldedNode& line) { return line.depth > deepest; });
  }
  return shown;
}

double SumOver(const FoldedNode& line, const std::function<double(NodeId)>& value) {
  double sum = 0;
  for (const NodeId node : line.nodes) sum += value(node);
  return sum;
}

}  // namespace beryl::views
