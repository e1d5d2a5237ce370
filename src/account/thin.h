// A power trace with fewer readings, as if it had been sampled more sparsely.
#pragma once

#include <cstdint>

#include "types/power_trace.h"

namespace beryl::account {

// Keeps every n-th reading of each channel. The first and the last stay, so that the window is the
// same, and so do those around a gap, so that what is known and what is not stays the same too.
PowerTrace Thin(const PowerTrace& power, uint32_t every);

}  // namespace beryl::account
