// ModelTree: the structure of a program that was run, described, predicted or learned from. Built
// once and never changed; every number is in a Column beside it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace beryl {

using NodeId = uint32_t;
inline constexpr NodeId kNoNode = ~NodeId{0};

// kMl: a module without modules inside (Linear, LayerNorm), or a function that a description treats
// like one (MatMul, Softmax). kMath: an operation of the framework (addmm). kKernel: what an
// accelerator executed for it.
enum class Level : uint8_t { kModel, kModule, kMl, kMath, kKernel };
inline constexpr size_t kLevelCount = 5;
std::string_view LevelName(Level level);  // "model", "module", "ml", "math", "kernel"
std::optional<Level> ParseLevel(std::string_view name);
// Whether nodes of this level are modules of the program, excluding the whole program.
inline bool IsModule(Level level) { return level == Level::kModule || level == Level::kMl; }

struct TreeNode {
  NodeId parent = 0;  // of the root: itself
  NodeId end = 0;     // one past the last node below this one
  uint16_t depth = 0;
  Level level = Level::kModule;
  std::string name;
  std::string type;  // class of a module, type of an operation; may be empty
  // How many like nodes are folded into this one, and which ("0-11"); 1 and empty: none.
  uint32_t folded = 1;
  std::string folded_range;
};

// Nodes in pre-order; node 0 is the root and always exists.
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

// Builds a tree from nodes in any order in which parents precede their children; siblings keep
// their order. `parent` is an index into `drafts`; `end` and `depth` are filled in. `place`, if
// given, receives the new position of each node.
ModelTree MakeTree(std::vector<TreeNode> drafts, std::vector<NodeId>* place = nullptr);
// Fills in `end` and `depth` of nodes in pre-order.
void CloseTree(ModelTree& tree);

// The path of a node from below the root, joined by "/".
std::string NodePath(const ModelTree& tree, NodeId node);
// The same joined by ".": the scope, if names are attributes (encoder.layer.0).
std::string ScopeOf(const ModelTree& tree, NodeId node);
// Whether a module is named by its class and a number that counts over the whole program:
// `BertLayer_3`.
bool IsNumberedByClass(const TreeNode& node);
// The name of a node for readers: "layer.0-11 ×12" if like nodes are folded into it.
std::string NodeLabel(const TreeNode& node);
// The name of a folded node in paths and patterns: "layer.*", or "layer.[0-3]" with a range if only
// some are alike. And its stem, "layer.".
std::string FoldedName(std::string_view stem, std::string_view range);
std::string_view FoldedStem(const TreeNode& node);
// "0-11"; "0,2,4-6".
std::string RangeText(std::vector<uint64_t> numbers);

// The total of each node with everything below it, from the nodes' own values.
std::vector<double> RollUp(const ModelTree& tree, std::vector<double> self);
// Whether a node or any node below it is marked.
std::vector<bool> RollUp(const ModelTree& tree, std::vector<bool> marks);

}  // namespace beryl
