// Where and when a result was made.
#pragma once

#include <string>

namespace beryl {

// The machine this program runs on: "Linux 6.1.0 x86_64, 8 CPUs".
std::string MachineName();
// Its network name.
std::string HostName();

// The time in UTC, to the second: "2026-11-18T01:32:48Z". If SOURCE_DATE_EPOCH (seconds since 1970)
// is set, it replaces the clock, so that output can be reproduced byte for byte.
std::string TimeNow();

}  // namespace beryl
