// EnergyColumn: one number for every node of a ModelTree. A view is given a tree and any number of
// these and never asks where they came from.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "types/op_trace.h"
#include "types/power_trace.h"

namespace beryl {

struct EnergyColumn {
  // Whose energy it is of all that was spent.
  enum class Of : uint8_t { kAll, kPhase, kChannel, kRank };
  Of of = Of::kAll;
  std::string label;   // "total", "forward", "CPU:0"
  std::string origin;  // "measured", "predicted", "estimated", and by what
  // Joules by node: its own, and with everything below it. NaN: not known.
  std::vector<double> self;
  std::vector<double> total;
  // By node: whether an estimate is in `total`. Empty: in none.
  std::vector<bool> estimated;
  // Standard deviation of `total` over the steps of the run; empty where there are fewer than two.
  std::vector<double> deviation;
  // Of a prediction: between which `total` lies with the confidence that `origin` names; empty
  // where nothing is known of that.
  std::vector<double> low;
  std::vector<double> high;
};

// A row of the operation table: all runs of one qualified name in one phase, and what they took
// from one channel.
struct OperationRow {
  std::string name;
  std::string device;  // the channel whose energy it is
  std::string type;
  Phase phase = Phase::kForward;
  std::optional<double> energy_j;     // self energy; nothing: no meter, or none at that time
  Origin origin = Origin::kMeasured;  // estimated: all or part of that energy is
  std::optional<double> static_j;
  double seconds = 0;  // at work; of a row with energy, as far as its power was known
  std::optional<double> power_w;
  uint64_t count = 0;
  // Energy a step, over the steps of the run; nothing where there are fewer than two.
  std::optional<double> mean_step_j;
  std::optional<double> deviation_step_j;
  std::optional<double> deviation_step_w;  // of the power in each step it ran in
  std::vector<std::string> shapes;         // of the inputs; the first few that occur
  uint32_t layers = 1;                     // in a summary: how many layers were added up
};

// Sorted by energy, the largest first.
using OperationTable = std::vector<OperationRow>;

}  // namespace beryl
