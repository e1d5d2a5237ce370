#include "types/gap_reason.h"

#include <algorithm>
#include <array>

namespace beryl {
namespace {

constexpr std::array<std::string_view, kGapReasonCount> kNames = {
    "not_told",
    "counter_went_down",
    "counter_reset",
    "counter_stood_still",
    "counter_stood_still_to_the_end",
    "counter_never_moved",
    "counter_stepped_once",
    "counter_may_have_wrapped",
    "not_read",
    "not_read_and_stopped_meanwhile",
    "not_read_any_more",
    "ours_not_known",
    "meter_told_nothing",
    "before_first_reading",
    "after_last_reading",
};

}  // namespace

std::string_view GapReasonName(GapReason reason) { return kNames[static_cast<size_t>(reason)]; }

std::optional<GapReason> FindGapReason(std::string_view name) {
  const auto* const place = std::find(kNames.begin(), kNames.end(), name);
  if (place == kNames.end()) return std::nullopt;
  return static_cast<GapReason>(place - kNames.begin());
}

}  // namespace beryl
