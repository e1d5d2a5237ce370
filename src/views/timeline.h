// Shared by the formats of a timeline.
#pragma once

#include <optional>
#include <string>

#include "types/account_report.h"

namespace beryl::views {

std::string TimelineTitle(const Timeline& timeline);

// What ran most in a slice of a channel.
enum class Running { kNothing, kElse, kLayer };
struct Dominant {
  Running what = Running::kNothing;
  size_t layer = 0;  // index into Timeline::layers
  double share = 0;
};
Dominant DominantLayer(const Timeline::Channel& channel, size_t slice);
std::optional<Phase> DominantPhase(const Timeline& timeline, size_t slice);

std::string DrawTimeline(const AccountReport& report, const Timeline& timeline);

}  // namespace beryl::views
