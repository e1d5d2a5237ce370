// Patterns over paths: `*` stands for anything within a level, `?` for one character, `**` as a
// whole level for any number of levels, none included. A pattern meets a path from its first to its
// last level.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tree/tree.h"

namespace beryl::tree {

class PathPattern {
 public:
  explicit PathPattern(std::string_view text);
  bool Matches(std::string_view path) const;

 private:
  std::vector<std::string> levels_;
};

// By node: whether it or a node above it is met.
std::vector<bool> NodesMet(const PathPattern& pattern, const ModelTree& tree);
// Paths of the topmost nodes that are met.
std::vector<std::string> PathsMet(const PathPattern& pattern, const ModelTree& tree);
// The few paths that look most like the text.
std::vector<std::string> NearestPaths(std::string_view text, const ModelTree& tree);

}  // namespace beryl::tree
