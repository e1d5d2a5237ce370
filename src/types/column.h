// Column: one number for every node of a ModelTree. A view gets a tree and any number of columns
// and does not know where they came from: measured beside predicted is two columns.
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
  kOff,    // relative difference of one from another; 0.05: five per cent
  kFlopsPerSecond,
  kFlopsPerJoule,
  kFlopsPerByte,
  kBytesPerSecond,
};
struct QuantityLook {
  std::string_view name;  // "energy"
  std::string_view unit;  // "J"; empty: no unit
  std::string_view key;   // suffix of the keys of its parts: "_j"
  bool adds_up = true;    // the value of a node is the sum of its parts
};
const QuantityLook& LookOf(Quantity quantity);

struct Column {
  // Which part of the energy it covers.
  enum class Of : uint8_t { kAll, kPhase, kChannel, kRank };

  std::string name;   // as in --columns: "energy", "flops"; for a part, its label
  std::string key;    // of `total` in JSON and CSV: "energy_j"
  std::string label;  // heading in a table
  // Prefix of all keys but that of `total`: "predicted_" gives "predicted_low_j". Empty for the
  // main column of a result.
  std::string prefix;
  Quantity quantity = Quantity::kEnergy;
  Origin origin = Origin::kMeasured;
  std::string by;  // the profile or configuration that it comes from; may be empty
  Of of = Of::kAll;
  // By node: of the node alone, and with everything below it. NaN: unknown. `self` is empty if only
  // the totals are known.
  std::vector<double> self;
  std::vector<double> total;
  // The interval around `total`, at the confidence of the column's maker; empty if unknown.
  std::vector<double> low;
  std::vector<double> high;
  // Standard deviation of `total` over the steps of a run; empty with fewer than two steps.
  std::vector<double> deviation;
  // By node: whether `total` includes an estimate. Empty: none does.
  std::vector<bool> estimated;
  // By node: to be used with care, for the reason in `marked_because`. Empty: none. JSON and CSV
  // have it as "ratio_marked", except of the main column, where a text column says it.
  std::vector<bool> marked;
  std::string marked_because;
  char mark = '*';

  bool IsMarked(NodeId node) const { return node < marked.size() && marked[node]; }
  std::string MarkKey() const { return marked.empty() || prefix.empty() ? "" : prefix + "marked"; }
};

// NaN if the list is shorter.
inline double At(const std::vector<double>& values, NodeId node) {
  return node < values.size() ? values[node] : kUnknown;
}

// A column of text: scopes, kinds, shapes.
struct TextColumn {
  enum class Kind : uint8_t {
    kText,
    kShapes,  // "8x128x768;768": JSON writes them as arrays
    kYesNo,   // "yes" or "": JSON writes true and false
  };
  std::string key;
  std::string label;
  Kind kind = Kind::kText;
  std::vector<std::string> values;  // by node; may be empty
  // The node that the texts begin at, such as the model, whose scope is empty. It has the text even
  // so, as node 0 does.
  NodeId top = 0;
};

// A tree and the columns beside it; the first column is the one to sort and draw by.
struct TreeColumns {
  ModelTree tree;
  std::vector<Column> columns;
  std::vector<TextColumn> texts;

  // Finds a column of all energy (Of::kAll) by name; null if there is none.
  const Column* Find(std::string_view name) const;
  const TextColumn* FindText(std::string_view key) const;
};

// A tree in full, and with like layers folded.
struct ShownTree {
  TreeColumns whole;
  TreeColumns folded;  // for a table; otherwise it may be empty
};

// Maps a column onto a tree that its own was folded or merged into: `node_of` gives the new node of
// each node. A sum with an unknown part is unknown. Nothing for a quantity that does not add up:
// derive it anew.
std::optional<Column> Regroup(const Column& column, const std::vector<NodeId>& node_of,
                              size_t nodes);

// A column without numbers whose other keys begin with its name.
Column NamedColumn(std::string name, std::string key, std::string label, Quantity quantity);
// A column of energy to stand beside the measured one, without numbers.
Column PredictedColumn(Origin origin, std::string by);
// Each node's share of the root's total.
Column ShareOf(const Column& column, const std::string& name);

// One column divided by another, node by node. Unknown where either is unknown or the divisor is 0.
std::vector<double> Divide(const std::vector<double>& above, const std::vector<double>& below);

}  // namespace beryl
