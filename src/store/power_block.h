// A block of power: readings of one channel.
#pragma once

#include <cstddef>
#include <string>

#include "store/encoding.h"
#include "types/power_trace.h"

namespace beryl::store {

// Far more than anyone reads between two blocks; for a whole trace, the loss from a torn block.
inline constexpr size_t kReadingsInBlock = size_t{1} << 16;

// The readings [from, to), not empty. Wraps go with the first reading.
std::string EncodePower(const PowerChannel& channel, size_t from, size_t to);

// Adds what follows the name and kind of a channel to it. False if EncodePower did not make it, or
// it goes back in time.
bool DecodePower(Decoder& decoder, PowerChannel& channel);

}  // namespace beryl::store
