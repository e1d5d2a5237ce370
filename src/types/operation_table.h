// OperationTable: the energy of every operation, by qualified name, phase and channel.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "types/op_trace.h"
#include "types/power_trace.h"

namespace beryl {

// A row: all executions of one qualified name in one phase, and the energy they took from one
// channel.
struct OperationRow {
  std::string name;
  std::string device;  // the channel that the energy comes from
  std::string type;
  Phase phase = Phase::kForward;
  std::optional<Joules> energy;       // self energy; nothing: no meter, or no reading at that time
  Origin origin = Origin::kMeasured;  // kEstimated if all or part of that energy is estimated
  std::optional<Joules> static_part;
  Seconds time;  // at work; with energy, only the time for which power was known
  std::optional<Watts> power;
  uint64_t count = 0;
  // Mean energy per step; nothing with fewer than two steps.
  std::optional<Joules> mean_step_energy;
  std::optional<Joules> deviation_step_energy;
  std::optional<Watts> deviation_step_power;  // of the power in each step it ran in
  std::vector<std::string> shapes;            // of the inputs; the first few
  uint32_t layers = 1;                        // in a summary: how many layers were added up
};

// Sorted by energy, the largest first.
using OperationTable = std::vector<OperationRow>;

}  // namespace beryl
