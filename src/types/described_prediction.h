// What a model that was never run is predicted to take: energy, and time where that is known, for
// every node of its description.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
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
  std::string machine;     // what it stands for
  bool calibrated = true;  // false: by a datasheet, never held against a meter
  double nominal = 0.9;    // how often what is measured should lie between low and high
  // Joules by node, with low and high; marked beyond what the profile was trained on, where its
  // intervals are wide.
  Column energy;
  std::vector<double> seconds;  // by node; empty: not known
  ShownTree tree;               // all of it beside the description's own columns, to be shown
  std::vector<Note> notes;
  // What queries cost: one sequence, image or request is one. Nothing: no electricity was given.
  std::optional<QueryCosts> costs;
};

// Nothing: the profile does not know the time, or no tokens go in.
std::optional<Watts> PowerOf(const DescribedPrediction& prediction, NodeId node);
// Over the tokens of the node's phase.
std::optional<Joules> EnergyPerToken(const DescribedPrediction& prediction, NodeId node);

// A line of a sweep: what was set, and what came of it.
struct SweepRow {
  std::vector<std::string> values;  // by key of the sweep
  // Of the whole model: the root is all there is of its tree. Without a profile it has no energy.
  DescribedPrediction prediction;
  std::string failure;  // why there is none: the values contradict each other; empty: there is one
};
struct Sweep {
  Provenance provenance;
  std::string model;
  std::string profile;  // its name; empty: described only, without energy
  std::vector<std::string> keys;
  std::vector<SweepRow> rows;
};

}  // namespace beryl
