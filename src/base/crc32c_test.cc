#include "base/crc32c.h"

#include <string>

#include <gtest/gtest.h>

namespace beryl {
namespace {

// RFC 3720, B.4.
TEST(Crc32cTest, KnownAnswers) {
  std::string up;
  for (char byte = 0; byte < 32; ++byte) up += byte;
  const std::string down(up.rbegin(), up.rend());
  EXPECT_EQ(Crc32c(std::string(32, '\0')), 0x8A9136AAU);
  EXPECT_EQ(Crc32c(std::string(32, '\xff')), 0x62A8AB43U);
  EXPECT_EQ(Crc32c(up), 0x46DD794EU);
  EXPECT_EQ(Crc32c(down), 0x113FDB5CU);
  EXPECT_EQ(Crc32c("123456789"), 0xE3069283U);
  EXPECT_EQ(Crc32c(""), 0U);
}

TEST(Crc32cTest, PiecesAreTheSameAsTheWhole) {
  const std::string text = "where do the joules go?";
  for (size_t cut = 0; cut <= text.size(); ++cut) {
    EXPECT_EQ(Crc32c(text.substr(cut), Crc32c(text.substr(0, cut))), Crc32c(text));
  }
}

// The length 24 in eight bytes, as every TFRecord of an event file begins: TensorBoard says the
// same.
TEST(Crc32cTest, IsMaskedAsInRecords) {
  EXPECT_EQ(MaskedCrc32c(std::string("\x18\0\0\0\0\0\0\0", 8)), 0x224B7FA3U);
}

}  // namespace
}  // namespace beryl
