// Blocks of bytes made smaller and back, and a checksum.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace beryl {

// zlib's format.
std::string Deflate(std::string_view bytes);
// `size` is what the bytes were before; anything else is an error.
Result<std::string> Inflate(std::string_view deflated, size_t size);
// A whole gzip file, without name and time: the same bytes give the same file.
std::string Gzip(std::string_view bytes);

// CRC-32 as gzip has it.
uint32_t Checksum(std::string_view bytes, uint32_t before = 0);

}  // namespace beryl
