// How a fuzzer reports a violated law, and how it reads in pieces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace beryl::fuzz {

inline void Require(bool law, const char* what) {
  if (law) return;
  std::fprintf(stderr, "broken law: %s\n", what);
  std::abort();
}

// The first byte chooses the size of the pieces in which the rest is read.
inline int TryInPieces(const uint8_t* bytes, size_t size,
                       void (*attempt)(std::string_view, size_t)) {
  if (size >= 1) {
    attempt({reinterpret_cast<const char*>(bytes) + 1, size - 1}, size_t{bytes[0]} + 1);
  }
  return 0;
}

}  // namespace beryl::fuzz
