#include "types/find_nodes.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/text.h"

namespace beryl {
namespace {

constexpr std::string_view kAnyLevels = "**";

// Backtracks to the last star on a mismatch. `same` compares an item of the pattern with one of the
// text; `star` says which items match any number of items.
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

// The end of a path, with as many elements as `parts`.
std::string_view Tail(std::string_view path, size_t parts) {
  size_t at = path.size();
  for (size_t i = 0; i < parts && at != std::string_view::npos; ++i) {
    at = at == 0 ? std::string_view::npos : path.rfind('/', at - 1);
  }
  return at == std::string_view::npos ? path : path.substr(at + 1);
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

std::vector<NodeId> FindNodes(const ModelTree& tree, std::string_view pattern) {
  if (pattern.empty() || pattern == "/" || pattern == tree.nodes[0].name) return {0};
  std::vector<NodeId> ends;
  std::vector<NodeId> globbed;
  const bool is_glob = pattern.find_first_of("*?") != std::string_view::npos;
  const PathPattern whole(pattern);
  const PathPattern anywhere("**/" + std::string(pattern));
  const std::string end = "/" + std::string(pattern);
  const std::string scope = "." + std::string(pattern);  // "layer.0.attention"
  for (NodeId id = 1; id < tree.nodes.size(); ++id) {
    const std::string path = NodePath(tree, id);
    if (path == pattern) return {id};
    if (path.ends_with(end) || ("." + ScopeOf(tree, id)).ends_with(scope)) ends.push_back(id);
    if (is_glob && (whole.Matches(path) || anywhere.Matches(path))) globbed.push_back(id);
  }
  return ends.empty() ? globbed : ends;
}

std::vector<std::string> NearPaths(const ModelTree& tree, std::string_view pattern, size_t most) {
  // Edit distance costs the product of the lengths; in a giant tree, nodes near the top are enough.
  constexpr NodeId kMostNodes = 20'000;
  constexpr size_t kLongest = 300;
  pattern = pattern.substr(0, kLongest);
  const size_t parts = Split(pattern, '/').size();
  std::map<std::string, size_t> distance_of;  // by end of path: many nodes share one
  std::vector<std::pair<size_t, std::string>> found;
  for (NodeId id = 1; id < std::min(tree.size(), kMostNodes); ++id) {
    std::string path = NodePath(tree, id);
    if (path.size() > kLongest) continue;
    const std::string tail(Tail(path, parts));
    auto [place, is_new] = distance_of.try_emplace(tail, 0);
    if (!is_new) continue;  // one example of a name is enough
    // A word contained in the name is nearer than any misspelling.
    place->second = tail.find(pattern) != std::string::npos ? 1 : 1 + EditDistance(tail, pattern);
    found.emplace_back(place->second, std::move(path));
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> paths;
  const size_t farthest = std::max<size_t>(4, pattern.size() / 2);
  for (const auto& [distance, path] : found) {
    if (paths.size() == most || distance > farthest) break;
    paths.push_back(path);
  }
  return paths;
}

}  // namespace beryl
