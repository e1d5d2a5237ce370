#include "base/crc32c.h"

#include <array>

namespace beryl {
namespace {

constexpr uint32_t kPolynomial = 0x82F63B78;  // bits reversed

constexpr std::array<uint32_t, 256> MakeTable() {
  std::array<uint32_t, 256> table{};
  for (uint32_t byte = 0; byte < table.size(); ++byte) {
    uint32_t rest = byte;
    for (int bit = 0; bit < 8; ++bit) rest = (rest >> 1) ^ ((rest & 1) != 0 ? kPolynomial : 0);
    table[byte] = rest;
  }
  return table;
}

constexpr std::array<uint32_t, 256> kTable = MakeTable();

}  // namespace

uint32_t Crc32c(std::string_view bytes, uint32_t before) {
  uint32_t crc = ~before;
  for (const char letter : bytes) {
    crc = kTable[(crc ^ static_cast<unsigned char>(letter)) & 0xFF] ^ (crc >> 8);
  }
  return ~crc;
}

uint32_t MaskedCrc32c(std::string_view bytes) {
  const uint32_t crc = Crc32c(bytes);
  return ((crc >> 15) | (crc << 17)) + 0xA282EAD8;
}

}  // namespace beryl
