#include "base/wire_writer.h"

#include <vector>

#include <gtest/gtest.h>

#include "base/deflate.h"
#include "base/file.h"

namespace beryl {
namespace {

TEST(WireWriterTest, WritesWhatTheFormatsOwnDocumentationShows) {
  WireWriter number;
  number.Integer(1, 150);
  EXPECT_EQ(number.bytes(), "\x08\x96\x01");
  WireWriter text;
  text.Bytes(2, "testing");
  EXPECT_EQ(text.bytes(), "\x12\x07testing");
  WireWriter packed;
  packed.Packed(6, std::vector<uint64_t>{3, 270, 86942});
  EXPECT_EQ(packed.bytes(), "\x32\x06\x03\x8E\x02\x9E\xA7\x05");
}

TEST(WireWriterTest, FractionsAreWrittenFromTheLowestByteOn) {
  WireWriter writer;
  writer.Double(1, 1.5);
  writer.Float(2, -2.0F);
  EXPECT_EQ(writer.bytes(), std::string("\x09\0\0\0\0\0\0\xF8\x3F\x15\0\0\0\xC0", 14));
}

TEST(WireWriterTest, ZeroAndNothingTakeNoRoom) {
  WireWriter writer;
  writer.Integer(1, 0);
  writer.Packed(2, std::vector<uint64_t>{});
  EXPECT_EQ(writer.bytes(), "");
}

TEST(WireWriterTest, TheLargestNumberTakesTenBytes) {
  WireWriter writer;
  writer.Integer(1, ~uint64_t{0});
  EXPECT_EQ(writer.bytes().size(), 11U);
}

TEST(GzipTest, ComesBackAsItWas) {
  for (const std::string& bytes : {std::string(), std::string("a"), std::string(1'000'000, 'x')}) {
    const std::string packed = Gzip(bytes);
    auto source = ByteSource::FromMemory(packed, "packed");
    auto back = ReadAll(source, 2'000'000);
    ASSERT_TRUE(back);
    EXPECT_EQ(*back, bytes);
    EXPECT_EQ(source.damage(), "");
    EXPECT_EQ(Gzip(bytes), packed) << "no time of day in it";
  }
}

TEST(GzipTest, LittleEffortComesBackToo) {
  std::string bytes;
  for (int64_t i = 0; i < 100'000; ++i) bytes += std::to_string(i * i % 1009) + ',';
  const std::string packed = Gzip(bytes, Effort::kLittle);
  EXPECT_LT(packed.size(), bytes.size());
  EXPECT_GT(packed.size(), Gzip(bytes).size());
  auto source = ByteSource::FromMemory(packed, "packed");
  auto back = ReadAll(source, 2'000'000);
  ASSERT_TRUE(back);
  EXPECT_EQ(*back, bytes);
  EXPECT_EQ(source.damage(), "");
}

}  // namespace
}  // namespace beryl
