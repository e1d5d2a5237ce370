#include "base/sha256.h"

#include <random>

#include <gtest/gtest.h>

namespace beryl {
namespace {

// The examples of FIPS 180-4 and of NIST's test vectors.
TEST(Sha256Test, GivesTheDigestsOfTheStandard) {
  EXPECT_EQ(Sha256Of(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(Sha256Of("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(Sha256Of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(Sha256Of(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256Test, DoesNotDependOnPiecesOrOnTheProcessor) {
  std::mt19937 random(1);
  for (size_t size = 0; size < 300; ++size) {
    std::string bytes(size, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    Sha256 pieces;
    Sha256 portable(Sha256::Use::kPortable);
    for (size_t at = 0; at < size;) {
      const size_t piece = std::min<size_t>(size - at, random() % 100);
      pieces.Add(std::string_view(bytes).substr(at, piece));
      at += piece;
    }
    portable.Add(bytes);
    const std::string digest = Sha256Of(bytes);
    EXPECT_EQ(pieces.Finish(), digest) << size;
    EXPECT_EQ(portable.Finish(), digest) << size;
  }
}

}  // namespace
}  // namespace beryl
