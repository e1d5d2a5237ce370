// Interned strings: each distinct text is stored once and known by a small number.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

namespace beryl {

using StringId = uint32_t;

// Views handed out stay valid as long as the table lives (moving the table included).
// Not for use by two threads at once.
class StringTable {
 public:
  StringTable();

  // Id 0 is always the empty string.
  StringId Intern(std::string_view text);
  std::string_view Text(StringId id) const { return entries_[id].text; }
  size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    std::string_view text;
    uint64_t hash;
  };

  std::string_view Store(std::string_view text);
  void Grow();

  std::vector<Entry> entries_;
  std::vector<StringId> slots_;  // open addressing; the id plus one, 0 = free
  std::vector<std::unique_ptr<char[]>> blocks_;
  size_t block_left_ = 0;
  char* block_next_ = nullptr;
};

// Fast non-cryptographic hash, eight bytes at a time; stable within one run of the program only.
inline uint64_t HashBytes(std::string_view text) {
  constexpr uint64_t kMultiplier = 0x9E3779B97F4A7C15ULL;
  uint64_t hash = text.size() * kMultiplier;
  const char* p = text.data();
  size_t left = text.size();
  auto mix = [&hash](uint64_t word) {
    hash = (hash ^ word) * kMultiplier;
    hash ^= hash >> 29;
  };
  for (; left >= 8; p += 8, left -= 8) {
    uint64_t word;
    std::memcpy(&word, p, 8);
    mix(word);
  }
  uint64_t tail = 0;
  if (left > 0) std::memcpy(&tail, p, left);
  mix(tail);
  return hash ^ (hash >> 32);
}

}  // namespace beryl
