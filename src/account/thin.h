// A power trace with fewer readings, as if it had been sampled more sparsely.
#pragma once

#include <cstdint>

#include "types/power_trace.h"

namespace beryl::account {

// Keeps every n-th reading of each channel, the first and the last, so that the window stays the
// same, and those around a gap, so that gaps stay the same.
PowerTrace Thin(const PowerTrace& power, uint32_t every);

}  // namespace beryl::account
