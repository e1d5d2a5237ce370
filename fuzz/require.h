// How a fuzzer reports a violated law.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace beryl::fuzz {

inline void Require(bool law, const char* what) {
  if (law) return;
  std::fprintf(stderr, "broken law: %s\n", what);
  std::abort();
}

}  // namespace beryl::fuzz
