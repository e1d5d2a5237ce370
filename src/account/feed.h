// Which operations a channel's energy may go to. Stated, not assumed: every rule here ends up in
// the result as words.
//
//   GPU:n           operations that ran on GPU:n
//   CPU:n, DRAM:n   operations of the host. A trace's CPU:0 is the whole host, so two packages both
//                   feed it; where the trace names several CPU devices and each has its channel,
//                   each feeds its own.
//   psys, wall, ..  nothing: what is left of them after the channels they contain is the rest of
//                   the box
//   others          operations on a device of exactly that name
//
// What is within a channel that is shared out (types/containment.h) feeds nothing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "account/account.h"
#include "types/containment.h"

namespace beryl::account {

struct ChannelFeed {
  std::vector<uint16_t>
      devices;  // indices into OpTrace::devices, sorted; empty: feeds no operation
  std::string words;
};

struct FeedPlan {
  Containment containment;            // of PowerTrace::channels
  std::vector<ChannelFeed> channels;  // as PowerTrace::channels
  std::vector<Note> notes;
};

// `glance` is that of `ops`.
Result<FeedPlan> PlanFeeds(const PowerTrace& power, const OpTrace& ops, const OpGlance& glance,
                           const AccountOptions& options);

}  // namespace beryl::account
