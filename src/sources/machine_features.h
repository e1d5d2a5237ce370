#pragma once

#include <string_view>

namespace beryl::sources {

// How much of the memory is in use, from the text of /proc/meminfo; NaN: it does not tell.
double MemoryUsagePercent(std::string_view meminfo);

}  // namespace beryl::sources
