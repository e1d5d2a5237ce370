#include "store/encoding.h"

namespace beryl::store {
namespace {

// A reader takes eight bytes at a time and masks what is too much, so that many stand behind the
// last number.
constexpr size_t kPadding = 8;

unsigned CodeOf(uint64_t number) {
  if (number <= 0xFF) return 0;
  if (number <= 0xFFFF) return 1;
  return number <= 0xFFFFFFFF ? 2 : 3;
}

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
  for (size_t i = 0; i < count; ++i) {
    needed += uint64_t{1} << ((static_cast<uint8_t>(codes[i / 4]) >> (i % 4 * 2)) & 3U);
  }
  ok_ = needed == size;
  codes_ = codes.data();
  bytes_ = bytes.data();
}

}  // namespace beryl::store
