#pragma once

#include <string_view>

namespace beryl::sources {

// The share of memory in use, from the text of /proc/meminfo; NaN if it is not there.
double MemoryUsagePercent(std::string_view meminfo);

}  // namespace beryl::sources
