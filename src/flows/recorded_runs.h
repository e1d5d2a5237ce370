// Recordings without operations as runs to compare: their energy takes the place of operations.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "types/account_report.h"
#include "types/comparison.h"
#include "types/footprint.h"
#include "types/measurement.h"
#include "types/op_trace.h"
#include "types/provenance.h"
#include "types/trace_tree.h"

namespace beryl::flows {

// A whole recording, or one of its rounds. The energy of a round is that of one execution of the
// command, and so is that of a recording with rounds: their mean.
struct RecordedRun {
  std::string label;
  OpTrace ops;
  Footprint footprint;
  TraceTree folded;
  AccountReport report;
  std::string missing;  // what its energy lacks; empty: nothing
};

struct Recorded {
  std::string label;
  Measurement measured;
};

// What was asked for. Nothing was: ours if that is known completely of every recording; otherwise
// the machine's. It is an error if ours was asked for and is not known.
Result<ComparedEnergy> WhatToCompare(const std::vector<Recorded>& recordings,
                                     const std::optional<EnergyOf>& asked = {});
// By recording. Energy is by process and device, or by device; if a recording has rounds, of all
// devices together, because rounds do not tell more. `rounds_are_runs`: each round is a run of its
// own. Where a side has several recordings it must not be: the rounds of a recording share its
// conditions, so they vary less than recordings do.
std::vector<std::vector<RecordedRun>> RunsOf(const std::vector<Recorded>& recordings,
                                             ComparedEnergy of, bool rounds_are_runs);

// What a recording knows of how it was made.
RunConditions ConditionsOf(const Measurement& measured);

}  // namespace beryl::flows
