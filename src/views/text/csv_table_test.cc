#include "views/text/csv_table.h"

#include <random>

#include "base/csv.h"
#include "base/matchers_for_test.h"
#include "views/views.h"

namespace beryl::views {
namespace {

std::string CellOf(std::string_view text) {
  CsvTable csv("s", {}, "name");
  csv.Row(text);
  const std::string table = csv.Take();
  const size_t start = table.find('\n') + 1;
  return table.substr(start, table.rfind(",s,") - start);
}

TEST(CsvTableTest, WhatASpreadsheetWouldRunGetsAnApostrophe) {
  EXPECT_EQ(CellOf("=1+1"), "'=1+1");
  EXPECT_EQ(CellOf("+cmd|' /C calc'!A0"), "'+cmd|' /C calc'!A0");
  EXPECT_EQ(CellOf("-2+3"), "'-2+3");
  EXPECT_EQ(CellOf("@SUM(A1)"), "'@SUM(A1)");
  EXPECT_EQ(CellOf("=HYPERLINK(\"http://x\",\"y\")"),
            "\"'=HYPERLINK(\"\"http://x\"\",\"\"y\"\")\"");
  for (const char* plain : {"", "a=b", "-1.5", "+3e4", "layer_1/dense", "a,b"}) {
    EXPECT_THAT(CellOf(plain), testing::Not(HasSubstr("'"))) << plain;
  }
  CsvTable numbers("s", {}, "x");
  numbers.Row(-1.5);
  EXPECT_THAT(numbers.Take(), HasSubstr("\n-1.5,"));
}

TEST(CsvTableTest, WithoutRowsItStillSaysThatInputIsIncomplete) {
  Provenance provenance;
  EXPECT_EQ(CsvTable("s", provenance, "a,b").Take(), "a,b,schema,provenance\n");
  provenance.incomplete = {{NoteKind::kNoOperations, "x.json"}};
  EXPECT_THAT(CsvTable("s", provenance, "a,b").Take(),
              MatchesRegex("a,b,schema,provenance\n,,s,\"?INCOMPLETE input: .*\n"));
  CsvTable named("s", provenance);
  named.Field("a").Field("b").EndRow();
  EXPECT_THAT(named.Take(), HasSubstr("\n,,s,"));
  CsvTable rows("s", provenance, "a");
  rows.Row("1");
  EXPECT_THAT(rows.Take(), HasSubstr("\n1,s,"));
}

TEST(CsvTableTest, RawUndoesTheApostrophesAndNothingElse) {
  std::mt19937 random(3);
  constexpr std::string_view kLetters = "=+-@'\",a1 ";
  for (int round = 0; round < 3000; ++round) {
    std::vector<std::string> cells(3);
    for (std::string& cell : cells) {
      for (size_t size = random() % 6; size > 0; --size) {
        cell += kLetters[random() % kLetters.size()];
      }
    }
    CsvTable csv("s", {}, "a,b,c");
    csv.Row(cells[0], cells[1], cells[2]);
    std::string raw = RawCsv(csv.Take());
    CsvReader reader(raw, CsvComments::kNone);
    CsvFields fields;
    ASSERT_TRUE(reader.Next(fields) && reader.Next(fields));
    ASSERT_TRUE(reader.well_formed());
    for (size_t i = 0; i < 3; ++i) {
      // The reader trims blanks.
      const size_t from = std::min(cells[i].find_first_not_of(' '), cells[i].size());
      const size_t to = cells[i].find_last_not_of(' ') + 1;
      ASSERT_EQ(fields[i], cells[i].substr(from, to < from ? 0 : to - from)) << raw;
    }
  }
}

}  // namespace
}  // namespace beryl::views
