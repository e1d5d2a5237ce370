// A stable radix sort of (64-bit key, 32-bit value) pairs: linear, and several times faster than a
// comparison sort from a few thousand entries on. Bytes that are the same in all keys cost nothing.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace beryl {

struct KeyedIndex {
  uint64_t key;
  uint32_t index;
};

// Sorts nearly sorted entries by moving them a few places; gives up and returns false, with the
// same entries, if that turns out to be too much work.
inline bool NudgeIntoOrder(std::vector<KeyedIndex>& entries) {
  size_t moves_left = entries.size() * 12 + 64;
  for (size_t i = 1; i < entries.size(); ++i) {
    const KeyedIndex entry = entries[i];
    size_t at = i;
    for (; at > 0 && entries[at - 1].key > entry.key && moves_left > 0; --at, --moves_left) {
      entries[at] = entries[at - 1];
    }
    entries[at] = entry;
    if (moves_left == 0) return false;
  }
  return true;
}

inline void RadixSort(std::vector<KeyedIndex>& entries) {
  constexpr int kDigitBits = 12;
  constexpr size_t kDigits = size_t{1} << kDigitBits;
  uint64_t ones = 0;
  uint64_t zeros = 0;
  for (const KeyedIndex& entry : entries) {
    ones |= entry.key;
    zeros |= ~entry.key;
  }
  const uint64_t varying = ones & zeros;
  std::vector<KeyedIndex> other(entries.size());
  std::vector<uint32_t> place(kDigits);
  for (int shift = 0; shift < 64; shift += kDigitBits) {
    if (((varying >> shift) & (kDigits - 1)) == 0) continue;
    place.assign(kDigits, 0);
    for (const KeyedIndex& entry : entries) ++place[(entry.key >> shift) & (kDigits - 1)];
    uint32_t start = 0;
    for (uint32_t& at : place) {
      const uint32_t size = at;
      at = start;
      start += size;
    }
    for (const KeyedIndex& entry : entries) {
      other[place[(entry.key >> shift) & (kDigits - 1)]++] = entry;
    }
    entries.swap(other);
  }
}

// Merges what is a few sorted pieces one after the other, such as the operations of several
// devices; returns false, with the same entries, if there are more.
inline bool MergeFewPieces(std::vector<KeyedIndex>& entries) {
  constexpr size_t kFew = 8;
  const auto is_before = [](const KeyedIndex& a, const KeyedIndex& b) { return a.key < b.key; };
  std::vector<std::ptrdiff_t> ends = {0};
  for (auto end = entries.begin(); end != entries.end();) {
    if (ends.size() > kFew) return false;
    end = std::is_sorted_until(end, entries.end(), is_before);
    ends.push_back(end - entries.begin());
  }
  std::vector<KeyedIndex> merged(ends.size() > 2 ? entries.size() : 0);
  // Neighbours only, so that equal keys stay in order.
  while (ends.size() > 2) {
    std::vector<std::ptrdiff_t> longer = {0};
    for (size_t piece = 1; piece < ends.size(); piece += 2) {
      const size_t last = std::min(piece + 1, ends.size() - 1);
      const auto from = entries.begin();
      std::merge(from + ends[piece - 1], from + ends[piece], from + ends[piece], from + ends[last],
                 merged.begin() + ends[piece - 1], is_before);
      longer.push_back(ends[last]);
    }
    entries.swap(merged);
    ends = std::move(longer);
  }
  return true;
}

// Traces are written nearly in order of time, or device after device, so try these first. An
// interrupted attempt keeps entries with equal keys in order, because it only moves an entry past
// larger ones.
inline void SortByKey(std::vector<KeyedIndex>& entries) {
  if (!MergeFewPieces(entries) && !NudgeIntoOrder(entries)) RadixSort(entries);
}

}  // namespace beryl
