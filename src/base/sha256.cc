#include "base/sha256.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include <fmt/format.h>

#ifdef __x86_64__
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace beryl {
namespace {

constexpr std::array<uint32_t, 8> kStart = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                            0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

alignas(16) constexpr std::array<uint32_t, 64> kRound = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

void AddPortably(std::array<uint32_t, 8>& state, const uint8_t* bytes, size_t blocks) {
  for (; blocks > 0; --blocks, bytes += 64) {
    std::array<uint32_t, 64> word;
    for (size_t i = 0; i < 16; ++i) {
      uint32_t little = 0;
      std::memcpy(&little, bytes + 4 * i, sizeof(little));
      word[i] = __builtin_bswap32(little);
    }
    for (size_t i = 16; i < 64; ++i) {
      const uint32_t a = word[i - 15];
      const uint32_t b = word[i - 2];
      word[i] = word[i - 16] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ (a >> 3)) + word[i - 7] +
                (std::rotr(b, 17) ^ std::rotr(b, 19) ^ (b >> 10));
    }
    auto [a, b, c, d, e, f, g, h] = state;
    for (size_t i = 0; i < 64; ++i) {
      const uint32_t first = h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) +
                             ((e & f) ^ (~e & g)) + kRound[i] + word[i];
      const uint32_t second =
          (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
      h = g;
      g = f;
      f = e;
      e = d + first;
      d = c;
      c = b;
      b = a;
      a = first + second;
    }
    const std::array<uint32_t, 8> more = {a, b, c, d, e, f, g, h};
    for (size_t i = 0; i < 8; ++i) state[i] += more[i];
  }
}

#ifdef __x86_64__

// Leaf 7 of CPUID says whether there are SHA instructions, leaf 1 the others.
bool HasInstructions() {
  unsigned int a = 0;
  unsigned int b = 0;
  unsigned int c = 0;
  unsigned int d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & bit_SSE4_1) == 0 || (c & bit_SSSE3) == 0) {
    return false;
  }
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & bit_SHA) != 0;
}

// Two rounds take the state as ABEF and CDGH. Four words of the schedule are made at a time, in
// place of the four that are not needed any more.
__attribute__((target("sha,sse4.1,ssse3"))) void AddByInstructions(std::array<uint32_t, 8>& state,
                                                                   const uint8_t* bytes,
                                                                   size_t blocks) {
  const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
  auto* const halves = static_cast<__m128i*>(static_cast<void*>(state.data()));
  const __m128i dcba = _mm_shuffle_epi32(_mm_loadu_si128(halves), 0xB1);
  const __m128i hgfe = _mm_shuffle_epi32(_mm_loadu_si128(halves + 1), 0x1B);
  __m128i abef = _mm_alignr_epi8(dcba, hgfe, 8);
  __m128i cdgh = _mm_blend_epi16(hgfe, dcba, 0xF0);
  for (; blocks > 0; --blocks, bytes += 64) {
    const __m128i abef_before = abef;
    const __m128i cdgh_before = cdgh;
    __m128i words[4];
    for (size_t i = 0; i < 4; ++i) {
      const void* const at = bytes + 16 * i;
      words[i] = _mm_shuffle_epi8(_mm_loadu_si128(static_cast<const __m128i*>(at)), swap);
    }
    for (size_t i = 0; i < 16; ++i) {
      __m128i& now = words[i % 4];
      if (i >= 4) {
        const __m128i last = words[(i + 3) % 4];
        now = _mm_sha256msg1_epu32(now, words[(i + 1) % 4]);
        now = _mm_add_epi32(now, _mm_alignr_epi8(last, words[(i + 2) % 4], 4));
        now = _mm_sha256msg2_epu32(now, last);
      }
      const void* const constants = kRound.data() + 4 * i;
      const __m128i sum =
          _mm_add_epi32(now, _mm_load_si128(static_cast<const __m128i*>(constants)));
      cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);
      abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sum, 0x0E));
    }
    abef = _mm_add_epi32(abef, abef_before);
    cdgh = _mm_add_epi32(cdgh, cdgh_before);
  }
  const __m128i feba = _mm_shuffle_epi32(abef, 0x1B);
  const __m128i dchg = _mm_shuffle_epi32(cdgh, 0xB1);
  _mm_storeu_si128(halves, _mm_blend_epi16(feba, dchg, 0xF0));
  _mm_storeu_si128(halves + 1, _mm_alignr_epi8(dchg, feba, 8));
}

#endif

}  // namespace

Sha256::Sha256(Use use) : add_blocks_(AddPortably), state_(kStart) {
#ifdef __x86_64__
  static const bool kHas = HasInstructions();
  if (use == Use::kFastest && kHas) add_blocks_ = AddByInstructions;
#else
  (void)use;
#endif
}

void Sha256::Add(std::string_view bytes) {
  const size_t kept = total_ % rest_.size();
  total_ += bytes.size();
  if (kept > 0) {
    const size_t taken = std::min(bytes.size(), rest_.size() - kept);
    std::memcpy(rest_.data() + kept, bytes.data(), taken);
    bytes.remove_prefix(taken);
    if (kept + taken < rest_.size()) return;
    add_blocks_(state_, rest_.data(), 1);
  }
  const size_t blocks = bytes.size() / rest_.size();
  add_blocks_(state_, reinterpret_cast<const uint8_t*>(bytes.data()), blocks);
  bytes.remove_prefix(blocks * rest_.size());
  if (!bytes.empty()) std::memcpy(rest_.data(), bytes.data(), bytes.size());
}

std::string Sha256::Finish() {
  const uint64_t bits = total_ * 8;
  const size_t kept = total_ % 64;
  std::string end(kept < 56 ? 64 - kept : 128 - kept, '\0');
  end.front() = '\x80';
  for (size_t i = 0; i < 8; ++i) end[end.size() - 1 - i] = static_cast<char>(bits >> (8 * i));
  Add(end);
  std::string hex;
  for (const uint32_t word : state_) hex += fmt::format("{:08x}", word);
  return hex;
}

std::string Sha256Of(std::string_view bytes) {
  Sha256 digest;
  digest.Add(bytes);
  return digest.Finish();
}

}  // namespace beryl
