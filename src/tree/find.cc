#include <algorithm>
#include <map>
#include <utility>

#include "base/text.h"
#include "tree/path_pattern.h"
#include "tree/tree.h"

namespace beryl::tree {
namespace {

// The end of a path with as many parts as `parts`.
std::string_view Tail(std::string_view path, size_t parts) {
  size_t at = path.size();
  for (size_t i = 0; i < parts && at != std::string_view::npos; ++i) {
    at = at == 0 ? std::string_view::npos : path.rfind('/', at - 1);
  }
  return at == std::string_view::npos ? path : path.substr(at + 1);
}

}  // namespace

std::vector<NodeId> FindNodes(const ModelTree& tree, std::string_view pattern) {
  if (pattern.empty() || pattern == "/" || pattern == tree.nodes[0].name) return {0};
  std::vector<NodeId> ends;
  std::vector<NodeId> globbed;
  const bool is_glob = pattern.find_first_of("*?") != std::string_view::npos;
  const PathPattern whole(pattern);
  const PathPattern anywhere("**/" + std::string(pattern));
  const std::string end = "/" + std::string(pattern);
  for (NodeId id = 1; id < tree.nodes.size(); ++id) {
    const std::string path = NodePath(tree, id);
    if (path == pattern) return {id};
    if (path.ends_with(end)) ends.push_back(id);
    if (is_glob && (whole.Matches(path) || anywhere.Matches(path))) globbed.push_back(id);
  }
  return ends.empty() ? globbed : ends;
}

std::vector<std::string> NearPaths(const ModelTree& tree, std::string_view pattern, size_t most) {
  const size_t parts = Split(pattern, '/').size();
  std::map<std::string, size_t> distance_of;  // of ends of paths: many nodes share one
  std::vector<std::pair<size_t, std::string>> found;
  for (NodeId id = 1; id < tree.nodes.size(); ++id) {
    std::string path = NodePath(tree, id);
    const std::string tail(Tail(path, parts));
    auto [place, is_new] = distance_of.try_emplace(tail, 0);
    if (!is_new) continue;  // one example of a name is enough
    // A word that is a part of the name is nearer than any misspelling.
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

}  // namespace beryl::tree
