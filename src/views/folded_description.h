// A description with like layers put together, as tables show it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "types/description.h"

namespace beryl::views {

// One line: a node, or several that are the same in every number.
struct FoldedNode {
  std::string name;    // "layer.0-11"
  uint32_t count = 1;  // how many stand side by side in it; below a folded layer 1 again
  uint16_t depth = 0;
  std::vector<NodeId> nodes;  // all of them, over all layers that are folded above; never empty

  NodeId first() const { return nodes.front(); }
};

// In pre-order. Siblings with a number in their name that agree in everything below them, work
// and parameters included, are one line. What has neither work nor parameters (a dropout) is left
// out.
std::vector<FoldedNode> FoldLike(const Description& description);

// Which of them a table shows: down to `depth`, or, where nothing was asked for, down to the ML
// primitives, and less deep as long as that is more than a screen.
std::vector<FoldedNode> ShownLines(const Description& description,
                                   const std::vector<FoldedNode>& lines, std::optional<int> depth);

// What the nodes of a line add up to.
double SumOver(const FoldedNode& line, const std::function<double(NodeId)>& value);

}  // namespace beryl::views
