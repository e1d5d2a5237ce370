// A stable radix sort of (64-bit key, 32-bit value) pairs: linear, and several times faster than a
// comparison sort from a few thousand entries on. Bytes that are the same in all keys cost nothing.
#pragma once

#include <cstddef>
#include <cstdint>
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

// Traces are written nearly in order of time, so try that first. An interrupted attempt keeps
// entries with equal keys in order, because it only moves an entry past larger ones.
inline void SortByKey(std::vector<KeyedIndex>& entries) {
  if (!NudgeIntoOrder(entries)) RadixSort(entries);
}

}  // namespace beryl
