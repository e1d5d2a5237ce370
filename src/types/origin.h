// Where a number comes from, so that a reader knows how sure it may be.
#pragma once

#include <cstdint>
#include <string_view>

namespace beryl {

enum class Origin : uint8_t {
  kMeasured,      // read from a meter
  kEstimated,     // worked out from how busy the machine was; no meter told
  kPredicted,     // by what was learned from measurements
  kUncalibrated,  // predicted from a datasheet, and never held against a meter
  kDescribed,     // counted from a model's configuration
};
std::string_view OriginName(Origin origin);  // "measured", ...

}  // namespace beryl
