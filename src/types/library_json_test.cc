#include "types/library_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace beryl {
namespace {

using testing::HasSubstr;

LibraryEntry AnEntry() {
  LibraryEntry entry;
  entry.id = "0123456789abcdef";
  entry.kind = EntryKind::kPrediction;
  entry.form = RunForm::kTraces;
  entry.name = "a \"name\"";
  entry.tags = {"a", "b"};
  entry.notes = "two\nlines \\n";
  entry.created = Nanos{1'790'000'000'123'456'789};
  entry.model = "gpt2";
  entry.request = R"({"batch":8,"list":[1,{"a":"}"}]})";
  entry.origin = Origin::kUncalibrated;
  entry.figures.energy_j = 1.0 / 3;
  entry.files = {{{std::string(64, 'a'), 12}, "r.json", FileRole::kResult, "0", "application/json"},
                 {{std::string(64, 'b'), 0}, "", FileRole::kOther, "", ""}};
  return entry;
}

TEST(LibraryJsonTest, ReadsWhatItWrote) {
  LibraryEntry empty;
  empty.id = "abcdefghjkmnpqrs";
  const std::vector<LibraryEntry> entries = {AnEntry(), empty};
  const auto read = ReadManifest(WriteManifest(entries, {}), "manifest.json");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, entries);
}

TEST(LibraryJsonTest, SaysWhatIsWrongWithAManifest) {
  const std::string good = WriteManifest({AnEntry()}, {});
  const auto message = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    if (at != std::string::npos) text.replace(at, from.size(), to);
    const auto read = ReadManifest(text, "m");
    return read ? "nothing" : read.error().message;
  };
  EXPECT_THAT(message("0123456789abcdef", "../../etc/passwd"), HasSubstr("valid 'id'"));
  EXPECT_THAT(message("\"prediction\"", "\"dream\""), HasSubstr("entry 1: its 'kind'"));
  EXPECT_THAT(message(std::string(64, 'a'), "../x"), HasSubstr("'files'"));
  EXPECT_THAT(message("manifest/1", "manifest/2"), HasSubstr("no manifest"));
  EXPECT_THAT(message("\"entries\"", "\"entry\""), HasSubstr("no list"));
  EXPECT_THAT(message("-09-21T", "-02-31T"), HasSubstr("'created'"));
  EXPECT_THAT(message("\"bytes\": 0", "\"bytes\": -1"), HasSubstr("'bytes'"));
  EXPECT_THAT(message("{\"batch\":8", "{\"batch\" 8"), HasSubstr("m:"));
  EXPECT_FALSE(ReadManifest("", "m"));
  EXPECT_FALSE(ReadManifest("[]", "m"));
  EXPECT_FALSE(ReadManifest(good.substr(0, good.size() / 2), "m"));
}

TEST(LibraryJsonTest, KeepsTimesToTheNanosecond) {
  EXPECT_EQ(TimeText(Nanos{0}), "1970-01-01T00:00:00.000000000Z");
  EXPECT_EQ(TimeText(Nanos{-1}), "1969-12-31T23:59:59.999999999Z");
  for (const int64_t time : {int64_t{0}, int64_t{-1}, int64_t{1'790'000'000'000'000'001}}) {
    EXPECT_EQ(ParseTimeText(TimeText(Nanos{time})), Nanos{time});
  }
  EXPECT_EQ(ParseTimeText("2026-11-18"), ParseTimeText("2026-11-18T00:00:00Z"));
  EXPECT_EQ(TimeText(*ParseTimeText("2026-11-18")), "2026-11-18T00:00:00.000000000Z");
  EXPECT_FALSE(ParseTimeText("yesterday"));
  EXPECT_FALSE(ParseTimeText("2026-11-1x"));
  EXPECT_FALSE(ParseTimeText("2026-13-18T01:32:48.000000000Z"));
  EXPECT_FALSE(ParseTimeText("9999-12-31T23:59:59.000000000Z"));
}

}  // namespace
}  // namespace beryl
