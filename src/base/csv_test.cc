#include "base/csv.h"

#include <random>

#include "base/matchers_for_test.h"

namespace beryl {
namespace {

using Row = std::vector<std::string>;

struct Line {
  Row fields;
  uint64_t line;
  uint64_t offset;
  bool well_formed;
  bool operator==(const Line&) const = default;
};

std::vector<Line> LinesOf(CsvReader& reader) {
  std::vector<Line> lines;
  for (CsvFields fields; reader.Next(fields);) {
    lines.push_back(
        {Row(fields.begin(), fields.end()), reader.line(), reader.offset(), reader.well_formed()});
  }
  return lines;
}

// From memory and as a stream: both give the same.
std::vector<Line> Read(const std::string& text, CsvComments comments = CsvComments::kHash) {
  std::string copy = text;
  CsvReader in_memory(copy, comments);
  std::vector<Line> lines = LinesOf(in_memory);
  ByteSource source = ByteSource::FromMemory(text, "test.csv");
  CsvReader stream(source, comments);
  EXPECT_EQ(LinesOf(stream), lines);
  EXPECT_TRUE(stream.status());
  return lines;
}

std::vector<Row> RowsOf(const std::string& text) {
  std::vector<Row> rows;
  for (const Line& line : Read(text)) rows.push_back(line.fields);
  return rows;
}

TEST(CsvTest, FieldsAreBetweenCommas) {
  EXPECT_THAT(RowsOf("a,b,c\n1,,3\n,\n"),
              ElementsAre(Row{"a", "b", "c"}, Row{"1", "", "3"}, Row{"", ""}));
  EXPECT_THAT(RowsOf(""), ElementsAre());
  EXPECT_THAT(RowsOf("a"), ElementsAre(Row{"a"}));
}

TEST(CsvTest, LineEndsBlanksAndAByteOrderMarkAreTakenAsTheyCome) {
  EXPECT_THAT(RowsOf("\xEF\xBB\xBF a ,\tb\r\n\r\n \t\n1 1, 2 \n3,4\r"),
              ElementsAre(Row{"a", "b"}, Row{"1 1", "2"}, Row{"3", "4"}));
  EXPECT_THAT(RowsOf("\xEF\xBB\xBF"), ElementsAre());
}

TEST(CsvTest, QuotedFieldsMayHaveCommasAndQuotes) {
  EXPECT_THAT(RowsOf("\"a,b\", \"say \"\"yes\"\"\" ,\"\"\r\n\" c \",d"),
              ElementsAre(Row{"a,b", "say \"yes\"", ""}, Row{"c", "d"}));
  // Only at the start of a field.
  EXPECT_THAT(RowsOf("5\" disk,x"), ElementsAre(Row{"5\" disk", "x"}));
}

TEST(CsvTest, ALostQuoteCostsALine) {
  const std::vector<Line> lines = Read("\"a,b\n1,2\n\"c\"d,e\n3,4\n");
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_FALSE(lines[0].well_formed);
  EXPECT_EQ(lines[1], (Line{{"1", "2"}, 2, 5, true}));
  EXPECT_FALSE(lines[2].well_formed);
  EXPECT_TRUE(lines[3].well_formed);
}

TEST(CsvTest, LinesAreCountedAndPlaced) {
  const std::string text = "# head\na,b\n\n  # more\n1,2\n";
  EXPECT_THAT(Read(text), ElementsAre(Line{{"a", "b"}, 2, 7, true}, Line{{"1", "2"}, 5, 21, true}));
  EXPECT_EQ(Read(text, CsvComments::kNone).size(), 4U);
  std::string copy = "\n \"x\" , y \r\n";
  CsvReader reader(copy, CsvComments::kNone);
  CsvFields fields;
  ASSERT_TRUE(reader.Next(fields));
  EXPECT_EQ(reader.text(), "\"x\" , y");
  EXPECT_FALSE(reader.Next(fields));
}

TEST(CsvTest, ColumnsAreFoundByName) {
  const CsvFields header = {"a", "b", "a"};
  EXPECT_EQ(FindCsvColumn(header, "b"), 1U);
  EXPECT_EQ(FindCsvColumn(header, "a"), 0U);
  EXPECT_EQ(FindCsvColumn(header, "c"), kNoCsvColumn);
  EXPECT_EQ(CsvField(header, 1), "b");
  EXPECT_EQ(CsvField(header, 3), "");
  EXPECT_EQ(CsvField(header, kNoCsvColumn), "");
}

// Lines that lie across the pieces in which a stream is read, some longer than a piece.
TEST(CsvTest, AStreamOfAnyLengthIsReadInPieces) {
  std::mt19937_64 random(3);
  std::string text = "\xEF\xBB\xBF";
  std::vector<uint64_t> offsets;
  std::vector<size_t> sizes;
  while (text.size() < (size_t{9} << 20)) {
    const size_t size = random() % 500 == 0 ? random() % (size_t{3} << 20) : random() % 3000;
    offsets.push_back(text.size());
    sizes.push_back(size);
    text += "x,\"";
    text.append(size, 'y');
    text += random() % 2 == 0 ? "\"\n" : "\"\r\n";
  }
  ByteSource source = ByteSource::FromMemory(text, "test.csv");
  CsvReader reader(source, CsvComments::kHash);
  CsvFields fields;
  size_t line = 0;
  for (; reader.Next(fields); ++line) {
    ASSERT_EQ(fields.size(), 2U);
    ASSERT_EQ(fields[1].size(), sizes[line]);
    ASSERT_EQ(reader.offset(), offsets[line]);
    ASSERT_EQ(reader.line(), line + 1);
  }
  EXPECT_TRUE(reader.status());
  EXPECT_EQ(line, offsets.size());
}

TEST(CsvTest, WhatHasNoLinesIsNoCsv) {
  std::string text = "a,b\n";
  text.append(size_t{70} << 20, '\0');
  ByteSource source = ByteSource::FromMemory(text, "disk.img");
  CsvReader reader(source, CsvComments::kHash);
  CsvFields fields;
  EXPECT_TRUE(reader.Next(fields));
  EXPECT_FALSE(reader.Next(fields));
  ASSERT_FALSE(reader.status());
  EXPECT_THAT(reader.status().error().message,
              HasSubstr("disk.img: line 2, at byte 4, is longer than 4 MiB"));
}

}  // namespace
}  // namespace beryl
