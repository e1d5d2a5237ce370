#include "tree/derived_columns.h"

namespace beryl::tree {

// The share of a node in the whole energy.
std::optional<Column> ShareColumn(const TreeColumns& tree) {
  if (tree.columns.empty() || tree.columns.front().quantity != Quantity::kEnergy) {
    return std::nullopt;
  }
  return ShareOf(tree.columns.front(), "share");
}

// The share of matrix products, which run on different units, in a node's work.
std::optional<Column> MatmulShareColumn(const TreeColumns& tree) {
  return DivideColumns(
      tree, {"matmul_flops", "flops", "matmul_share", "matmul_share", "matmul", Quantity::kShare});
}

}  // namespace beryl::tree
