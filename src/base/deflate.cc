#include "base/deflate.h"

#include <zlib.h>

namespace beryl {

std::string Deflate(std::string_view bytes) {
  uLongf size = compressBound(static_cast<uLong>(bytes.size()));
  std::string deflated(size, '\0');
  // Cannot fail: the bound is zlib's own.
  compress2(reinterpret_cast<Bytef*>(deflated.data()), &size,
            reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uLong>(bytes.size()),
            Z_DEFAULT_COMPRESSION);
  deflated.resize(size);
  return deflated;
}

Result<std::string> Inflate(std::string_view deflated, size_t size) {
  std::string bytes(size, '\0');
  uLongf got = size;
  const int status = uncompress(reinterpret_cast<Bytef*>(bytes.data()), &got,
                                reinterpret_cast<const Bytef*>(deflated.data()),
                                static_cast<uLong>(deflated.size()));
  if (status != Z_OK || got != size) return InvalidError("damaged compressed bytes");
  return bytes;
}

std::string Gzip(std::string_view bytes) {
  // Both formats hold the same stream; only header and trailer differ.
  constexpr size_t kZlibHead = 2;
  constexpr size_t kZlibTail = 4;
  const std::string deflated = Deflate(bytes);
  std::string file("\x1f\x8b\x08\0\0\0\0\0\0\xff", 10);
  file.append(deflated, kZlibHead, deflated.size() - kZlibHead - kZlibTail);
  for (const uint32_t number : {Checksum(bytes), static_cast<uint32_t>(bytes.size())}) {
    for (int shift = 0; shift < 32; shift += 8) file += static_cast<char>(number >> shift);
  }
  return file;
}

uint32_t Checksum(std::string_view bytes, uint32_t before) {
  return static_cast<uint32_t>(
      crc32_z(before, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

}  // namespace beryl
