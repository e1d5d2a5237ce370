// An unknown number. Never 0.
#pragma once

#include <limits>

namespace beryl {

inline constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

}  // namespace beryl
