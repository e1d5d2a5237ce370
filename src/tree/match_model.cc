#include "tree/match_model.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "tree/seen_weights.h"
#include "types/align_trees.h"

namespace beryl::tree {
namespace {

// Whether a node is a module that a run can show, rather than a function inside one.
bool IsOwnModule(const Description& description, NodeId node) {
  const TreeNode& of = description.tree[node];
  if (!IsModule(of.level)) return false;
  return description.nodes[node].scope != description.nodes[of.parent].scope;
}

bool DoesSomething(const DescribedNode& node) {
  return node.runs > 0 && (node.work.flops > 0 || node.work.Bytes() > 0 || node.parameters > 0);
}

// The threads that each kind of operation ran on.
std::vector<std::set<uint32_t>> LanesOfKinds(const OpTrace& trace) {
  std::vector<std::set<uint32_t>> lanes(trace.kinds.size());
  trace.ForEachSpan([&](std::span<const Op> ops) {
    for (const Op& op : ops) lanes[op.kind].insert(op.lane);
  });
  return lanes;
}

// Parts of a model may be called from outside it, such as the encoder in a generation.
NodeId FindWhole(const ModelTree& tree, const ModelMatch& found) {
  NodeId whole = found.root;
  for (NodeId node = 0; node < tree.size(); ++node) {
    if (found.match[node] == kNoNode) continue;
    while (node < whole || node >= tree[whole].end) whole = tree[whole].parent;
  }
  return whole;
}

// One module may appear in several places: wrapped in one pass and not in another, or recomputed
// inside its caller. Such modules are numbered by class. Two classes with the same name have the
// same numbers, so the surrounding module must be the same too, unless it is not a module; or be
// of the same class, if the module has no weights: layers may share an activation.
template <typename HasWeights>
void FindInstances(const ModelTree& tree, const HasWeights& has_weights,
                   std::vector<NodeId>& place) {
  std::map<std::string_view, NodeId> instances;
  for (NodeId node = 0; node < tree.size(); ++node) {
    if (place[node] != kNoNode && IsNumberedByClass(tree[node])) {
      instances.emplace(tree[node].name, node);
    }
  }
  const auto around = [&](NodeId node) -> const TreeNode& {
    do node = tree[node].parent;
    while (node != 0 && !IsNumberedByClass(tree[node]));
    return tree[node];
  };
  for (NodeId node = 0; node < tree.size(); ++node) {
    if (place[node] != kNoNode || !IsNumberedByClass(tree[node])) continue;
    const auto found = instances.find(tree[node].name);
    if (found == instances.end()) continue;
    const NodeId same = found->second;
    const bool in_module = IsNumberedByClass(tree[tree[node].parent]);
    const bool is_shared = !has_weights(place[same]) && around(node).type == around(same).type;
    if (!in_module || is_shared || around(node).name == around(same).name) {
      place[node] = place[same];
    }
  }
}

// A primitive that the description has once may have been in each layer in another version of the
// library (rotary embeddings). Its first place is the match, the others are further places.
void FindMoved(const ModelTree& run, const ModelTree& described, const AlignHints& hints,
               AlignedTrees& aligned) {
  std::map<std::string_view, std::vector<NodeId>> by_class;
  for (NodeId node = 1; node < described.size(); ++node) {
    if (hints.is_module[node]) by_class[described[node].type].push_back(node);
  }
  const auto root = std::find(aligned.match.begin(), aligned.match.end(), NodeId{0});
  if (root == aligned.match.end()) return;
  const auto top = static_cast<NodeId>(root - aligned.match.begin());
  const std::set<NodeId> found(aligned.match.begin(), aligned.match.end());
  for (const auto& [type, nodes] : by_class) {
    const NodeId only = nodes.front();
    if (nodes.size() > 1 || described[only].level != Level::kMl || found.contains(only)) continue;
    bool is_first = true;
    for (NodeId node = top + 1; node < run[top].end; ++node) {
      if (run[node].type != type || !IsModule(run[node].level)) continue;
      if (aligned.match[node] != kNoNode || aligned.again[node] != kNoNode) continue;
      (is_first ? aligned.match : aligned.again)[node] = only;
      is_first = false;
    }
  }
}

}  // namespace

ModelMatch MatchModel(const OpTrace& trace, const TraceTree& built, const Description& description,
                      ModelAlignment& alignment) {
  ModelMatch found;
  found.one = AddPhases(description);
  const ModelTree& one = found.one.tree;
  const auto described = [&](NodeId node) -> const DescribedNode& {
    return description.nodes[found.one.original_of[node]];
  };
  const SeenWeights weights(trace, built);
  AlignHints hints;
  hints.is_module.resize(one.size());
  for (NodeId node = 1; node < one.size(); ++node) {
    hints.is_module[node] =
        IsOwnModule(description, found.one.original_of[node]) && described(node).runs > 0;
  }
  hints.fits = [&](NodeId run, NodeId node) -> std::optional<bool> {
    if (one[node].level != Level::kMl) return std::nullopt;
    return weights.Has(run, described(node).parameters);
  };
  std::vector<std::set<uint32_t>> lanes;  // of all kinds, if they are asked for
  hints.apart = [&](NodeId a, NodeId b) {
    if (lanes.empty()) lanes = LanesOfKinds(trace);
    const auto lanes_of = [&](NodeId top) {
      std::set<uint32_t> all;
      for (uint32_t kind = 0; kind < trace.kinds.size(); ++kind) {
        const NodeId node = built.node_of_kind[kind];
        const bool inside = top <= node && node < built.tree[top].end;
        if (inside && trace.kinds[kind].phase == Phase::kForward) {
          all.insert(lanes[kind].begin(), lanes[kind].end());
        }
      }
      return all;
    };
    const std::set<uint32_t> of_a = lanes_of(a);
    const std::set<uint32_t> of_b = lanes_of(b);
    return std::none_of(of_a.begin(), of_a.end(),
                        [&](uint32_t lane) { return of_b.contains(lane); });
  };
  hints.runs_forward.assign(built.tree.size(), false);
  for (uint32_t kind = 0; kind < trace.kinds.size(); ++kind) {
    if (trace.kinds[kind].phase == Phase::kForward) {
      hints.runs_forward[built.node_of_kind[kind]] = true;
    }
  }
  hints.runs_forward = RollUp(built.tree, std::move(hints.runs_forward));
  AlignedTrees aligned = Align(built.tree, one, hints);
  FindMoved(built.tree, one, hints, aligned);
  found.match = std::move(aligned.match);
  std::vector<bool> is_found(one.size(), false);
  for (NodeId node = 0; node < found.match.size(); ++node) {
    const NodeId match = found.match[node];
    if (match == kNoNode) continue;
    is_found[match] = true;
    if (match == 0) found.root = node;
    if (!hints.fits(node, match).value_or(true)) {
      alignment.other_sizes.push_back(described(match).scope);
    }
  }
  found.whole = FindWhole(built.tree, found);
  found.place = found.match;
  for (NodeId node = 0; node < built.tree.size(); ++node) {
    if (found.place[node] == kNoNode) found.place[node] = aligned.again[node];
  }
  FindInstances(
      built.tree, [&](NodeId node) { return described(node).parameters > 0; }, found.place);
  for (NodeId node = 1; node < one.size(); ++node) {
    if (!hints.is_module[node] || !DoesSomething(described(node))) continue;
    ++alignment.described_modules;
    if (is_found[node]) {
      ++alignment.matched_modules;
    } else {
      alignment.not_found.push_back(described(node).scope);
    }
  }
  return found;
}

}  // namespace beryl::tree
