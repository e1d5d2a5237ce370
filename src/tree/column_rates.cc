// What a node does in a second, for a joule, for a byte.
#include "tree/derived_columns.h"

namespace beryl::tree {
namespace {

// Of a run, "done" is the work of all its passes; without a run, what one pass takes.
std::string_view WorkName(const TreeColumns& tree, std::string_view done,
                          std::string_view described) {
  return tree.Find(done) != nullptr ? done : described;
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
  return DivideColumns(tree, {WorkName(tree, "flops_done", "flops"), "time", "flops_per_s",
                              "flops_per_s", "FLOP/s", Quantity::kFlopsPerSecond});
}

std::optional<Column> FlopsPerJouleColumn(const TreeColumns& tree) {
  return DivideColumns(tree, {WorkName(tree, "flops_done", "flops"), "energy", "flops_per_j",
                              "flops_per_j", "FLOP/J", Quantity::kFlopsPerJoule});
}

std::optional<Column> BytesPerSecondColumn(const TreeColumns& tree) {
  return DivideColumns(tree, {WorkName(tree, "bytes_done", "bytes"), "time", "bytes_per_s",
                              "bytes_per_s", "B/s", Quantity::kBytesPerSecond});
}

}  // namespace beryl::tree
