#include "types/model_tree.h"

#include <array>
#include <string_view>

namespace beryl {

std::string_view LevelName(Level level) {
  static constexpr std::array<std::string_view, 4> kNames = {"model", "module", "operation",
                                                             "kernel"};
  return kNames[static_cast<size_t>(level)];
}

std::string NodePath(const ModelTree& tree, NodeId node) {
  std::vector<NodeId> steps;
  for (; node != 0; node = tree.nodes[node].parent) steps.push_back(node);
  std::string text;
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    if (!text.empty()) text += '/';
    text += tree.nodes[*step].name;
  }
  return text;
}

}  // namespace beryl
