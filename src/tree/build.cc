#include <algorithm>
#include <map>
#include <utility>

#include "tree/tree.h"
#include "types/fold_tree.h"
#include "types/merge_trees.h"

namespace beryl::tree {
namespace {

Level LevelOf(PathKind kind) {
  if (kind == PathKind::kOperation) return Level::kMath;
  return kind == PathKind::kKernel ? Level::kKernel : Level::kModule;
}

// A module of a class without modules inside is an ML primitive. Name scopes have no class.
void FindPrimitives(ModelTree& tree) {
  std::vector<bool> has_modules(tree.size(), false);
  for (NodeId node = tree.size(); node-- > 1;) {
    TreeNode& of = tree.nodes[node];
    if (of.level != Level::kModule) continue;
    if (!of.type.empty() && !has_modules[node]) of.level = Level::kMl;
    has_modules[of.parent] = true;
  }
}

// The same kinds of operations on another tree; `node_of` says where each node went.
TraceTree Move(const TraceTree& built, ModelTree tree, const std::vector<NodeId>& node_of) {
  TraceTree moved;
  moved.tree = std::move(tree);
  moved.in_names.assign(moved.tree.size(), false);
  for (NodeId node = 0; node < node_of.size(); ++node) {
    if (built.in_names[node]) moved.in_names[node_of[node]] = true;
  }
  for (const NodeId node : built.node_of_kind) moved.node_of_kind.push_back(node_of[node]);
  return moved;
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
  std::vector<Draft> drafts(1);
  std::vector<TreeNode> nodes(1);
  nodes[0].level = Level::kModel;
  nodes[0].name = "model";
  std::vector<NodeId> draft_of_path(trace.paths.size(), 0);
  std::vector<int> depth(trace.paths.size(), 0);
  std::map<std::pair<NodeId, StringId>, NodeId> by_name;
  // Parents come before their children in a PathTable, so one pass is enough.
  for (PathId path = 1; path < trace.paths.size(); ++path) {
    if (!used[path]) continue;
    const PathTable::Step& step = trace.paths[path];
    depth[path] = depth[step.parent] + 1;
    if (depth[path] > kDeepest) {
      draft_of_path[path] = draft_of_path[step.parent];
      continue;
    }
    const NodeId parent = draft_of_path[step.parent];
    const auto [place, is_new] =
        by_name.try_emplace({parent, step.name}, static_cast<NodeId>(nodes.size()));
    if (is_new) {
      TreeNode& node = nodes.emplace_back();
      node.parent = parent;
      node.name = trace.strings.Text(step.name);
      node.level = LevelOf(step.kind);
      drafts.emplace_back();
    }
    Draft& draft = drafts[place->second];
    TreeNode& node = nodes[place->second];
    node.level = std::max(node.level, LevelOf(step.kind));
    if (draft.type == 0) draft.type = step.type;
    draft.in_names = draft.in_names || step.kind == PathKind::kModule ||
                     (step.kind == PathKind::kAnnotation && !has_modules);
    draft_of_path[path] = place->second;
  }
  for (const OpKind& kind : trace.kinds) {
    const NodeId at = draft_of_path[kind.path];
    if (drafts[at].type == 0 && nodes[at].level > Level::kModule) drafts[at].type = kind.type;
  }
  for (size_t at = 0; at < nodes.size(); ++at) nodes[at].type = trace.strings.Text(drafts[at].type);

  TraceTree built;
  std::vector<NodeId> place;
  built.tree = MakeTree(std::move(nodes), &place);
  built.in_names.resize(drafts.size());
  for (size_t at = 0; at < drafts.size(); ++at) built.in_names[place[at]] = drafts[at].in_names;
  FindPrimitives(built.tree);
  for (const OpKind& kind : trace.kinds) {
    built.node_of_kind.push_back(place[draft_of_path[kind.path]]);
  }
  return built;
}

TraceTree Fold(const TraceTree& built, std::vector<NodeId>* node_of) {
  Folding folding = beryl::Fold(built.tree);
  TraceTree folded = Move(built, std::move(folding.tree), folding.node_of);
  if (node_of != nullptr) *node_of = std::move(folding.node_of);
  return folded;
}

std::vector<TraceTree> Merge(const std::vector<const TraceTree*>& trees) {
  std::vector<const ModelTree*> bare;
  bare.reserve(trees.size());
  for (const TraceTree* tree : trees) bare.push_back(&tree->tree);
  const Merging merging = beryl::Merge(bare);
  std::vector<TraceTree> merged;
  for (size_t i = 0; i < trees.size(); ++i) {
    merged.push_back(Move(*trees[i], merging.tree, merging.node_of[i]));
  }
  return merged;
}

}  // namespace beryl::tree
