// Column: one number for every node of a ModelTree. A view is given a tree and any number of these
// and never asks where they came from: measured beside predicted is two columns.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "types/model_tree.h"
#include "types/origin.h"
#include "types/unknown.h"

namespace beryl {

enum class Quantity : uint8_t {
  kEnergy,
  kTime,
  kPower,
  kFlops,
  kBytes,
  kParameters,
  kCount,
  kRatio,  // of two numbers of the same kind
  kShare,  // of a whole, 0 to 1
  kOff,    // by how much of itself one is above another; 0.05: five per cent
  kFlopsPerSecond,
  kFlopsPerJoule,
  kFlopsPerByte,
  kBytesPerSecond,
};
struct QuantityLook {
  std::string_view name;  // "energy"
  std::string_view unit;  // "J"; empty: a mere number
  std::string_view key;   // what keys of its parts end with: "_j"
  bool adds_up = true;    // what a node has is what its parts have together
};
const QuantityLook& LookOf(Quantity quantity);

struct Column {
  // Of what all that was spent it is.
  enum class Of : uint8_t { kAll, kPhase, kChannel, kRank };

  std::string name;   // what --columns calls it: "energy", "flops"; of a part its label
  std::string key;    // of `total` in JSON and CSV: "energy_j"
  std::string label;  // at the head of a table
  // What the keys of everything but `total` begin with: "predicted_" gives "predicted_low_j". Empty
  // for the one column that a result is about.
  std::string prefix;
  Quantity quantity = Quantity::kEnergy;
  Origin origin = Origin::kMeasured;
  std::string by;  // who or what says so: a profile, a configuration; may be empty
  Of of = Of::kAll;
  // By node: its own, and with everything below it. NaN: not known. `self` may be empty: then only
  // the totals are known.
  std::vector<double> self;
  std::vector<double> total;
  // Between which `total` lies, as sure as who made the column says; empty: not known.
  std::vector<double> low;
  std::vector<double> high;
  // Standard deviation of `total` over the steps of a run; empty where there are fewer than two.
  std::vector<double> deviation;
  // By node: whether an estimate is in `total`. Empty: in none.
  std::vector<bool> estimated;
  // By node: to be taken with care, as `marked_because` says. Empty: none.
  std::vector<bool> marked;
  std::string marked_because;
  char mark = '*';

  bool IsMarked(NodeId node) const { return node < marked.size() && marked[node]; }
};

// NaN where a list of numbers ends before the node.
inline double At(const std::vector<double>& values, NodeId node) {
  return node < values.size() ? values[node] : kUnknown;
}

// What stands beside a tree and is no number: scopes, kinds, shapes.
struct TextColumn {
  enum class Kind : uint8_t {
    kText,
    kShapes,  // "8x128x768;768": JSON writes them as arrays
    kYesNo,   // "yes" or "": JSON writes true and false
  };
  std::string key;
  std::string label;
  Kind kind = Kind::kText;
  std::vector<std::string> values;  // by node; empty: it has none
};

// A tree and what stands beside it; the first column is the one that is sorted and drawn by.
struct TreeColumns {
  ModelTree tree;
  std::vector<Column> columns;
  std::vector<TextColumn> texts;

  // By name, of those that are of all that was spent; null: there is none.
  const Column* Find(std::string_view name) const;
  const TextColumn* FindText(std::string_view key) const;
};

// A tree as it is, and with like layers folded.
struct ShownTree {
  TreeColumns whole;
  TreeColumns folded;
};

// The column on a tree that its own was folded or merged into: `node_of` says where each node went.
// A sum of which a part is not known is not known.
// Nothing where a quantity does not add up: it is to be derived anew.
std::optional<Column> Regroup(const Column& column, const std::vector<NodeId>& node_of,
                              size_t nodes);

// A column without numbers, whose other keys begin with its name.
Column NamedColumn(std::string name, std::string key, std::string label, Quantity quantity);
// A column of energy that stands beside what was measured, without numbers.
Column PredictedColumn(Origin origin, std::string by);
// What part of the root's total each node has.
Column ShareOf(const Column& column, std::string name);

// One column divided by another, node by node; what is unknown in either, or divided by 0, is
// unknown.
std::vector<double> Divide(const std::vector<double>& above, const std::vector<double>& below);

}  // namespace beryl
