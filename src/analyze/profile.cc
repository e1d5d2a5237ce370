#include "analyze/profile.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "base/text.h"
#include "types/unknown.h"

namespace beryl::analyze {

std::string OperationName(const OpTrace& trace, const TraceTree& tree, uint32_t kind) {
  std::vector<NodeId> scopes;
  for (NodeId node = tree.node_of_kind[kind]; node != 0;) {
    node = tree.tree.nodes[node].parent;
    if (tree.in_names[node]) scopes.push_back(node);
  }
  std::string name;
  for (auto scope = scopes.rbegin(); scope != scopes.rend(); ++scope) {
    name += tree.tree.nodes[*scope].name;
    name += '/';
  }
  return name.append(trace.strings.Text(trace.kinds[kind].op));
}

std::optional<NameLevel> ParseNameLevel(std::string_view text) {
  if (text == "operation") return NameLevel{NameLevel::Kind::kOperation, 0};
  if (text == "layer") return NameLevel{NameLevel::Kind::kLayer, 0};
  if (text == "module") return NameLevel{NameLevel::Kind::kModule, 0};
  const auto depth = ParseNumber(text);
  if (!depth || *depth < 1 || *depth > kDeepestNode || std::floor(*depth) != *depth)
    return std::nullopt;
  return NameLevel{NameLevel::Kind::kDepth, static_cast<int>(*depth)};
}

std::string NameLevelWords(NameLevel level) {
  switch (level.kind) {
    case NameLevel::Kind::kOperation:
      return "operations, layers folded";
    case NameLevel::Kind::kLayer:
      return "innermost modules";
    case NameLevel::Kind::kModule:
      return "modules, each with everything inside it";
    case NameLevel::Kind::kDepth:
      break;
  }
  return fmt::format("nodes at depth {}", level.depth);
}

std::vector<NodeId> NodesAt(const TraceTree& tree, uint32_t kind, NameLevel level) {
  const auto& nodes = tree.tree.nodes;
  NodeId node = tree.node_of_kind[kind];
  if (level.kind == NameLevel::Kind::kOperation) return {node};
  if (level.kind == NameLevel::Kind::kDepth) {
    while (nodes[node].depth > level.depth) node = nodes[node].parent;
    return {node};
  }
  std::vector<NodeId> modules;
  for (; node != 0; node = nodes[node].parent) {
    if (!IsModule(nodes[node].level)) continue;
    modules.push_back(node);
    if (level.kind == NameLevel::Kind::kLayer) break;
  }
  // Operations outside every module belong to the program itself.
  if (modules.empty()) modules.push_back(0);
  return modules;
}

NameTable MakeNames(const OpTrace& trace, const TraceTree& tree, NameLevel level) {
  NameTable table;
  std::map<std::pair<std::string, Phase>, uint32_t> known;
  auto intern = [&](std::string text, Phase phase) {
    const auto next = static_cast<uint32_t>(table.names.size());
    const auto [place, is_new] = known.try_emplace({std::move(text), phase}, next);
    if (is_new) table.names.push_back({place->first.first, phase});
    return place->second;
  };
  for (uint32_t kind = 0; kind < trace.kinds.size(); ++kind) {
    const Phase phase = trace.kinds[kind].phase;
    std::vector<uint32_t>& of_kind = table.of_kind.emplace_back();
    if (level.kind == NameLevel::Kind::kOperation) {
      of_kind.push_back(intern(OperationName(trace, tree, kind), phase));
      continue;
    }
    for (const NodeId node : NodesAt(tree, kind, level)) {
      of_kind.push_back(intern(NodePath(tree.tree, node), phase));
    }
  }
  return table;
}

std::vector<double> EnergyByName(const NameTable& names, const Footprint& footprint,
                                 const std::function<bool(const EnergyShare&)>& wanted) {
  std::vector<double> energy(names.names.size(), 0);
  std::vector<bool> known(names.names.size(), false);
  std::vector<bool> unknown(names.names.size(), false);
  for (const EnergyShare& share : footprint.shares) {
    if (!wanted(share)) continue;
    for (const uint32_t name : names.of_kind[share.kind]) {
      (share.IsKnown() ? known : unknown)[name] = true;
      if (share.IsKnown()) energy[name] += share.energy.value;
    }
  }
  for (const UnmeteredOps& ops : footprint.unmetered) {
    for (const uint32_t name : names.of_kind[ops.kind]) unknown[name] = true;
  }
  for (size_t name = 0; name < energy.size(); ++name) {
    if (unknown[name] && !known[name]) energy[name] = kUnknown;
  }
  return energy;
}

EnergyProfile ProfileOf(const NameTable& names, const Footprint& footprint,
                        const std::function<bool(const EnergyShare&)>& wanted, double divisor) {
  const std::vector<double> energy = EnergyByName(names, footprint, wanted);
  // Power while running: the sum over all channels.
  const size_t channels = footprint.channels.size();
  std::vector<double> joules(energy.size() * channels, 0);
  std::vector<double> seconds(energy.size() * channels, 0);
  std::vector<bool> ran(energy.size(), false);
  for (const EnergyShare& share : footprint.shares) {
    if (!wanted(share)) continue;
    for (const uint32_t name : names.of_kind[share.kind]) {
      ran[name] = true;
      if (!share.IsKnown()) continue;
      joules[name * channels + share.channel] += share.energy.value;
      seconds[name * channels + share.channel] += share.busy.seconds();
    }
  }
  for (const UnmeteredOps& ops : footprint.unmetered) {
    for (const uint32_t name : names.of_kind[ops.kind]) ran[name] = true;
  }
  EnergyProfile profile;
  for (size_t name = 0; name < energy.size(); ++name) {
    if (!ran[name]) continue;
    NamedEnergy entry{names.names[name].text, names.names[name].phase,
                      IfKnown<Joules>(energy[name] / divisor), std::nullopt};
    for (size_t at = name * channels; at < (name + 1) * channels; ++at) {
      if (seconds[at] > 0) AddKnown(entry.power, Watts{joules[at] / seconds[at]});
    }
    profile.push_back(std::move(entry));
  }
  return profile;
}

EnergyProfile Profile(const OpTrace& trace, const Footprint& footprint, const TraceTree& tree,
                      NameLevel level, bool per_step) {
  const size_t steps = per_step ? std::max<size_t>(1, KnownSteps(footprint).size()) : 1;
  return ProfileOf(
      MakeNames(trace, tree, level), footprint,
      [&](const EnergyShare& share) { return !per_step || share.step != kNoStep; },
      static_cast<double>(steps));
}

}  // namespace beryl::analyze
