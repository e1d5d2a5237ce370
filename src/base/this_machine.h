// What a result says of where and when it was made.
#pragma once

#include <string>

namespace beryl {

// The machine this program runs on: "Linux 6.1.0 x86_64, 8 CPUs".
std::string MachineName();

// The time in UTC, to the second: "2026-11-18T01:32:48Z". SOURCE_DATE_EPOCH (seconds since 1970),
// if it is set, stands for the clock, so that what is written can be reproduced byte for byte.
std::string TimeNow();

}  // namespace beryl
