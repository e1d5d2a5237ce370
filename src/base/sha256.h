// SHA-256 (FIPS 180-4), with the instructions that a processor has for it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace beryl {

// The digest of bytes that come in pieces. Not thread-safe.
class Sha256 {
 public:
  enum class Use { kFastest, kPortable };
  explicit Sha256(Use use = Use::kFastest);

  void Add(std::string_view bytes);
  // 64 lower-case hex digits. Call once, after the last piece.
  std::string Finish();

 private:
  using Blocks = void (*)(std::array<uint32_t, 8>& state, const uint8_t* bytes, size_t blocks);

  Blocks add_blocks_;
  std::array<uint32_t, 8> state_;
  std::array<uint8_t, 64> rest_;  // of the last piece: total_ % 64 bytes
  uint64_t total_ = 0;
};

std::string Sha256Of(std::string_view bytes);

}  // namespace beryl
