#include "store/encoding.h"

namespace beryl::store {
namespace {

// A reader loads eight bytes at a time and masks the excess, so this many bytes follow the last
// number.
constexpr size_t kPadding = 8;

unsigned CodeOf(uint64_t number) {
  if (number <= 0xFF) return 0;
  if (number <= 0xFFFF) return 1;
  return number <= 0xFFFFFFFF ? 2 : 3;
}

// How many bytes four numbers take, by the byte of their codes.
constexpr std::array<uint8_t, 256> kBytesOfFour = [] {
  std::array<uint8_t, 256> bytes{};
  for (unsigned codes = 0; codes < bytes.size(); ++codes) {
    for (unsigned shift = 0; shift < 8; shift += 2) {
      bytes[codes] = static_cast<uint8_t>(bytes[codes] + (1U << ((codes >> shift) & 3U)));
    }
  }
  return bytes;
}();

}  // namespace

void PutColumn(std::string& out, const std::vector<uint64_t>& numbers) {
  std::string codes((numbers.size() + 3) / 4, '\0');
  std::string bytes;
  for (size_t i = 0; i < numbers.size(); ++i) {
    const unsigned code = CodeOf(numbers[i]);
    codes[i / 4] = static_cast<char>(static_cast<uint8_t>(codes[i / 4]) | (code << (i % 4 * 2)));
    char word[8];
    std::memcpy(word, &numbers[i], sizeof(word));
    bytes.append(word, size_t{1} << code);
  }
  PutVarint(out, bytes.size());
  out += codes;
  out += bytes;
  out.append(kPadding, '\0');
}

ColumnReader::ColumnReader(Decoder& decoder, size_t count) {
  const uint64_t size = decoder.Varint();
  const std::string_view codes = decoder.Bytes((count + 3) / 4);
  const std::string_view bytes = decoder.Bytes(size);
  decoder.Bytes(kPadding);
  if (decoder.failed()) return;
  uint64_t needed = 0;
  for (const char four : codes) needed += kBytesOfFour[static_cast<uint8_t>(four)];
  // Unused codes at the end are zeros, one byte each.
  ok_ = needed == size + (codes.size() * 4 - count);
  codes_ = codes.data();
  bytes_ = bytes.data();
}

}  // namespace beryl::store
