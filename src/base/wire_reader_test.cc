#include "base/wire_reader.h"

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/matchers_for_test.h"
#include "base/wire_for_test.h"

namespace beryl {
namespace {

// Everything in a message, with the fields up to 9 taken for messages themselves.
std::string Walk(WireReader& wire) {
  std::string text;
  while (wire.Next()) {
    if (!text.empty()) text += ' ';
    if (wire.IsBytes() && wire.field() < 10 && wire.Enter()) {
      const uint32_t field = wire.field();
      const std::string inside = Walk(wire);
      wire.Leave();
      text += fmt::format("{}{{{}}}", field, inside);
    } else if (wire.IsBytes()) {
      text += fmt::format("{}='{}'", wire.field(), wire.Text(100));
    } else {
      text += fmt::format("{}={}", wire.field(), wire.Unsigned());
    }
  }
  return text;
}

struct Walked {
  std::string text;
  std::vector<std::string> defects;
  bool truncated = false;
  uint64_t broke_at = 0;
};

Walked WalkBytes(std::string_view bytes) {
  ByteSource source = ByteSource::FromMemory(bytes, "bytes");
  WireReader wire(source);
  Walked walked;
  walked.text = Walk(wire);
  for (const WireReader::Defect& defect : wire.defects()) {
    walked.defects.push_back(
        fmt::format("{} x{} @{}", defect.what, defect.count, defect.first_offset));
  }
  walked.truncated = wire.truncated();
  walked.broke_at = wire.broke_at();
  EXPECT_LE(wire.position(), bytes.size());
  return walked;
}

TEST(WireReaderTest, ReadsNumbersTextsAndMessages) {
  const std::string bytes = WireNumber(1, 300) + WireBytes(11, "text") +
                            WireBytes(2, WireNumber(1, -1) + WireBytes(3, WireNumber(4, 5))) +
                            WireTag(5, 1) + std::string("\x01\0\0\0\0\0\0\x80", 8) + WireTag(6, 5) +
                            std::string("\x02\0\0\0", 4);
  const Walked walked = WalkBytes(bytes);
  EXPECT_EQ(walked.text,
            "1=300 11='text' 2{1=18446744073709551615 3{4=5}} 5=9223372036854775809 6=2");
  EXPECT_THAT(walked.defects, IsEmpty());
  EXPECT_FALSE(walked.truncated);
}

TEST(WireReaderTest, WhatIsNotLookedAtIsSkipped) {
  const std::string bytes =
      WireBytes(1, WireNumber(1, 7) + WireBytes(12, std::string(5000, 'x'))) + WireNumber(2, 8);
  ByteSource source = ByteSource::FromMemory(bytes, "bytes");
  WireReader wire(source);
  ASSERT_TRUE(wire.Next());
  ASSERT_TRUE(wire.Enter());
  ASSERT_TRUE(wire.Next());
  EXPECT_EQ(wire.Signed(), 7);
  wire.Leave();
  ASSERT_TRUE(wire.Next());
  EXPECT_EQ(wire.field(), 2u);
  EXPECT_EQ(wire.Signed(), 8);
  EXPECT_EQ(wire.offset(), bytes.size() - 2);
  EXPECT_FALSE(wire.Next());
  EXPECT_FALSE(wire.Next());
}

TEST(WireReaderTest, ATextMayBeLongerThanABufferAndIsCutWhereAsked) {
  std::string long_text;
  for (int i = 0; i < 200'000; ++i) long_text += fmt::format("{},", i);
  const std::string bytes =
      WireBytes(1, WireBytes(11, long_text) + WireNumber(2, 1)) + WireBytes(11, long_text);
  ByteSource source = ByteSource::FromMemory(bytes, "bytes");
  WireReader wire(source);
  ASSERT_TRUE(wire.Next());
  ASSERT_TRUE(wire.Enter());
  ASSERT_TRUE(wire.Next());
  EXPECT_EQ(wire.Text(SIZE_MAX), long_text);
  ASSERT_TRUE(wire.Next());
  EXPECT_EQ(wire.Signed(), 1);
  wire.Leave();
  ASSERT_TRUE(wire.Next());
  EXPECT_EQ(wire.Text(600'000), std::string_view(long_text).substr(0, 600'000));
  EXPECT_FALSE(wire.Next());
  EXPECT_FALSE(wire.truncated());
}

TEST(WireReaderTest, AFieldOfAnotherKindIsNotTakenForOne) {
  const std::string bytes = WireNumber(1, 5) + WireBytes(2, "abc");
  ByteSource source = ByteSource::FromMemory(bytes, "bytes");
  WireReader wire(source);
  ASSERT_TRUE(wire.Next());
  EXPECT_FALSE(wire.Enter());
  EXPECT_EQ(wire.Text(10), "");
  ASSERT_TRUE(wire.Next());
  EXPECT_FALSE(wire.IsNumber());
  EXPECT_EQ(wire.Unsigned(), 0u);
  EXPECT_FALSE(wire.Next());
}

TEST(WireReaderTest, ALengthThatLeadsOutCostsItsMessageOnly) {
  const std::string broken = WireNumber(1, 1) + WireTag(11, 2) + WireVarint(200) + "short";
  const std::string bytes = WireBytes(2, broken) + WireBytes(2, WireNumber(1, 2));
  const Walked walked = WalkBytes(bytes);
  EXPECT_EQ(walked.text, "2{1=1} 2{1=2}");
  EXPECT_THAT(walked.defects, ElementsAre("a field that leads out of its message x1 @4"));
  EXPECT_FALSE(walked.truncated);
}

TEST(WireReaderTest, ANumberThatLeadsOutCostsTheMessagesItReachesInto) {
  // The inner message ends within a number, so where the next field starts is not known.
  const std::string inner = WireNumber(1, 1) + WireTag(1, 0) + "\xFF";
  const std::string bytes = WireBytes(2, WireBytes(3, inner) + "\xFF\x01" + WireNumber(4, 4)) +
                            WireBytes(2, WireNumber(1, 2));
  const Walked walked = WalkBytes(bytes);
  EXPECT_EQ(walked.text, "2{3{1=1}} 2{1=2}");
  EXPECT_THAT(walked.defects, SizeIs(1));
}

TEST(WireReaderTest, TagsThatCannotBeCostTheirMessage) {
  for (const char* tag : {"\x0E", "\x0F", "\x0C", "\x07"}) {
    const std::string bytes =
        WireBytes(2, WireNumber(1, 1) + tag + WireNumber(1, 1)) + WireNumber(3, 3);
    const Walked walked = WalkBytes(bytes);
    EXPECT_EQ(walked.text, "2{1=1} 3=3");
    EXPECT_THAT(walked.defects, ElementsAre("a tag that cannot be x1 @4"));
  }
  EXPECT_THAT(WalkBytes(WireNumber(1, 1) + std::string("\0\x01\x01\x01", 4)).defects, SizeIs(1));
}

TEST(WireReaderTest, ANumberOfTooManyBytesIsRefused) {
  const std::string bytes =
      WireBytes(2, WireTag(1, 0) + std::string(11, '\xFF') + WireNumber(1, 1)) + WireNumber(3, 3);
  const Walked walked = WalkBytes(bytes);
  EXPECT_EQ(walked.text, "2{} 3=3");
  EXPECT_THAT(walked.defects, ElementsAre("a number of more than ten bytes x1 @2"));
}

TEST(WireReaderTest, GroupsAreSteppedOver) {
  const std::string group = WireTag(7, 3) + WireNumber(1, 1) + WireTag(8, 3) + WireBytes(2, "ab") +
                            WireTag(8, 4) + WireTag(9, 5) + "1234" + WireTag(7, 4);
  EXPECT_EQ(WalkBytes(WireNumber(1, 1) + group + WireNumber(2, 2)).text, "1=1 7=0 2=2");
  // One that never ends.
  std::string open = WireNumber(1, 1);
  for (int i = 0; i < 1000; ++i) open += WireTag(7, 3);
  EXPECT_THAT(WalkBytes(WireBytes(2, open) + WireNumber(3, 3)).text, "2{1=1} 3=3");
}

TEST(WireReaderTest, DepthIsBounded) {
  std::string bytes = WireNumber(1, 1);
  for (int i = 0; i < 100; ++i) bytes = WireBytes(2, bytes);
  const Walked walked = WalkBytes(bytes + WireNumber(3, 3));
  EXPECT_THAT(walked.defects, SizeIs(1));
  EXPECT_TRUE(walked.text.ends_with(" 3=3")) << walked.text;
}

TEST(WireReaderTest, AFileCutAnywhereGivesWhatCameBefore) {
  std::string bytes;
  std::vector<size_t> ends = {0};
  for (int i = 0; i < 4; ++i) {
    bytes += WireBytes(2, WireNumber(1, 1000 + i) + WireBytes(11, "text"));
    ends.push_back(bytes.size());
  }
  const std::string whole = WalkBytes(bytes).text;
  for (size_t size = 0; size <= bytes.size(); ++size) {
    const Walked walked = WalkBytes(std::string_view(bytes).substr(0, size));
    const bool at_end = std::find(ends.begin(), ends.end(), size) != ends.end();
    EXPECT_EQ(walked.truncated, !at_end) << size;
    EXPECT_THAT(walked.defects, IsEmpty());
    // The messages that are whole.
    const auto count = std::upper_bound(ends.begin(), ends.end(), size) - ends.begin() - 1;
    for (int i = 0; i < count; ++i) {
      EXPECT_NE(walked.text.find(fmt::format("2{{1={} 11='text'}}", 1000 + i)), std::string::npos);
    }
    if (!at_end) {
      EXPECT_LT(walked.broke_at, size + 1);
      EXPECT_GE(walked.broke_at, ends[static_cast<size_t>(count)]);
    }
  }
}

// Neither the file nor the message in it ends where 31 bits do.
TEST(WireReaderTest, MessagesMayBeLargerThanTwoGigabytes) {
  const auto path =
      std::filesystem::temp_directory_path() / fmt::format("beryl-wire-{}.pb", ::getpid());
  constexpr uint64_t kHole = (uint64_t{1} << 31) + 11;
  const std::string behind = WireNumber(3, 33);
  const std::string head = WireTag(11, 2) + WireVarint(kHole);
  const std::string start = WireTag(2, 2) + WireVarint(head.size() + kHole + behind.size()) + head;
  std::FILE* file = std::fopen(path.c_str(), "wb");
  ASSERT_NE(file, nullptr);
  std::fwrite(start.data(), 1, start.size(), file);
  ASSERT_EQ(::fseeko(file, static_cast<off_t>(start.size() + kHole), SEEK_SET), 0);
  const std::string end = behind + WireNumber(4, 44);
  std::fwrite(end.data(), 1, end.size(), file);
  std::fclose(file);
  auto source = ByteSource::Open(path);
  ASSERT_TRUE(source);
  WireReader wire(*source);
  ASSERT_TRUE(wire.Next());
  ASSERT_TRUE(wire.Enter());
  ASSERT_TRUE(wire.Next());
  EXPECT_EQ(wire.field(), 11u);
  ASSERT_TRUE(wire.Next());
  EXPECT_EQ(wire.Signed(), 33);
  EXPECT_EQ(wire.offset(), start.size() + kHole);
  EXPECT_FALSE(wire.Next());
  wire.Leave();
  ASSERT_TRUE(wire.Next());
  EXPECT_EQ(wire.Signed(), 44);
  EXPECT_FALSE(wire.Next());
  EXPECT_FALSE(wire.truncated());
  EXPECT_EQ(wire.position(), start.size() + kHole + end.size());
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace beryl
