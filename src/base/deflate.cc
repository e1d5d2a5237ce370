#include "base/deflate.h"

#include <array>
#include <new>

#include <zlib.h>

namespace beryl {

namespace {

// Appends to `out`. `window_bits` chooses the format, as zlib has it.
void Compress(std::string_view bytes, int level, int window_bits, std::string& out) {
  constexpr int kMemory = 8;  // zlib's default
  constexpr size_t kMostAtOnce = size_t{1} << 30;
  z_stream stream{};
  // Neither call fails, but for want of memory.
  if (deflateInit2(&stream, level, Z_DEFLATED, window_bits, kMemory, Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::bad_alloc();
  }
  std::array<char, size_t{16} << 10> piece;
  int status = Z_OK;
  while (status != Z_STREAM_END) {
    if (stream.avail_in == 0) {
      const std::string_view more = bytes.substr(0, kMostAtOnce);
      bytes.remove_prefix(more.size());
      stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(more.data()));
      stream.avail_in = static_cast<uInt>(more.size());
    }
    stream.next_out = reinterpret_cast<Bytef*>(piece.data());
    stream.avail_out = static_cast<uInt>(piece.size());
    status = deflate(&stream, bytes.empty() ? Z_FINISH : Z_NO_FLUSH);
    out.append(piece.data(), piece.size() - stream.avail_out);
  }
  deflateEnd(&stream);
}

}  // namespace

std::string Deflate(std::string_view bytes) {
  std::string deflated;
  Compress(bytes, Z_DEFAULT_COMPRESSION, MAX_WBITS, deflated);
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

std::string Gzip(std::string_view bytes, Effort effort) {
  // Level 3 takes less than half of the time, and its results are less than twice as large.
  constexpr int kFast = 3;
  std::string file("\x1f\x8b\x08\0\0\0\0\0\0\xff", 10);
  Compress(bytes, effort == Effort::kLittle ? kFast : Z_DEFAULT_COMPRESSION, -MAX_WBITS, file);
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
