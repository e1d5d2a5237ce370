#include "base/splice.h"

#include "base/matchers_for_test.h"

namespace beryl {
namespace {

Result<std::string> Copied(const Splice& splice, const std::string& text) {
  auto source = ByteSource::FromMemory(text, "text");
  std::string copy;
  TRY(splice.Copy(source, [&](std::string_view bytes) -> Status {
    copy += bytes;
    return {};
  }));
  return copy;
}

TEST(SpliceTest, BytesAreReplacedInsertedAndErased) {
  Splice splice;
  EXPECT_EQ(*Copied(splice, "0123456789"), "0123456789");
  splice.Replace(0, 0, "<");
  splice.Replace(2, 3, "two to four");
  splice.Replace(5, 1, "");
  splice.Replace(10, 0, ">");
  EXPECT_EQ(*Copied(splice, "0123456789"), "<01two to four6789>");
}

TEST(SpliceTest, LongTextsAreCopiedInPieces) {
  std::string text;
  for (int i = 0; i < 300'000; ++i) text += static_cast<char>('a' + i % 23);
  Splice splice;
  splice.Replace(131'072, 5, "HERE");
  std::string expected = text;
  expected.replace(131'072, 5, "HERE");
  EXPECT_TRUE(*Copied(splice, text) == expected);
}

TEST(SpliceTest, ASourceThatBecameShorterIsAnError) {
  Splice splice;
  splice.Replace(8, 4, "x");
  EXPECT_FALSE(Copied(splice, "0123456789").has_value());
}

}  // namespace
}  // namespace beryl
