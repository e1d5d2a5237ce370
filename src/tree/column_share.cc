#include "tree/derived_columns.h"

namespace beryl::tree {

// What part of the whole a node's energy is.
std::optional<Column> ShareColumn(const TreeColumns& tree) {
  if (tree.columns.empty() || tree.columns.front().quantity != Quantity::kEnergy) {
    return std::nullopt;
  }
  return ShareOf(tree.columns.front(), "share");
}

// How much of a node's work is matrix products, which other units do.
std::optional<Column> MatmulShareColumn(const TreeColumns& tree) {
  return DivideColumns(
      tree, {"matmul_flops", "flops", "matmul_share", "matmul_share", "matmul", Quantity::kShare});
}

}  // namespace beryl::tree
