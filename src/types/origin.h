// Where a number comes from, and so how reliable it is.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace beryl {

enum class Origin : uint8_t {
  kMeasured,      // read from a meter
  kEstimated,     // computed from how busy the machine was, without a meter
  kPredicted,     // by a model learned from measurements
  kUncalibrated,  // predicted from a datasheet, never compared with a meter
  kDescribed,     // counted from a model's configuration
};
std::string_view OriginName(Origin origin);  // "measured", ...
std::optional<Origin> FindOrigin(std::string_view name);

}  // namespace beryl
