// Who may use how many of the monitor's file descriptors.
#pragma once

#include <algorithm>
#include <cstddef>

namespace beryl::server {

// Descriptors have the lowest free number: where a new one has the number n, n are in use.
struct DescriptorShares {
  int of_users = 0;  // numbers from here on are kept for root, and for accepting connections
  int of_all = 0;    // from here on for accepting, and whatever else the monitor needs
  // The most of each kind for one user: watched threads and processes, running sessions, finished
  // ones, connections. Each takes two descriptors, so that no user takes more than half of them.
  size_t of_user = 0;
};

inline DescriptorShares ShareDescriptors(size_t limit) {
  const auto most = static_cast<int>(std::min<size_t>(limit, 1 << 20));
  const int kept = std::max(most / 8, 16);
  return {std::max(most - kept, 0), std::max(most - kept / 2, 0), std::max<size_t>(limit / 16, 1)};
}

}  // namespace beryl::server
