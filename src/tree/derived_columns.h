// Columns derived from other columns: shares, power, rates. Each is one function in one file.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "types/column.h"

namespace beryl::tree {

#define BERYL_COLUMN(Name) std::optional<Column> Name(const TreeColumns& tree);
#include "tree/derived_columns.inc"
#undef BERYL_COLUMN

// One column divided by another, both given by name; empty if one is missing. The origin is that of
// the less reliable column.
struct Quotient {
  std::string_view above;
  std::string_view below;
  std::string name;
  std::string key;
  std::string label;
  Quantity quantity = Quantity::kRatio;
};
std::optional<Column> DivideColumns(const TreeColumns& tree, const Quotient& quotient);

// Appends all columns that can be derived from those of a tree.
void AddDerived(TreeColumns& tree);

}  // namespace beryl::tree
