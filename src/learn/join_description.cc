#include "learn/join_description.h"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "learn/scope_tree.h"

namespace beryl::learn {

std::vector<NodeId> JoinDescription(const ModelRun& run) {
  const Description& description = *run.description;
  const auto& described = description.tree.nodes;
  std::unordered_map<std::string, NodeId> modules;                 // by scope
  std::unordered_map<std::string, std::vector<NodeId>> functions;  // by scope and type
  for (NodeId node = 0; node < described.size(); ++node) {
    if (described[node].level == Level::kMath) continue;
    const std::string& scope = description.nodes[node].scope;
    if (node == 0 || scope != description.nodes[described[node].parent].scope) {
      modules.emplace(scope, node);
    } else {
      functions[scope + ":" + NameOfType(described[node].type)].push_back(node);
    }
  }
  std::vector<NodeId> joined;
  std::unordered_map<std::string, size_t> seen;  // of each function so far
  for (NodeId node = 0; node < run.tree.nodes.size(); ++node) {
    const TreeNode& of = run.tree.nodes[node];
    if (node == 0) {
      joined.push_back(0);
      continue;
    }
    std::string scope = ScopeOf(run.tree, node);
    const auto module = modules.find(scope);
    if (module != modules.end()) {
      joined.push_back(module->second);
      continue;
    }
    // The last part is the operation's own name; its module may have no row.
    const size_t dot = scope.rfind('.');
    scope.resize(dot == std::string::npos ? 0 : dot);
    const std::string key = scope + ":" + NameOfType(of.type);
    const auto function = functions.find(key);
    if (function == functions.end()) {
      joined.push_back(kNoNode);
      continue;
    }
    const size_t index = std::min(seen[key]++, function->second.size() - 1);
    joined.push_back(function->second[index]);
  }
  return joined;
}

}  // namespace beryl::learn
