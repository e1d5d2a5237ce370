// Short notation for traces and footprints, for the tests of this room.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "tree/tree.h"

namespace beryl::tree {

class TraceMaker {
 public:
  // The kind of an operation at a path such as "bert/layer_0/MatMul": modules, then the operation.
  // A module's class is in angle brackets: "BertLayer_3<BertLayer>/aten::add". An operation that
  // calls modules ends in "()".
  uint32_t Kind(std::string_view path, Phase phase = Phase::kForward) {
    const std::vector<std::string_view> parts = Split(path, '/');
    OpKind kind;
    for (size_t i = 0; i + 1 < parts.size(); ++i) {
      std::string_view name = parts[i];
      std::string_view type;
      const bool calls = name.ends_with("()");
      if (calls) name.remove_suffix(2);
      if (const size_t bracket = name.find('<'); bracket != std::string_view::npos) {
        type = name.substr(bracket + 1, name.size() - bracket - 2);
        name = name.substr(0, bracket);
      }
      kind.scope = trace_.paths.Intern(kind.scope, trace_.strings.Intern(name),
                                       calls ? PathKind::kOperation : PathKind::kModule,
                                       trace_.strings.Intern(type));
    }
    kind.op = trace_.strings.Intern(parts.back());
    kind.type = trace_.strings.Intern("type of " + std::string(parts.back()));
    kind.path = trace_.paths.Intern(kind.scope, kind.op, PathKind::kOperation);
    kind.phase = phase;
    for (uint32_t known = 0; known < trace_.kinds.size(); ++known) {
      if (trace_.kinds[known] == kind) return known;
    }
    trace_.kinds.push_back(kind);
    return static_cast<uint32_t>(trace_.kinds.size() - 1);
  }

  // What an operation calls: one step below its own path.
  uint32_t Below(uint32_t caller, std::string_view name, PathKind path_kind) {
    OpKind kind = trace_.kinds[caller];
    const StringId id = trace_.strings.Intern(name);
    kind.path = trace_.paths.Intern(kind.path, id, path_kind);
    kind.op = id;
    trace_.kinds.push_back(kind);
    return static_cast<uint32_t>(trace_.kinds.size() - 1);
  }

  uint16_t Channel(const std::string& name) {
    for (size_t i = 0; i < footprint_.channels.size(); ++i) {
      if (footprint_.channels[i].channel == name) return static_cast<uint16_t>(i);
    }
    footprint_.channels.emplace_back().channel = name;
    return static_cast<uint16_t>(footprint_.channels.size() - 1);
  }

  void Share(uint32_t kind, double joules, const std::string& channel = "CPU:0",
             uint32_t step = kNoStep, int64_t busy_ns = 1'000'000'000, uint64_t count = 1) {
    EnergyShare share;
    share.kind = kind;
    share.step = step;
    share.channel = Channel(channel);
    share.energy = Joules{joules};
    share.busy = Nanos{busy_ns};
    share.count = count;
    footprint_.channels[share.channel].attributed += share.energy;
    footprint_.shares.push_back(share);
  }

  void Unmetered(uint32_t kind, const std::string& device, int64_t busy_ns = 1'000'000'000,
                 uint64_t count = 1) {
    uint16_t index = 0;
    while (index < trace_.devices.size() && trace_.devices[index] != device) ++index;
    if (index == trace_.devices.size()) trace_.devices.push_back(device);
    footprint_.unmetered.push_back({kind, index, Nanos{busy_ns}, count});
  }

  OpTrace& trace() { return trace_; }
  Footprint& footprint() { return footprint_; }

 private:
  OpTrace trace_;
  Footprint footprint_;
};

inline std::vector<std::string> PathsOf(const TraceTree& built) {
  std::vector<std::string> paths;
  for (NodeId id = 1; id < built.tree.nodes.size(); ++id) {
    paths.push_back(NodePath(built.tree, id));
  }
  return paths;
}

inline std::optional<NodeId> FindPath(const TraceTree& built, std::string_view path) {
  for (NodeId id = 0; id < built.tree.nodes.size(); ++id) {
    if (NodePath(built.tree, id) == path) return id;
  }
  return std::nullopt;
}

// The first fault in a tree's pre-order; empty if there is none.
inline std::string WrongWith(const TraceTree& built) {
  const auto& nodes = built.tree.nodes;
  if (nodes.empty() || nodes[0].parent != 0 || nodes[0].depth != 0) return "the root";
  if (nodes[0].end != nodes.size()) return "the root's end";
  if (built.in_names.size() != nodes.size()) return "in_names";
  for (NodeId id = 1; id < nodes.size(); ++id) {
    const TreeNode& node = nodes[id];
    const TreeNode& parent = nodes[node.parent];
    const std::string where = " of " + NodePath(built.tree, id);
    if (node.parent >= id) return "the parent" + where;
    if (node.depth != parent.depth + 1) return "the depth" + where;
    if (node.end <= id || node.end > parent.end) return "the end" + where;
    // In pre-order, a node follows its parent or the last node of a sibling.
    bool follows = node.parent == id - 1;
    for (NodeId sibling = node.parent + 1; sibling < id && !follows; sibling = nodes[sibling].end) {
      follows = nodes[sibling].end == id && nodes[sibling].parent == node.parent;
    }
    if (!follows) return "the place" + where;
  }
  for (const NodeId node : built.node_of_kind) {
    if (node >= nodes.size()) return "node_of_kind";
  }
  return {};
}

}  // namespace beryl::tree
