// Power files.
#pragma once

#include <optional>

#include "base/file.h"
#include "base/result.h"
#include "types/power_trace.h"

namespace beryl::sources {

struct PowerFileOptions {
  // The count at which energy counters wrap, in microjoules; nothing: from the file's `wrap_uj`
  // column, or else recognised among the ranges of RAPL counters.
  std::optional<double> wrap_uj;
};

// Reads a power trace, with the format detected by content:
//   CSV with the columns timestamp_us, device and power_w (a gauge) or energy_uj (a counter), in
//   any order, and optionally wrap_uj; lines that start with # are comments; JSON {"CPU:0":
//   {"<timestamp_us>": watts, ...}, ...}.
// Times are microseconds since the epoch, fractions allowed. Unusable rows are counted in the
// report; an Error is a file in neither format, or without any readings.
Result<PowerTrace> ReadPowerFile(ByteSource& source, const PowerFileOptions& options);

}  // namespace beryl::sources
