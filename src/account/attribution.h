// The attribution engine: passes over operations in order of time, under several power curves.
#pragma once

#include <cstdint>
#include <vector>

#include "account/clock.h"
#include "account/power_curve.h"
#include "account/span.h"
#include "types/op_trace.h"

namespace beryl::account {

// The energy of operations of one kind in one step; the vectors are by curve.
struct AttributionCell {
  uint32_t kind = 0;
  uint32_t step = kNoStep;
  uint64_t count = 0;
  int64_t at_work_ns = 0;  // whether power was known or not
};

struct AttributionResult {
  std::vector<AttributionCell> cells;
  // [cell * curves + curve]
  std::vector<double> energy_j;
  std::vector<int64_t> busy_ns;
  // By curve.
  std::vector<double> idle_j;
  std::vector<double> outside_j;      // part of idle: before the first operation or after the last
  std::vector<int64_t> uncovered_ns;  // operation time where power is unknown
};

// Operations that share the energy of the same curves.
struct AttributionGroup {
  std::vector<bool> devices;  // by device of the trace
  std::vector<const PowerCurve*> curves;
  const ClockFit* clock = nullptr;
  bool by_step = true;  // otherwise one cell for each kind, with kNoStep
  // Only what ran in it counts, on the power trace's clock; `curves` lie within it. Operations that
  // cross an edge are at work up to there.
  Span window = kAlways;
  // By step, whether all of it is in the window; the rest have kNoStep. Null: all are.
  const std::vector<bool>* whole_steps = nullptr;
};

struct AttributionResults {
  std::vector<AttributionResult> groups;
  size_t unreadable_blocks = 0;  // of packed operations
};

// Attributes each group's curves to its operations, from the first to the last time of any of its
// curves or operations.
AttributionResults AttributeEnergy(const OpTrace& trace,
                                   const std::vector<AttributionGroup>& groups, int threads);

}  // namespace beryl::account
