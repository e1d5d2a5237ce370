// ExportedRun: what the formats of other tools show of an accounted run.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/units.h"
#include "types/account_report.h"
#include "types/description.h"
#include "types/origin.h"
#include "types/unknown.h"

namespace beryl {

// A channel's readings as energy, with the policy that its energy was accounted with.
struct ReadEnergy {
  std::string channel;
  Origin origin = Origin::kMeasured;
  std::string within;  // the channel that contains it; empty: none
  std::vector<Nanos> times;
  // Joules from times[i] to times[i + 1], so one less than times. NaN: unknown.
  std::vector<double> energy_j;
};

// The energy that the nodes of a tree themselves took in a step, in order of the nodes.
struct StepEnergy {
  std::string name;  // empty: operations outside of steps
  Nanos start;       // on the power trace's clock
  Nanos end;
  std::vector<std::pair<NodeId, double>> self_j;
  std::vector<double> channel_j;  // by channel of the report; NaN: unknown
  double energy_j = 0;
};

// A trace as the user has it. Its times + `to_power` are those of the power trace's clock.
struct ExportedTrace {
  std::string file;
  std::string format;
  Nanos to_power;
};

// What a format needs beside the report.
struct ExportNeeds {
  bool timeline = false;
  bool readings = false;
  bool steps = false;
  bool dataflow = false;
};

// Energies of nodes are those of the first column of `report.tree`, times are on the power trace's
// clock.
struct ExportedRun {
  AccountReport report;
  std::vector<double> self_s;  // by node: seconds at work
  std::vector<ReadEnergy> readings;
  std::vector<StepEnergy> steps;  // in order; operations outside of steps last
  std::vector<Flow> dataflow;     // between nodes of the tree, grouped by consumer
  std::vector<ExportedTrace> traces;
  std::optional<double> co2e_g_per_kwh;
};

}  // namespace beryl
