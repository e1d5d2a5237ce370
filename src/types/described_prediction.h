// The predicted energy, and time if known, of every node of a model's description, without running
// the model.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "types/budget.h"
#include "types/column.h"
#include "types/dataset.h"
#include "types/description.h"
#include "types/energy_use.h"
#include "types/note.h"
#include "types/provenance.h"

namespace beryl {

struct DescribedPrediction {
  Provenance provenance;
  Description description;
  std::string profile;     // its name
  std::string machine;     // that the profile stands for
  bool calibrated = true;  // false: from a datasheet, never compared with a meter
  double nominal = 0.9;    // share of measurements expected between low and high
  // Joules by node, with low and high. Marked where the node is beyond the profile's training data
  // and intervals are wide.
  Column energy;
  std::vector<double> seconds;  // by node; empty: unknown
  ShownTree tree;               // beside the description's own columns, to be shown
  std::vector<Note> notes;
  std::optional<bool> fits;  // into the machine's memory; nothing: unknown
  // The cost of queries: a sequence, image or request is one. Nothing: no electricity price was
  // given.
  std::optional<QueryCosts> costs;
  std::vector<BudgetVerdict> budget;  // empty: no budget was given
};

// Nothing if the profile does not know the time, or no tokens go in.
std::optional<Watts> PowerOf(const DescribedPrediction& prediction, NodeId node);
// Per token of the node's phase; of a generation as a whole, per generated token.
std::optional<Joules> EnergyPerToken(const DescribedPrediction& prediction, NodeId node);

// One row of a sweep: the values that were set, and the result.
struct SweepRow {
  std::vector<std::string> values;  // by key of the sweep
  // For the whole model: its tree has only the root. Without a profile it has no energy.
  DescribedPrediction prediction;
  std::string failure;  // why there is no result: the values contradict each other; otherwise empty
};
struct Sweep {
  Provenance provenance;
  std::string model;
  std::string profile;  // its name; empty: described only, without energy
  std::vector<std::string> keys;
  std::vector<SweepRow> rows;
};

}  // namespace beryl
