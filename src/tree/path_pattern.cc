#include "tree/path_pattern.h"

#include <algorithm>

#include "base/text.h"

namespace beryl::tree {
namespace {

constexpr size_t kNearest = 3;
constexpr std::string_view kAnyLevels = "**";

// A walk that goes back to the last star when a letter does not fit; `same` compares one item of
// the pattern with one of the text, `star` says which items stand for any number of items.
template <typename Pattern, typename Text, typename Star, typename Same>
bool Glob(const Pattern& pattern, const Text& text, Star&& star, Same&& same) {
  size_t p = 0;
  size_t t = 0;
  size_t last_star = pattern.size();
  size_t resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && star(pattern[p])) {
      last_star = p++;
      resume = t;
    } else if (p < pattern.size() && same(pattern[p], text[t])) {
      ++p;
      ++t;
    } else if (last_star < pattern.size()) {
      p = last_star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && star(pattern[p])) ++p;
  return p == pattern.size();
}

bool LevelMatches(std::string_view pattern, std::string_view name) {
  return Glob(
      pattern, name, [](char c) { return c == '*'; },
      [](char a, char b) { return a == b || a == '?'; });
}

}  // namespace

PathPattern::PathPattern(std::string_view text) {
  for (const std::string_view level : Split(text, '/')) levels_.emplace_back(level);
}

bool PathPattern::Matches(std::string_view path) const {
  return Glob(
      levels_, Split(path, '/'), [](const std::string& level) { return level == kAnyLevels; },
      [](const std::string& level, std::string_view name) { return LevelMatches(level, name); });
}

std::vector<bool> NodesMet(const PathPattern& pattern, const ModelTree& tree) {
  std::vector<bool> met(tree.nodes.size(), false);
  for (NodeId id = 1; id < tree.nodes.size(); ++id) {
    met[id] = met[tree.nodes[id].parent] || pattern.Matches(NodePath(tree, id));
  }
  return met;
}

std::vector<std::string> PathsMet(const PathPattern& pattern, const ModelTree& tree) {
  const std::vector<bool> met = NodesMet(pattern, tree);
  std::vector<std::string> paths;
  for (NodeId id = 1; id < tree.nodes.size(); ++id) {
    if (met[id] && !met[tree.nodes[id].parent]) paths.push_back(NodePath(tree, id));
  }
  return paths;
}

std::vector<std::string> NearestPaths(std::string_view text, const ModelTree& tree) {
  struct Near {
    size_t distance;
    std::string path;
  };
  // Distance costs the product of the lengths; a giant tree's nodes near the top are enough to
  // help.
  constexpr size_t kMostNodes = 20'000;
  constexpr size_t kLongest = 300;
  std::vector<Near> found;
  const std::string wanted(text.substr(0, kLongest));
  for (NodeId id = 1; id < tree.nodes.size() && id < kMostNodes; ++id) {
    std::string path = NodePath(tree, id);
    if (path.size() > kLongest) continue;
    // The end alone may be what was meant: people leave out the beginning of a path.
    const size_t tail = path.size() > wanted.size() ? path.size() - wanted.size() : 0;
    const bool at_level = tail > 0 && path[tail - 1] == '/';
    const size_t distance = std::min(
        EditDistance(wanted, path),
        at_level ? EditDistance(wanted, std::string_view(path).substr(tail)) : path.size());
    found.push_back({distance, std::move(path)});
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Near& a, const Near& b) { return a.distance < b.distance; });
  std::vector<std::string> paths;
  for (const Near& near : found) {
    if (paths.size() == kNearest) break;
    paths.push_back(near.path);
  }
  return paths;
}

}  // namespace beryl::tree
