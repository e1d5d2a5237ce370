#include "tree/seen_work.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string_view>
#include <utility>

#include "tree/seen_weights.h"
#include "types/unknown.h"

namespace beryl::tree {
namespace {

constexpr size_t kPassSamples = 101;
// Numbers of passes that differ by less, relative to them, are the same.
constexpr double kSame = 1e-9;

// How often each module was called. A primitive calls its main operation, which uses its weights,
// once per run. Others may be called less often: conversions of weights are kept for several runs.
// Where no operation is known to use weights, none is called less often than the main one.
std::vector<uint64_t> CountCalls(const OpTrace& trace, const TraceTree& built) {
  const std::vector<uint64_t> counts = trace.CountKinds();
  // Kinds that differ only in their shapes share a node.
  struct Calls {
    uint64_t count = 0;
    bool uses_weights = false;
  };
  std::map<NodeId, Calls> calls_of_operation;
  for (uint32_t kind = 0; kind < trace.kinds.size(); ++kind) {
    const OpKind& of = trace.kinds[kind];
    if (of.phase != Phase::kForward) continue;
    Calls& calls = calls_of_operation[built.node_of_kind[kind]];
    calls.count += counts[kind];
    calls.uses_weights = calls.uses_weights || WeightOf(trace.strings.Text(of.type)).has_value();
  }
  std::vector<Calls> of_module(built.tree.size());
  for (const auto& [node, here] : calls_of_operation) {
    Calls& calls = of_module[built.tree[node].parent];
    const bool better = here.uses_weights && !calls.uses_weights;
    if (calls.count > 0 && calls.uses_weights && !here.uses_weights) continue;
    calls.count = calls.count == 0 || better ? here.count : std::min(calls.count, here.count);
    calls.uses_weights = calls.uses_weights || here.uses_weights;
  }
  std::vector<uint64_t> counted;
  for (const Calls& calls : of_module) counted.push_back(calls.count);
  return counted;
}

// What a linear layer does in one call.
struct Linear {
  double products = 0;
  double sums = 0;
  TensorShape weight;
};

std::optional<Linear> ReadLinear(const OpTrace& trace, const OpKind& kind, bool with_bias_first) {
  std::vector<TensorShape> shapes = ReadShapes(trace.strings.Text(kind.shapes));
  const size_t input = with_bias_first ? 1 : 0;
  if (shapes.size() < input + 2 || shapes[input].empty() || shapes[input + 1].size() != 2) {
    return std::nullopt;
  }
  Linear linear;
  linear.weight = std::move(shapes[input + 1]);
  double rows = 1;
  for (size_t i = 0; i + 1 < shapes[input].size(); ++i)
    rows *= static_cast<double>(shapes[input][i]);
  const double in = static_cast<double>(shapes[input].back());
  const double out = static_cast<double>(linear.weight[with_bias_first ? 1 : 0]);
  linear.products = 2 * rows * in * out;
  const size_t bias = with_bias_first ? 0 : 2;
  if (bias < shapes.size() && !shapes[bias].empty()) linear.sums = rows * out;
  return linear;
}

// Whether an operation of this name was called by another one of this name: autocast converts the
// inputs and calls it again.
bool IsCalledAgain(const TraceTree& built, NodeId node) {
  const std::string& type = built.tree[node].type;
  for (NodeId around = built.tree[node].parent; !IsModule(built.tree[around].level);
       around = built.tree[around].parent) {
    if (around == 0) return false;
    if (built.tree[around].type == type) return true;
  }
  return false;
}

// By node of the run: the innermost module of the description that it is or is inside of.
std::vector<NodeId> ModulesAround(const TraceTree& built, const ModelMatch& found) {
  std::vector<NodeId> inside = found.place;
  for (NodeId node = 1; node < inside.size(); ++node) {
    if (inside[node] == kNoNode) inside[node] = inside[built.tree[node].parent];
  }
  return inside;
}

// Whether a primitive is described as one product and nothing else.
bool IsLinear(const Description& description, const OneModel& one, NodeId node) {
  if (one.tree[node].level != Level::kMl) return false;
  const DescribedNode& of = description.nodes[one.original_of[node]];
  for (const NodeId part : Children(one.tree, node)) {
    if (description.nodes[one.original_of[part]].kind != MathKind::kMatmul) return false;
  }
  return of.work.matmul_flops > 0;
}

}  // namespace

SeenRuns CountRuns(const OpTrace& trace, const TraceTree& built, const Description& description,
                   const ModelMatch& found) {
  const ModelTree& one = found.one.tree;
  std::vector<double> runs(one.size(), 0);
  for (NodeId node = 0; node < description.tree.size(); ++node) {
    const NodeId of = found.one.node_of[node];
    if (of != kNoNode) runs[of] += description.nodes[node].runs;
  }
  // A module may be called at several places.
  const std::vector<uint64_t> calls = CountCalls(trace, built);
  std::vector<uint64_t> calls_of(one.size(), 0);
  for (NodeId node = 0; node < built.tree.size(); ++node) {
    if (found.place[node] != kNoNode) calls_of[found.place[node]] += calls[node];
  }
  std::vector<double> passes;
  // By node: the fewest and the most passes in which weights inside were used.
  std::vector<double> fewest(one.size(), std::numeric_limits<double>::infinity());
  std::vector<double> most(one.size(), 0);
  for (NodeId node = 0; node < one.size(); ++node) {
    const bool weighted = description.nodes[found.one.original_of[node]].parameters > 0;
    if (one[node].level == Level::kMl && weighted && runs[node] > 0 && calls_of[node] > 0) {
      fewest[node] = most[node] = static_cast<double>(calls_of[node]) / runs[node];
      if (passes.size() < kPassSamples) passes.push_back(most[node]);
    }
  }
  SeenRuns seen;
  seen.share.assign(one.size(), 1);
  if (passes.empty()) return seen;
  const auto middle = passes.begin() + static_cast<std::ptrdiff_t>(passes.size() / 2);
  std::nth_element(passes.begin(), middle, passes.end());
  seen.passes = *middle;
  for (NodeId node = one.size(); node-- > 1;) {
    const NodeId around = one[node].parent;
    fewest[around] = std::min(fewest[around], fewest[node]);
    most[around] = std::max(most[around], most[node]);
  }
  // A primitive alone may use its weights in a way that is not seen.
  for (NodeId node = 1; node < one.size(); ++node) {
    seen.share[node] = seen.share[one[node].parent];
    const bool alike = most[node] - fewest[node] <= kSame * most[node];
    const bool is_less = most[node] < (1 - kSame) * *seen.passes;
    if (one[node].level == Level::kModule && alike && is_less) {
      seen.share[node] = most[node] / *seen.passes;
    }
  }
  return seen;
}

LinearWork SeeLinearWork(const OpTrace& trace, const TraceTree& built,
                         const Description& description, const ModelMatch& found) {
  LinearWork seen;
  seen.flops.assign(found.one.tree.size(), kUnknown);
  seen.matmul_flops = seen.flops;
  std::vector<bool> unreadable(seen.flops.size(), false);
  const std::vector<NodeId> inside = ModulesAround(built, found);
  const std::vector<uint64_t> counts = trace.CountKinds();
  for (uint32_t kind = 0; kind < trace.kinds.size(); ++kind) {
    const OpKind& of = trace.kinds[kind];
    if (of.phase != Phase::kForward) continue;
    const std::string_view type = trace.strings.Text(of.type);
    const NodeId module = ModuleOf(built, kind);
    // Called by a module itself, and not as a part of another operation, it is a linear layer.
    const bool direct = built.tree[built.node_of_kind[kind]].parent == module;
    const bool with_bias_first = type == "aten::addmm" && direct;
    if (type != "aten::linear" && !with_bias_first) continue;
    if (IsCalledAgain(built, built.node_of_kind[kind])) continue;
    const NodeId node = inside[module];
    if (node == kNoNode || !IsLinear(description, found.one, node)) continue;
    const auto linear = ReadLinear(trace, of, with_bias_first);
    if (!linear) {
      unreadable[node] = true;
      continue;
    }
    // An adapter contains the module that it is put on, and others.
    const uint64_t parameters = description.nodes[found.one.original_of[node]].parameters;
    if (found.place[module] == kNoNode && !MayHold(linear->weight, parameters)) continue;
    const auto add = [&](std::vector<double>& to, double flops) {
      to[node] = (std::isnan(to[node]) ? 0 : to[node]) + flops * static_cast<double>(counts[kind]);
    };
    add(seen.flops, linear->products + linear->sums);
    add(seen.matmul_flops, linear->products);
  }
  for (NodeId node = 0; node < unreadable.size(); ++node) {
    if (unreadable[node]) seen.flops[node] = seen.matmul_flops[node] = kUnknown;
  }
  return seen;
}

AddedWork SeeAddedWork(const OpTrace& trace, const TraceTree& built, const Description& description,
                       const ModelMatch& found) {
  AddedWork added;
  added.flops.assign(built.tree.size(), 0);
  added.matmul_flops = added.flops;
  const std::vector<NodeId> inside = ModulesAround(built, found);
  const std::vector<uint64_t> counts = trace.CountKinds();
  for (uint32_t kind = 0; kind < trace.kinds.size(); ++kind) {
    const OpKind& of = trace.kinds[kind];
    if (of.phase != Phase::kForward || trace.strings.Text(of.type) != "aten::linear") continue;
    if (IsCalledAgain(built, built.node_of_kind[kind])) continue;
    const NodeId module = ModuleOf(built, kind);
    if (found.place[module] != kNoNode || inside[module] == kNoNode) continue;
    const auto linear = ReadLinear(trace, of, false);
    if (!linear) continue;
    // An adapter contains the module that it is put on.
    const NodeId around = inside[module];
    if (found.one.tree[around].level == Level::kMl &&
        MayHold(linear->weight, description.nodes[found.one.original_of[around]].parameters)) {
      continue;
    }
    const auto count = static_cast<double>(counts[kind]);
    if (added.flops[module] == 0) added.modules.push_back(module);
    added.matmul_flops[module] += linear->products * count;
    added.flops[module] += (linear->products + linear->sums) * count;
  }
  return added;
}

}  // namespace beryl::tree
