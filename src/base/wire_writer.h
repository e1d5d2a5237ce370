// Protobuf output, field by field: the part of the wire format that writing needs.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace beryl {

inline void PutVarint(std::string& out, uint64_t number) {
  for (; number >= 0x80; number >>= 7) out += static_cast<char>(number | 0x80);
  out += static_cast<char>(number);
}

// Written even if it is 0: where a field can be absent, that differs from 0.
inline void PutInteger(std::string& out, uint32_t field, uint64_t value) {
  PutVarint(out, field << 3);
  PutVarint(out, value);
}
// The lowest byte first, as most formats write numbers of a fixed size.
template <typename Number>
void PutFixed(std::string& out, Number number) {
  static_assert(std::endian::native == std::endian::little);
  char bytes[sizeof(Number)];
  std::memcpy(bytes, &number, sizeof(Number));
  out.append(bytes, sizeof(Number));
}
inline void PutDouble(std::string& out, uint32_t field, double value) {
  PutVarint(out, (field << 3) | 1);
  PutFixed(out, value);
}
inline void PutFloat(std::string& out, uint32_t field, float value) {
  PutVarint(out, (field << 3) | 5);
  PutFixed(out, value);
}
inline void PutBytes(std::string& out, uint32_t field, std::string_view bytes) {
  PutVarint(out, (field << 3) | 2);
  PutVarint(out, bytes.size());
  out += bytes;
}

class WireWriter {
 public:
  // Omits a field that is 0, as the format prescribes.
  void Integer(uint32_t field, uint64_t value) {
    if (value != 0) PutInteger(bytes_, field, value);
  }
  void Bytes(uint32_t field, std::string_view bytes) { PutBytes(bytes_, field, bytes); }
  void Message(uint32_t field, const WireWriter& message) { Bytes(field, message.bytes()); }
  // Also 0, because in most messages an absent number is unknown.
  void Double(uint32_t field, double value) { PutDouble(bytes_, field, value); }
  void Float(uint32_t field, float value) { PutFloat(bytes_, field, value); }
  // A repeated number, packed into one field; writes nothing for an empty list.
  template <typename Numbers>
  void Packed(uint32_t field, const Numbers& numbers) {
    std::string inner;
    for (const auto number : numbers) PutVarint(inner, static_cast<uint64_t>(number));
    if (!inner.empty()) Bytes(field, inner);
  }

  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

}  // namespace beryl
