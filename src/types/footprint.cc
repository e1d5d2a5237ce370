#include "types/footprint.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace beryl {

double ChannelAccount::ClosureError() const {
  const double left = (total - attributed - idle - unattributed).value;
  const double size = std::max({std::fabs(total.value), std::fabs(measured.value), 1e-300});
  // Numbers too large to add up leave nothing to be judged: that is no closure.
  return std::isfinite(left) ? std::fabs(left) / size : std::numeric_limits<double>::infinity();
}

}  // namespace beryl
