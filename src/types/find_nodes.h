// Finds nodes by path and pattern.
//
// In a pattern, `*` matches anything within a level, `?` one character, and `**` as a whole level
// any number of levels, including none. A pattern must match the whole path.
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

// By node: whether it or a node above it matches.
std::vector<bool> NodesMet(const PathPattern& pattern, const ModelTree& tree);
// Paths of the topmost matches.
std::vector<std::string> PathsMet(const PathPattern& pattern, const ModelTree& tree);

// The nodes that `pattern` names: a whole path; or else the ends of paths or scopes
// ("layer.0.attention"); or else a path with * for anything but "/", ** for anything and ? for a
// character. Empty if there are none.
std::vector<NodeId> FindNodes(const ModelTree& tree, std::string_view pattern);
// Similar paths, the nearest first.
std::vector<std::string> NearPaths(const ModelTree& tree, std::string_view pattern, size_t most);

}  // namespace beryl
