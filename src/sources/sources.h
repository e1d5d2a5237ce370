// Power readings in. So far: replay of what was recorded before, from a file.
#pragma once

#include <optional>

#include "base/file.h"
#include "base/result.h"
#include "types/power_trace.h"

namespace beryl::sources {

struct PowerFileOptions {
  // Where energy counters go back to zero, in microjoules; nothing: told by the file's `wrap_uj`
  // column, or else recognised from the ranges that RAPL counters have.
  std::optional<double> wrap_uj;
};

// Reads a power trace, told apart by content:
//   CSV with the columns timestamp_us, device and power_w (a gauge) or energy_uj (a counter), in
//   any order,
//       optionally wrap_uj; lines that start with # are comments;
//   JSON {"CPU:0": {"<timestamp_us>": watts, ...}, ...}.
// Times are microseconds since the epoch, fractions allowed. Rows that cannot be used are counted
// in the report; an Error is a file that is neither of the two, or that has no readings at all.
Result<PowerTrace> ReadPowerFile(ByteSource& source, const PowerFileOptions& options);

}  // namespace beryl::sources
