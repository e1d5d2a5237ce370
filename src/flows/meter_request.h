// Which meters to read and for how long, as the user writes it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "sources/discover.h"

namespace beryl::flows {

struct MeterRequest {
  std::vector<std::string> meters = {};  // "PATH[,baud=N],format=FORMAT" each
  std::string replay = {};               // a power file
  std::string only = {};                 // names of sources, separated by commas
  std::string estimate = {};             // "idle=WATTS,full=WATTS", or one of them
};
Result<sources::DiscoverOptions> DiscoverOptionsOf(const MeterRequest& request);

// How long a duration may be, and that in words.
struct DurationRange {
  Nanos least;
  Nanos most;
  const char* text;
};
// Time between readings.
inline constexpr DurationRange kPeriods = {Nanos{1'000'000}, Nanos{600'000'000'000}, "1ms to 10m"};
inline constexpr DurationRange kAnyDuration = {Nanos{1}, Nanos{1'000'000'000'000'000'000},
                                               "a number with its unit, such as 4ms, 20s or 1m"};

// "500us", "4ms", "20s", "1.5m", "1h": more than 0, and with its unit. `option` is for the
// message.
Result<Nanos> ParseDuration(std::string_view option, const std::string& text,
                            const DurationRange& range = kAnyDuration);

}  // namespace beryl::flows
