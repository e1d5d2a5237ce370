// A stable sort of (64-bit key, 32-bit value) pairs, byte by byte: linear, which a comparison sort
// is not, and several times faster from some thousand entries on. Bytes that are the same in all
// keys cost nothing.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace beryl {

struct KeyedIndex {
  uint64_t key;
  uint32_t index;
};

inline void RadixSort(std::vector<KeyedIndex>& entries) {
  std::array<std::array<uint32_t, 256>, 8> counts{};
  for (const KeyedIndex& entry : entries) {
    for (size_t byte = 0; byte < 8; ++byte) ++counts[byte][(entry.key >> (8 * byte)) & 0xFF];
  }
  std::vector<KeyedIndex> other(entries.size());
  for (size_t byte = 0; byte < 8; ++byte) {
    std::array<uint32_t, 256>& count = counts[byte];
    if (entries.empty() || count[(entries[0].key >> (8 * byte)) & 0xFF] == entries.size()) continue;
    uint32_t start = 0;
    for (uint32_t& place : count) {
      const uint32_t size = place;
      place = start;
      start += size;
    }
    for (const KeyedIndex& entry : entries) {
      other[count[(entry.key >> (8 * byte)) & 0xFF]++] = entry;
    }
    entries.swap(other);
  }
}

}  // namespace beryl
