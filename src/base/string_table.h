// Interned strings: each distinct text is stored once and identified by a small number.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

namespace beryl {

using StringId = uint32_t;

// Fast non-cryptographic hash, sixteen bytes at a time; stable only within one run of the program.
inline uint64_t HashBytes(std::string_view text) {
  constexpr uint64_t kFirst = 0x9E3779B97F4A7C15ULL;
  constexpr uint64_t kSecond = 0xC2B2AE3D27D4EB4FULL;
  // The 128-bit product of two words mixes both into all bits.
  auto mix = [](uint64_t a, uint64_t b) {
    __extension__ using Wide = unsigned __int128;
    const Wide product = static_cast<Wide>(a) * b;
    return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
  };
  auto word = [](const char* p, size_t size) {
    uint64_t value = 0;
    std::memcpy(&value, p, size);
    return value;
  };
  uint64_t hash = text.size() * kFirst;
  const char* p = text.data();
  size_t left = text.size();
  for (; left > 16; p += 16, left -= 16) {
    hash = mix(word(p, 8) ^ hash ^ kFirst, word(p + 8, 8) ^ kSecond);
  }
  if (left > 8) {
    // The last two words may overlap: cheaper than reading a partial word.
    return mix(word(p, 8) ^ hash ^ kFirst, word(p + left - 8, 8) ^ kSecond);
  }
  return left == 8 ? mix(word(p, 8) ^ hash, kSecond)
                   : mix((left > 0 ? word(p, left) : 0) ^ hash, kSecond);
}

// Views stay valid as long as the table lives, even if it is moved. Not thread-safe.
class StringTable {
 public:
  StringTable();

  // Id 0 is always the empty string.
  StringId Intern(std::string_view text) {
    const uint64_t hash = HashBytes(text);
    const size_t mask = slots_.size() - 1;
    for (size_t slot = hash & mask; slots_[slot] != 0; slot = (slot + 1) & mask) {
      const Entry& entry = entries_[slots_[slot] - 1];
      if (entry.hash == hash && entry.text == text) return slots_[slot] - 1;
    }
    return Add(text, hash);
  }
  std::string_view Text(StringId id) const { return entries_[id].text; }
  size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    std::string_view text;
    uint64_t hash;
  };

  StringId Add(std::string_view text, uint64_t hash);
  std::string_view Store(std::string_view text);
  void Grow();

  std::vector<Entry> entries_;
  std::vector<StringId> slots_;  // open addressing; the id plus one, 0 = free
  std::vector<std::unique_ptr<char[]>> blocks_;
  size_t block_left_ = 0;
  char* block_next_ = nullptr;
};

}  // namespace beryl
