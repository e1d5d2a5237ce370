// ModelTree: the structure of a program, built once and never changed. Numbers stand beside it, in
// columns.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace beryl {

using NodeId = uint32_t;

enum class Level : uint8_t { kModel, kModule, kOperation, kKernel };
std::string_view LevelName(Level level);

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
};

// The path of a node from below the root, joined by "/".
std::string NodePath(const ModelTree& tree, NodeId node);

}  // namespace beryl
