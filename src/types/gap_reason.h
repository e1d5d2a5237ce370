// Why a meter told nothing for a stretch of time.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace beryl {

enum class GapReason : uint8_t {
  kNotTold,             // there is a gap, and nobody wrote down why
  kCounterWentDown,     // a reset, or a wrap at a range that is not known
  kCounterReset,        // it went down, and that is no wrap
  kCounterStoodStill,   // and went on from where it had stopped
  kStoodStillToTheEnd,  // of the recording
  kCounterNeverMoved,
  kSteppedOnce,  // since when it had counted is not known
  kMayHaveWrapped,
  kNotRead,
  kStoppedMeanwhile,  // it could not be read, and did not go on counting
  kNotReadAnyMore,
  kOursNotKnown,  // what part of it the watched processes used
  kMeterToldNothing,
  kBeforeFirstReading,
  kAfterLastReading,
};
inline constexpr int kGapReasonCount = 15;

std::string_view GapReasonName(GapReason reason);  // "counter_stood_still": in JSON and run files
std::optional<GapReason> FindGapReason(std::string_view name);

}  // namespace beryl
