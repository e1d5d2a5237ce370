#include "types/footprint.h"

#include <algorithm>
#include <cmath>

namespace beryl {

double ChannelAccount::ClosureError() const {
  const double left = (total - attributed - idle - unattributed).value;
  const double size = std::max({std::fabs(total.value), std::fabs(measured.value), 1e-300});
  return std::fabs(left) / size;
}

}  // namespace beryl
