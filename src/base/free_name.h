// Names for files that nobody named, so that nothing is overwritten.
#pragma once

#include <string>

namespace beryl {

// `wanted` if there is no such file, or the first of "run-2.beryl", "run-3.beryl", ... for
// "run.beryl".
std::string FreeName(const std::string& wanted);

// Whether opening `path` for writing would take something away: a file that is not empty. Devices
// and pipes keep what they have.
bool HasContent(const std::string& path);

}  // namespace beryl
