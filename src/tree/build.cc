#include <algorithm>
#include <map>
#include <utility>

#include "tree/tree.h"

namespace beryl::tree {
namespace {

struct Draft {
  size_t parent = 0;
  StringId name = 0;
  StringId type = 0;
  Level level = Level::kModule;
  bool in_names = false;
  std::vector<size_t> children;
};

Level LevelOf(PathKind kind) {
  if (kind == PathKind::kOperation) return Level::kOperation;
  return kind == PathKind::kKernel ? Level::kKernel : Level::kModule;
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
  std::vector<Draft> drafts(1);
  std::vector<size_t> draft_of_path(trace.paths.size(), 0);
  std::vector<int> depth(trace.paths.size(), 0);
  std::map<std::pair<size_t, StringId>, size_t> by_name;
  // Parents come before their children in a PathTable, so one pass is enough.
  for (PathId path = 1; path < trace.paths.size(); ++path) {
    if (!used[path]) continue;
    const PathTable::Step& step = trace.paths[path];
    depth[path] = depth[step.parent] + 1;
    if (depth[path] > kDeepest) {
      draft_of_path[path] = draft_of_path[step.parent];
      continue;
    }
    const size_t parent = draft_of_path[step.parent];
    auto [place, is_new] = by_name.try_emplace({parent, step.name}, drafts.size());
    if (is_new) {
      drafts.push_back({parent, step.name, step.type, LevelOf(step.kind), false, {}});
      drafts[parent].children.push_back(place->second);
    }
    Draft& draft = drafts[place->second];
    draft.level = std::max(draft.level, LevelOf(step.kind));
    if (draft.type == 0) draft.type = step.type;
    draft.in_names = draft.in_names || step.kind == PathKind::kModule ||
                     (step.kind == PathKind::kAnnotation && !has_modules);
    draft_of_path[path] = place->second;
  }

  for (const OpKind& kind : trace.kinds) {
    Draft& draft = drafts[draft_of_path[kind.path]];
    if (draft.type == 0 && draft.level != Level::kModule) draft.type = kind.type;
  }

  TraceTree built;
  std::vector<NodeId> node_of_draft(drafts.size(), 0);
  std::vector<size_t> stack = {0};
  while (!stack.empty()) {
    const size_t at = stack.back();
    stack.pop_back();
    const Draft& draft = drafts[at];
    const auto id = static_cast<NodeId>(built.tree.nodes.size());
    node_of_draft[at] = id;
    TreeNode node;
    node.parent = node_of_draft[draft.parent];
    node.end = id + 1;
    node.name = at == 0 ? "model" : std::string(trace.strings.Text(draft.name));
    node.type = trace.strings.Text(draft.type);
    node.level = at == 0 ? Level::kModel : draft.level;
    node.depth =
        at == 0 ? uint16_t{0} : static_cast<uint16_t>(built.tree.nodes[node.parent].depth + 1);
    built.tree.nodes.push_back(std::move(node));
    built.in_names.push_back(draft.in_names);
    stack.insert(stack.end(), draft.children.rbegin(), draft.children.rend());
  }
  for (size_t id = built.tree.nodes.size(); id-- > 1;) {
    TreeNode& parent = built.tree.nodes[built.tree.nodes[id].parent];
    parent.end = std::max(parent.end, built.tree.nodes[id].end);
  }
  for (const OpKind& kind : trace.kinds) {
    built.node_of_kind.push_back(node_of_draft[draft_of_path[kind.path]]);
  }
  return built;
}

}  // namespace beryl::tree
