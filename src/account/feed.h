// Decides which operations may get a channel's energy. Every rule here appears in the result in
// words.
//
//   GPU:n           operations that ran on GPU:n
//   CPU:n, DRAM:n   operations of the host. A trace's CPU:0 is the whole host, so two packages both
//                   feed it; if the trace names several CPU devices and each has its channel, each
//                   feeds its own.
//   psys, wall, ..  nothing: their energy beyond the channels within them is the rest of the
//                   machine
//   others          operations on a device of exactly that name
//
// A channel within an attributed channel (types/containment.h) feeds nothing.
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
  std::vector<ChannelFeed> channels;  // in the order of PowerTrace::channels
  std::vector<Note> notes;
};

// `glance` summarises `ops`.
Result<FeedPlan> PlanFeeds(const PowerTrace& power, const OpTrace& ops, const OpGlance& glance,
                           const AccountOptions& options);

}  // namespace beryl::account
