// A small description, made by hand: two layers of a Linear, an addition and a LayerNorm.
#pragma once

#include <string>

#include "types/description.h"

namespace beryl::learn {

class DescriptionMaker {
 public:
  NodeId Open(const std::string& scope, const std::string& type, Level level) {
    const auto id = static_cast<NodeId>(made_.nodes.size());
    TreeNode node;
    node.parent = open_.empty() ? 0 : open_.back();
    node.depth = static_cast<uint16_t>(open_.size());
    node.level = level;
    node.name = type;
    node.type = type;
    made_.tree.nodes.push_back(node);
    DescribedNode described;
    described.scope = scope;
    made_.nodes.push_back(described);
    open_.push_back(id);
    return id;
  }
  void Close() {
    made_.tree.nodes[open_.back()].end = static_cast<NodeId>(made_.nodes.size());
    open_.pop_back();
  }
  void Math(MathKind kind, const Shape& input, const Shape& output, const Work& work) {
    const NodeId id =
        Open(made_.nodes[open_.back()].scope, std::string(MathKindName(kind)), Level::kMath);
    made_.nodes[id].kind = kind;
    made_.nodes[id].work = work;
    made_.nodes[id].first_shape = static_cast<uint32_t>(made_.shapes.size());
    made_.nodes[id].input_count = made_.nodes[id].output_count = 1;
    made_.shapes.push_back(input);
    made_.shapes.push_back(output);
    Close();
  }
  Description Take() {
    for (NodeId node = static_cast<NodeId>(made_.nodes.size()); node-- > 1;) {
      made_.nodes[made_.tree.nodes[node].parent].work += made_.nodes[node].work;
    }
    return std::move(made_);
  }

 private:
  Description made_;
  std::vector<NodeId> open_;
};

inline Description TinyDescription(int64_t rows, int64_t width) {
  DescriptionMaker maker;
  const Shape shape{{1, rows, width}, 3};
  const auto m = static_cast<double>(rows);
  const auto n = static_cast<double>(width);
  maker.Open("", "TinyModel", Level::kModel);
  for (int layer = 0; layer < 2; ++layer) {
    const std::string scope = "layers." + std::to_string(layer);
    maker.Open(scope, "TinyLayer", Level::kModule);
    maker.Open(scope + ".dense", "Linear", Level::kMl);
    maker.Math(MathKind::kMatmul, shape, shape,
               {2 * m * n * n, 2 * m * n * n, 4 * (m * n + n * n), 4 * m * n, 0});
    maker.Close();
    maker.Math(MathKind::kElementwise, shape, shape, {m * n, 0, 8 * m * n, 4 * m * n, 0});
    maker.Open(scope + ".norm", "LayerNorm", Level::kMl);
    maker.Math(MathKind::kNorm, shape, shape, {8 * m * n, 0, 4 * m * n, 4 * m * n, 0});
    maker.Close();
    maker.Close();
  }
  maker.Close();
  return maker.Take();
}

}  // namespace beryl::learn
