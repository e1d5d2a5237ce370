// Protocol buffers out, field by field: as much of the wire format as writing takes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace beryl {

class WireWriter {
 public:
  // A field that is 0 is left out, as the format has it.
  void Integer(uint32_t field, uint64_t value) {
    if (value == 0) return;
    Varint(field << 3);
    Varint(value);
  }
  void Bytes(uint32_t field, std::string_view bytes) {
    Varint((field << 3) | 2);
    Varint(bytes.size());
    bytes_ += bytes;
  }
  // Elements of a repeated number, all in one field; nothing if there are none.
  template <typename Numbers>
  void Packed(uint32_t field, const Numbers& numbers) {
    WireWriter inner;
    for (const auto number : numbers) inner.Varint(static_cast<uint64_t>(number));
    if (!inner.bytes_.empty()) Bytes(field, inner.bytes_);
  }

  const std::string& bytes() const { return bytes_; }

 private:
  void Varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }

  std::string bytes_;
};

}  // namespace beryl
