// OperationTable: what every operation took, by qualified name, phase and channel.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "types/op_trace.h"
#include "types/power_trace.h"

namespace beryl {

// A row of the operation table: all runs of one qualified name in one phase, and what they took
// from one channel.
struct OperationRow {
  std::string name;
  std::string device;  // the channel whose energy it is
  std::string type;
  Phase phase = Phase::kForward;
  std::optional<Joules> energy;       // self energy; nothing: no meter, or none at that time
  Origin origin = Origin::kMeasured;  // estimated: all or part of that energy is
  std::optional<Joules> static_part;
  Seconds time;  // at work; of a row with energy, as far as its power was known
  std::optional<Watts> power;
  uint64_t count = 0;
  // Energy a step, over the steps of the run; nothing where there are fewer than two.
  std::optional<Joules> mean_step_energy;
  std::optional<Joules> deviation_step_energy;
  std::optional<Watts> deviation_step_power;  // of the power in each step it ran in
  std::vector<std::string> shapes;            // of the inputs; the first few that occur
  uint32_t layers = 1;                        // in a summary: how many layers were added up
};

// Sorted by energy, the largest first.
using OperationTable = std::vector<OperationRow>;

}  // namespace beryl
