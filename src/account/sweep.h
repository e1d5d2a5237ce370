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

// Sweeps the operations that run on one of `devices` (a flag for each of the trace's devices) from
// the first to the last moment of any curve or operation.
SweepResult Sweep(const OpTrace& trace, const std::vector<bool>& devices, const ClockFit& clock,
                  const std::vector<const PowerCurve*>& curves);

}  // namespace beryl::account
