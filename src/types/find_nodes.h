// Finding nodes by path and pattern.
//
// Patterns over paths: `*` stands for anything within a level, `?` for one character, `**` as a
// whole level for any number of levels, none included. A pattern meets a path from its first to its
// last level.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "types/model_tree.h"

namespace beryl {

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

// The nodes that `pattern` names: a whole path, else the ends of paths or of scopes
// ("layer.0.attention"), else a path with * for anything but "/", ** for anything and ? for a
// character. Empty: none.
std::vector<NodeId> FindNodes(const ModelTree& tree, std::string_view pattern);
// Paths that were perhaps meant, the nearest first.
std::vector<std::string> NearPaths(const ModelTree& tree, std::string_view pattern, size_t most);

}  // namespace beryl
