// The engine: operations in order of time under a handful of power curves.
#pragma once

#include <cstdint>
#include <vector>

#include "account/clock.h"
#include "account/power_curve.h"
#include "types/op_trace.h"

namespace beryl::account {

// What operations of one kind in one step took; the vectors are by curve.
struct SweepCell {
  uint32_t kind = 0;
  uint32_t step = kNoStep;
  uint64_t count = 0;
  int64_t at_work_ns = 0;  // whether power was known or not
};

struct SweepResult {
  std::vector<SweepCell> cells;
  // [cell * curves + curve]
  std::vector<double> energy_j;
  std::vector<int64_t> busy_ns;
  // By curve.
  std::vector<double> idle_j;
  std::vector<double> outside_j;      // of idle: before the first operation or after the last
  std::vector<int64_t> uncovered_ns;  // operation time where power is not known
};

// Operations that share the energy of the same curves.
struct SweepGroup {
  std::vector<bool> devices;  // a flag for each of the trace's devices
  std::vector<const PowerCurve*> curves;
  const ClockFit* clock = nullptr;
  bool by_step = true;  // if not, there is one cell for each kind, with kNoStep
};

struct SweepResults {
  std::vector<SweepResult> groups;
  size_t unreadable_blocks = 0;  // of packed operations
};

// Sweeps each group's operations from the first to the last moment of any of its curves or
// operations.
SweepResults Sweep(const OpTrace& trace, const std::vector<SweepGroup>& groups, int threads);

}  // namespace beryl::account
