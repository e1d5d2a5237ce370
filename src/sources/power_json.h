// Power readings as JSON, read as they come.
#pragma once

#include "base/file.h"
#include "base/result.h"
#include "sources/power_readings.h"

namespace beryl::sources {

// {"CPU:0": {"<timestamp_us>": watts, ...}, ...}. Needs no memory but for the readings. What is not
// a reading is dropped; an Error is text that is not JSON, with the byte.
Status ReadPowerJson(ByteSource& source, PowerReadings& readings);

}  // namespace beryl::sources
