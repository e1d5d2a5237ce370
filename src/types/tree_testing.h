// Trees written as lines of text, for tests.
#pragma once

#include <string>
#include <vector>

#include "types/model_tree.h"

namespace beryl {

// One node per line, indented by two blanks per level: "NAME TYPE LEVEL"; the root first. "-" for
// no type.
inline ModelTree TreeOf(const std::vector<std::string>& lines) {
  std::vector<TreeNode> nodes;
  std::vector<NodeId> open;
  for (const std::string& line : lines) {
    const size_t indent = line.find_first_not_of(' ');
    open.resize(indent / 2);
    TreeNode& node = nodes.emplace_back();
    node.parent = open.empty() ? 0 : open.back();
    open.push_back(static_cast<NodeId>(nodes.size() - 1));
    const size_t name = line.find(' ', indent);
    const size_t type = line.find(' ', name + 1);
    node.name = line.substr(indent, name - indent);
    node.type = line.substr(name + 1, type - name - 1);
    if (node.type == "-") node.type.clear();
    node.level = *ParseLevel(line.substr(type + 1));
  }
  return MakeTree(std::move(nodes));
}

}  // namespace beryl
