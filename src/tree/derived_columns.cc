#include "tree/derived_columns.h"

namespace beryl::tree {

std::optional<Column> DivideColumns(const TreeColumns& tree, const Quotient& quotient) {
  const Column* above = tree.Find(quotient.above);
  const Column* below = tree.Find(quotient.below);
  if (above == nullptr || below == nullptr) return std::nullopt;
  Column column = NamedColumn(quotient.name, quotient.key, quotient.label, quotient.quantity);
  // A quotient is only as reliable as the less reliable of its two columns.
  const bool measured = above->origin == Origin::kMeasured || above->origin == Origin::kEstimated;
  column.origin = measured ? above->origin : below->origin;
  if (column.origin == Origin::kDescribed) column.origin = above->origin;
  column.by = above->by;
  column.total = Divide(above->total, below->total);
  return column;
}

void AddDerived(TreeColumns& tree) {
  using Derive = std::optional<Column> (*)(const TreeColumns&);
#define BERYL_COLUMN(Name) Name,
  constexpr Derive kDerived[] = {
#include "tree/derived_columns.inc"
  };
#undef BERYL_COLUMN
  for (const Derive derive : kDerived) {
    if (auto column = derive(tree)) tree.columns.push_back(*std::move(column));
  }
}

}  // namespace beryl::tree
