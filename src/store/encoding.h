// Numbers as bytes and back. Reading never goes beyond the bytes: after an error a Decoder stays
// failed and returns zeros, so that a caller checks once, at the end.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "base/wire_writer.h"

namespace beryl::store {

static_assert(std::endian::native == std::endian::little, "run files are little-endian");

inline uint64_t ZigZag(int64_t number) {
  return (static_cast<uint64_t>(number) << 1) ^ static_cast<uint64_t>(number >> 63);
}
inline int64_t UnZigZag(uint64_t number) {
  return static_cast<int64_t>(number >> 1) ^ -static_cast<int64_t>(number & 1);
}

inline void PutSigned(std::string& out, int64_t number) { PutVarint(out, ZigZag(number)); }

inline void PutString(std::string& out, std::string_view text) {
  PutVarint(out, text.size());
  out.append(text);
}

class Decoder {
 public:
  explicit Decoder(std::string_view bytes) : left_(bytes) {}

  bool failed() const { return failed_; }
  bool at_end() const { return left_.empty(); }

  template <typename Number>
  Number Fixed() {
    Number number{};
    if (left_.size() < sizeof(Number)) return Fail(number);
    std::memcpy(&number, left_.data(), sizeof(Number));
    left_.remove_prefix(sizeof(Number));
    return number;
  }

  uint64_t Varint() {
    uint64_t number = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (left_.empty()) return Fail(uint64_t{0});
      const auto byte = static_cast<uint8_t>(left_.front());
      left_.remove_prefix(1);
      number |= static_cast<uint64_t>(byte & 0x7F) << shift;
      if (byte < 0x80) return number;
    }
    return Fail(uint64_t{0});
  }
  int64_t Signed() { return UnZigZag(Varint()); }

  // A number that must be below `limit`.
  uint32_t Below(uint64_t limit) {
    const uint64_t number = Varint();
    if (number >= limit) return Fail(uint32_t{0});
    return static_cast<uint32_t>(number);
  }

  std::string_view Bytes(uint64_t size) {
    if (size > left_.size()) return Fail(std::string_view());
    const std::string_view bytes = left_.substr(0, size);
    left_.remove_prefix(size);
    return bytes;
  }
  std::string_view String() { return Bytes(Varint()); }

  // One of an enum that begins with 0.
  template <typename Enum>
  Enum UpTo(Enum last) {
    return static_cast<Enum>(Below(static_cast<uint64_t>(last) + 1));
  }

  // Calls `take` for each of the items that a count announces. False: one of them was malformed;
  // those before it were taken.
  template <typename Take>
  bool Each(const Take& take) {
    for (size_t left = Count(); left > 0 && !failed_; --left) take();
    return !failed_;
  }
  // What was read cannot be.
  void Refuse() { Fail(0); }

  // The number of items that follow; at most the number of bytes, as each takes at least one.
  size_t Count() {
    const uint64_t count = Varint();
    return count > left_.size() ? Fail(size_t{0}) : static_cast<size_t>(count);
  }

 private:
  template <typename Number>
  Number Fail(Number zero) {
    failed_ = true;
    left_ = {};
    return zero;
  }

  std::string_view left_;
  bool failed_ = false;
};

// A column of numbers that reads at memory speed: two bits per number give its length (1, 2, 4 or 8
// bytes), followed by the bytes. No branch depends on the data.
void PutColumn(std::string& out, const std::vector<uint64_t>& numbers);

class ColumnReader {
 public:
  // Takes the column from `decoder`.
  ColumnReader(Decoder& decoder, size_t count);

  // False if the column does not hold the stated number of numbers.
  bool ok() const { return ok_; }

  uint64_t Next() {
    const unsigned code = (static_cast<uint8_t>(codes_[at_ >> 2]) >> ((at_ & 3) * 2)) & 3U;
    ++at_;
    uint64_t word = 0;
    std::memcpy(&word, bytes_, sizeof(word));
    bytes_ += size_t{1} << code;
    return word & kMasks[code];
  }

 private:
  static constexpr std::array<uint64_t, 4> kMasks = {0xFF, 0xFFFF, 0xFFFFFFFF, ~uint64_t{0}};

  const char* codes_ = nullptr;
  const char* bytes_ = nullptr;
  size_t at_ = 0;
  bool ok_ = false;
};

}  // namespace beryl::store
