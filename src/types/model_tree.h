// ModelTree: the structure of a program: what was run, described, predicted or learned from. Built
// once and never changed; every number stands beside it, in a Column.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace beryl {

using NodeId = uint32_t;
inline constexpr NodeId kNoNode = ~NodeId{0};

// kMl: a module without modules inside (Linear, LayerNorm), or a function that a model's
// description takes as one (MatMul, Softmax). kMath: an operation of the framework (addmm).
// kKernel: what an accelerator ran for it.
enum class Level : uint8_t { kModel, kModule, kMl, kMath, kKernel };
inline constexpr size_t kLevelCount = 5;
std::string_view LevelName(Level level);  // "model", "module", "ml", "math", "kernel"
std::optional<Level> ParseLevel(std::string_view name);
// Whether nodes of this level are modules of the program, the whole of it left out.
inline bool IsModule(Level level) { return level == Level::kModule || level == Level::kMl; }

struct TreeNode {
  NodeId parent = 0;  // of the root: itself
  NodeId end = 0;     // one past the last node below this one
  uint16_t depth = 0;
  Level level = Level::kModule;
  std::string name;
  std::string type;  // class of a module, type of an operation; may be empty
  // How many like nodes stand folded in this one, and which ("0-11"); 1 and empty: none.
  uint32_t folded = 1;
  std::string folded_range;
};

// Nodes in pre-order; node 0 is the root and always there.
struct ModelTree {
  std::vector<TreeNode> nodes;

  NodeId size() const { return static_cast<NodeId>(nodes.size()); }
  const TreeNode& operator[](NodeId node) const { return nodes[node]; }
  bool IsLeaf(NodeId node) const { return nodes[node].end == node + 1; }
};

// The children of a node in order: for (NodeId child : Children(tree, node)).
class Children {
 public:
  class Iterator {
   public:
    Iterator(const ModelTree& tree, NodeId at) : tree_(&tree), at_(at) {}
    NodeId operator*() const { return at_; }
    Iterator& operator++() {
      at_ = tree_->nodes[at_].end;
      return *this;
    }
    bool operator!=(const Iterator& other) const { return at_ != other.at_; }

   private:
    const ModelTree* tree_;
    NodeId at_;
  };

  Children(const ModelTree& tree, NodeId node) : tree_(tree), node_(node) {}
  Iterator begin() const { return {tree_, node_ + 1}; }
  Iterator end() const { return {tree_, tree_.nodes[node_].end}; }

 private:
  const ModelTree& tree_;
  NodeId node_;
};

// A tree of nodes that are in any order in which parents stand before their children; siblings stay
// in theirs. `parent` is an index into `drafts`, `end` and `depth` are filled in. `place`, if it is
// given, says where each of them went.
ModelTree MakeTree(std::vector<TreeNode> drafts, std::vector<NodeId>* place = nullptr);
// Fills in `end` and `depth` of nodes that are in pre-order.
void CloseTree(ModelTree& tree);

// The path of a node from below the root, joined by "/".
std::string NodePath(const ModelTree& tree, NodeId node);
// The same joined by ".": its scope, where names are those of attributes (encoder.layer.0).
std::string ScopeOf(const ModelTree& tree, NodeId node);
// What a node is called where people read: "layer.0-11 ×12" where like ones are folded in it.
std::string NodeLabel(const TreeNode& node);
// The name of a node that others are folded in, as paths and patterns have it: "layer.*", and
// "layer.[0-3]" with a range, where some of them are not alike. And the "layer." of it.
std::string FoldedName(std::string_view stem, std::string_view range);
std::string_view FoldedStem(const TreeNode& node);
// "0-11"; "0,2,4-6".
std::string RangeText(std::vector<uint64_t> numbers);

// What nodes have with everything below them, from what each has itself.
std::vector<double> RollUp(const ModelTree& tree, std::vector<double> self);
// Whether a node or any below it is marked.
std::vector<bool> RollUp(const ModelTree& tree, std::vector<bool> marks);

}  // namespace beryl
