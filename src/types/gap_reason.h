// Why a meter gives no energy for a stretch of time.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace beryl {

enum class GapReason : uint8_t {
  kNotTold,             // no reason was recorded
  kCounterWentDown,     // a reset, or a wrap at an unknown range
  kCounterReset,        // it went down, and not by a wrap
  kCounterStoodStill,   // and then continued from where it had stopped
  kStoodStillToTheEnd,  // until the end of the recording
  kCounterNeverMoved,
  kSteppedOnce,  // unknown since when it had been counting
  kMayHaveWrapped,
  kNotRead,
  kStoppedMeanwhile,  // it could not be read, and did not keep counting
  kNotReadAnyMore,
  kOursNotKnown,  // unknown which part the watched processes used
  kMeterToldNothing,
  kBeforeFirstReading,
  kAfterLastReading,
};
inline constexpr int kGapReasonCount = 15;

std::string_view GapReasonName(GapReason reason);  // "counter_stood_still": in JSON and run files
std::optional<GapReason> FindGapReason(std::string_view name);

}  // namespace beryl
