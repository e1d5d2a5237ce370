// Maps the numbers that a trace gives its events (correlations, flows) to the positions of the
// events.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <unordered_map>
#include <utility>
#include <vector>

namespace beryl::importers {

// Built once. Profilers number their events consecutively, so numbers are nearly always dense and a
// plain array holds them; other numbers work as well.
class NumberIndex {
 public:
  static constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();

  // Of equal numbers the last one stays. Numbers must not be negative.
  explicit NumberIndex(const std::vector<std::pair<int64_t, uint32_t>>& entries) {
    if (entries.empty()) return;
    const auto [least, most] =
        std::minmax_element(entries.begin(), entries.end(),
                            [](const auto& a, const auto& b) { return a.first < b.first; });
    first_ = least->first;
    const auto range = static_cast<uint64_t>(most->first - first_);
    if (range < uint64_t{8} * entries.size() + 64) {
      dense_.assign(range + 1, kNone);
      for (const auto& [number, place] : entries) {
        dense_[static_cast<uint64_t>(number - first_)] = place;
      }
    } else {
      for (const auto& [number, place] : entries) sparse_[number] = place;
    }
  }

  uint32_t Find(int64_t number) const {
    if (!dense_.empty()) {
      // For smaller numbers, the difference wraps far beyond the end.
      const uint64_t at = static_cast<uint64_t>(number) - static_cast<uint64_t>(first_);
      return at < dense_.size() ? dense_[at] : kNone;
    }
    const auto found = sparse_.find(number);
    return found == sparse_.end() ? kNone : found->second;
  }

 private:
  int64_t first_ = 0;
  std::vector<uint32_t> dense_;
  std::unordered_map<int64_t, uint32_t> sparse_;
};

}  // namespace beryl::importers
