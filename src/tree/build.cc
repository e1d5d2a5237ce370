#include <algorithm>
#include <utility>

#include "tree/tree.h"

namespace beryl::tree {
namespace {

Level LevelOf(PathKind kind) {
  if (kind == PathKind::kOperation) return Level::kMath;
  return kind == PathKind::kKernel ? Level::kKernel : Level::kModule;
}

// A module with a class and without modules inside is an ML primitive. Name scopes have no class.
// Modules that an operation of a forward pass calls are inside too; those that an operation of a
// backward pass runs again belong elsewhere.
void FindPrimitives(ModelTree& tree, std::vector<bool> forward) {
  forward = RollUp(tree, std::move(forward));
  std::vector<bool> has_modules(tree.size(), false);
  for (NodeId node = tree.size(); node-- > 1;) {
    TreeNode& of = tree.nodes[node];
    if (of.level == Level::kModule) {
      if (!of.type.empty() && !has_modules[node]) of.level = Level::kMl;
      has_modules[node] = true;
    } else if (!forward[node]) {
      continue;
    }
    if (has_modules[node]) has_modules[of.parent] = true;
  }
}

}  // namespace

TraceTree Build(const OpTrace& trace) {
  bool has_modules = false;
  std::vector<bool> used(trace.paths.size(), false);
  for (const OpKind& kind : trace.kinds) {
    for (PathId path = kind.path; path != kRootPath && !used[path];
         path = trace.paths[path].parent) {
      used[path] = true;
      has_modules = has_modules || trace.paths[path].kind == PathKind::kModule;
    }
  }
  struct Draft {
    StringId type = 0;
    bool in_names = false;
  };
  // Growing step by step would touch twice the memory.
  const auto most = static_cast<size_t>(std::count(used.begin(), used.end(), true)) + 1;
  std::vector<Draft> drafts(1);
  drafts.reserve(most);
  std::vector<TreeNode> nodes(1);
  nodes.reserve(most);
  nodes[0].level = Level::kModel;
  nodes[0].name = "model";
  std::vector<NodeId> draft_of_path(trace.paths.size(), 0);
  std::vector<int> depth(trace.paths.size(), 0);
  PathTable by_name;  // numbers nodes like paths that differ in parent and name only
  // Parents come before their children in a PathTable, so one pass is enough.
  for (PathId path = 1; path < trace.paths.size(); ++path) {
    if (!used[path]) continue;
    const PathTable::Step& step = trace.paths[path];
    depth[path] = depth[step.parent] + 1;
    if (depth[path] > kDeepestNode) {
      draft_of_path[path] = draft_of_path[step.parent];
      continue;
    }
    const NodeId parent = draft_of_path[step.parent];
    const NodeId at = by_name.Intern(parent, step.name, PathKind::kModule);
    if (at == nodes.size()) {
      TreeNode& node = nodes.emplace_back();
      node.parent = parent;
      node.name = trace.strings.Text(step.name);
      node.level = LevelOf(step.kind);
      drafts.emplace_back();
    }
    Draft& draft = drafts[at];
    TreeNode& node = nodes[at];
    node.level = std::max(node.level, LevelOf(step.kind));
    if (draft.type == 0) draft.type = step.type;
    draft.in_names = draft.in_names || step.kind == PathKind::kModule ||
                     (step.kind == PathKind::kAnnotation && !has_modules);
    draft_of_path[path] = at;
  }
  for (const OpKind& kind : trace.kinds) {
    const NodeId at = draft_of_path[kind.path];
    if (drafts[at].type == 0 && nodes[at].level > Level::kModule) drafts[at].type = kind.type;
  }
  for (size_t at = 0; at < nodes.size(); ++at) nodes[at].type = trace.strings.Text(drafts[at].type);

  by_name = {};

  TraceTree built;
  std::vector<NodeId> place;
  built.tree = MakeTree(std::move(nodes), &place);
  built.in_names.resize(drafts.size());
  for (size_t at = 0; at < drafts.size(); ++at) built.in_names[place[at]] = drafts[at].in_names;
  std::vector<bool> forward(built.tree.size(), false);
  for (const OpKind& kind : trace.kinds) {
    const NodeId node = place[draft_of_path[kind.path]];
    built.node_of_kind.push_back(node);
    if (kind.phase == Phase::kForward) forward[node] = true;
  }
  FindPrimitives(built.tree, std::move(forward));
  return built;
}

}  // namespace beryl::tree
