// Compresses and decompresses blocks of bytes; a checksum.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace beryl {

// In zlib's format.
std::string Deflate(std::string_view bytes);
// Fails unless the result has exactly `size` bytes.
Result<std::string> Inflate(std::string_view deflated, size_t size);
// A complete gzip file without name and time: equal bytes give equal files. kLittle: for what is
// read once, and waited for.
enum class Effort : uint8_t { kLittle, kUsual };
std::string Gzip(std::string_view bytes, Effort effort = Effort::kUsual);

// CRC-32 as in gzip.
uint32_t Checksum(std::string_view bytes, uint32_t before = 0);

}  // namespace beryl
