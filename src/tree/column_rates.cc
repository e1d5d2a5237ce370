// Rates of a node: per second, per joule, per byte.
#include "tree/derived_columns.h"

namespace beryl::tree {
namespace {

// Work is that of one pass. In a run, energy and time are then divided by the passes too.
std::string_view OfOnePass(const TreeColumns& tree, std::string_view pass, std::string_view whole) {
  return tree.Find(pass) != nullptr ? pass : whole;
}

}  // namespace

std::optional<Column> PowerColumn(const TreeColumns& tree) {
  return DivideColumns(tree, {"energy", "time", "power", "power_w", "power", Quantity::kPower});
}

std::optional<Column> FlopsPerByteColumn(const TreeColumns& tree) {
  return DivideColumns(tree, {"flops", "bytes", "flops_per_byte", "flops_per_byte", "FLOP/B",
                              Quantity::kFlopsPerByte});
}

std::optional<Column> FlopsPerSecondColumn(const TreeColumns& tree) {
  return DivideColumns(tree, {"flops", OfOnePass(tree, "pass_time", "time"), "flops_per_s",
                              "flops_per_s", "FLOP/s", Quantity::kFlopsPerSecond});
}

std::optional<Column> FlopsPerJouleColumn(const TreeColumns& tree) {
  return DivideColumns(tree, {"flops", OfOnePass(tree, "pass", "energy"), "flops_per_j",
                              "flops_per_j", "FLOP/J", Quantity::kFlopsPerJoule});
}

std::optional<Column> BytesPerSecondColumn(const TreeColumns& tree) {
  return DivideColumns(tree, {"bytes", OfOnePass(tree, "pass_time", "time"), "bytes_per_s",
                              "bytes_per_s", "B/s", Quantity::kBytesPerSecond});
}

}  // namespace beryl::tree
