#include "tree/seen_weights.h"

#include <algorithm>
#include <string>
#include <utility>

namespace beryl::tree {

NodeId ModuleOf(const TraceTree& built, uint32_t kind) {
  NodeId node = built.node_of_kind[kind];
  while (node != 0 && !IsModule(built.tree[node].level)) node = built.tree[node].parent;
  return node;
}

std::optional<size_t> WeightOf(std::string_view type) {
  static constexpr std::pair<std::string_view, size_t> kWeights[] = {
      {"aten::embedding", 0},   {"aten::linear", 1},       {"aten::mm", 1},
      {"aten::addmm", 2},       {"aten::layer_norm", 2},   {"aten::native_layer_norm", 2},
      {"aten::rms_norm", 2},    {"aten::conv1d", 1},       {"aten::conv2d", 1},
      {"aten::convolution", 1}, {"aten::_convolution", 1},
  };
  for (const auto& [name, input] : kWeights) {
    if (type == name) return input;
  }
  return std::nullopt;
}

SeenWeights::SeenWeights(const OpTrace& trace, const TraceTree& built)
    : shapes_(built.tree.size()) {
  // An adapter has the class of a module that it contains, and uses the weights of all of them.
  std::vector<bool> is_adapter(built.tree.size(), false);
  for (const TreeNode& node : built.tree.nodes) {
    const std::string& around = built.tree[node.parent].type;
    if (IsModule(node.level) && node.type == around) is_adapter[node.parent] = true;
  }
  for (uint32_t kind = 0; kind < trace.kinds.size(); ++kind) {
    const OpKind& of = trace.kinds[kind];
    if (of.shapes == 0 || of.phase != Phase::kForward) continue;
    const NodeId node = ModuleOf(built, kind);
    const std::optional<size_t> weight = WeightOf(trace.strings.Text(of.type));
    std::vector<TensorShape> shapes = ReadShapes(trace.strings.Text(of.shapes));
    for (size_t input = 0; input < shapes.size(); ++input) {
      // A vector that is multiplied or added may be a weight too; larger tensors are activations.
      const bool is_weight = weight ? input == *weight : shapes[input].size() == 1;
      if (!is_weight || shapes[input].empty()) continue;
      const NodeId around = built.tree[node].parent;
      if (is_adapter[around]) shapes_[around].insert(shapes[input]);
      shapes_[node].insert(std::move(shapes[input]));
    }
  }
}

std::optional<bool> SeenWeights::Has(NodeId node, uint64_t parameters) const {
  if (shapes_[node].empty() || parameters == 0) return std::nullopt;
  return std::any_of(shapes_[node].begin(), shapes_[node].end(),
                     [&](const TensorShape& shape) { return MayHold(shape, parameters); });
}

bool MayHold(const TensorShape& shape, uint64_t parameters) {
  const auto wanted = static_cast<int64_t>(parameters);
  int64_t elements = 1;
  for (const int64_t size : shape) elements *= size;
  if (shape.size() == 1) return elements == wanted || 2 * elements == wanted;
  return elements == wanted || std::any_of(shape.begin(), shape.end(),
                                           [&](int64_t size) { return elements + size == wanted; });
}

}  // namespace beryl::tree
