// CRC-32C (Castagnoli), the checksum of TFRecord files. Not the CRC-32 of gzip (base/deflate.h).
#pragma once

#include <cstdint>
#include <string_view>

namespace beryl {

// `before`: the result for the bytes that come before these.
uint32_t Crc32c(std::string_view bytes, uint32_t before = 0);

// As TFRecord files have it: rotated, plus a constant, so that the checksum of bytes that contain
// checksums is still good.
uint32_t MaskedCrc32c(std::string_view bytes);

}  // namespace beryl
