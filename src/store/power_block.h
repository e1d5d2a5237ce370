// A block of power: some readings of one channel.
#pragma once

#include <cstddef>
#include <string>

#include "store/encoding.h"
#include "types/power_trace.h"

namespace beryl::store {

// Far more than anyone reads between two blocks; of a whole trace, what a torn block may cost.
inline constexpr size_t kReadingsInBlock = size_t{1} << 16;

// The readings from `from` up to `to`, which is more. Wraps are told with the first reading.
std::string EncodePower(const PowerChannel& channel, size_t from, size_t to);

// What stands behind the name and the kind of a channel, which is added to it. False: it is none
// that EncodePower made, or goes back in time.
bool DecodePower(Decoder& decoder, PowerChannel& channel);

}  // namespace beryl::store
