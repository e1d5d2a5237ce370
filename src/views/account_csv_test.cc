#include <cmath>
#include <optional>

#include "base/matchers_for_test.h"
#include "views/report_testing.h"
#include "views/text/csv_table.h"
#include "views/views.h"

namespace beryl::views {
namespace {

// Rows of fields, by the rules of RFC 4180.
std::vector<std::vector<std::string>> ParseCsv(const std::string& text) {
  std::vector<std::vector<std::string>> rows(1);
  rows.back().emplace_back();
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '"' && i + 1 < text.size() && text[i + 1] == '"') {
      rows.back().back() += text[++i];
    } else if (c == '"') {
      quoted = !quoted;
    } else if (!quoted && c == ',') {
      rows.back().emplace_back();
    } else if (!quoted && c == '\n') {
      if (i + 1 < text.size()) rows.push_back({""});
    } else {
      rows.back().back() += c;
    }
  }
  EXPECT_FALSE(quoted) << "a quote was left open";
  return rows;
}

TEST(CsvTest, NamesComeBackAsTheyWere) {
  for (const std::string& name :
       {std::string("plain"), std::string("a,b"), std::string("say \"hi\""), std::string("\""),
        std::string(",,\"\",")}) {
    const auto rows = ParseCsv(Write(MakeReport(name), Format::kCsv, {}));
    ASSERT_EQ(rows.size(), 3U);
    for (const auto& row : rows) EXPECT_EQ(row.size(), rows[0].size());
    EXPECT_EQ(rows[1][0], name + "/MatMul");
    EXPECT_EQ(rows[2][1], name);
  }
}

TEST(CsvTest, AnEstimateIsNotMeasured) {
  AccountReport report = MakeReport();
  report.operations[0].origin = Origin::kEstimated;
  EXPECT_EQ(ParseCsv(Write(report, Format::kCsv, {}))[1][10], "estimated");
}

TEST(CsvTest, LineBreaksInNamesMakeNoRows) {
  EXPECT_EQ(ParseCsv(Write(MakeReport("two\nlines\r"), Format::kCsv, {})).size(), 3U);
}

TEST(CsvTest, UnknownNumbersAreEmptyFields) {
  const auto rows = ParseCsv(Write(MakeReport(), Format::kCsv, {}));
  EXPECT_THAT(rows[0], ElementsAre("name", "device", "phase", "type", "energy_j", "seconds",
                                   "power_w", "count", "mean_step_j", "deviation_step_j", "source",
                                   "schema", "provenance"));
  EXPECT_THAT(rows[1], ElementsAre("layer_*/MatMul", "CPU:0", "forward", "MatMul", "4", "2", "2",
                                   "1234567", "1.3", "0.5", "measured", "beryl.account/1",
                                   "beryl test; a box; from /tmp/layer_*; 2026-11-18T01:32:48Z"));
  EXPECT_THAT(rows[2], ElementsAre("unmetered/Conv2D", "layer_*", "backward", "layer_*", "", "7",
                                   "", "3", "", "", "unknown", "beryl.account/1", ""));
}

TEST(CsvTableTest, EveryKindOfFieldIsWrittenAndOnlyTheFirstRowIsStamped) {
  CsvTable csv("beryl.x/1", {"beryl", "1", "", "box, 2 CPUs", {}, "", std::nullopt, "now"});
  csv.Field("a,b").Field("c").EndRow();
  csv.Row(true, -7, uint64_t{18446744073709551615U}, 0.1, std::string("say \"hi\""));
  csv.Row(std::nan(""), std::optional<double>(), std::optional(false), "", std::string_view("x"));
  EXPECT_EQ(csv.Take(),
            "\"a,b\",c,schema,provenance\n"
            "true,-7,18446744073709551615,0.1,\"say \"\"hi\"\"\",beryl.x/1,\"beryl 1; box, 2 CPUs; "
            "now\"\n"
            ",,false,,x,beryl.x/1,\n");
}

TEST(CsvTest, TopLeavesOut) {
  ViewOptions options;
  options.top = 1;
  EXPECT_EQ(ParseCsv(Write(MakeReport(), Format::kCsv, options)).size(), 2U);
  options.top = 0;
  EXPECT_EQ(ParseCsv(Write(MakeReport(), Format::kCsv, options)).size(), 1U);
}

TEST(CsvTest, IsTheTreeWhereTheTreeIsAskedFor) {
  ViewOptions options;
  options.depth = 0;
  options.columns = {"energy"};
  const auto rows = ParseCsv(Write(MakeReport("name"), Format::kCsv, options));
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].front(), "depth");
  EXPECT_THAT(rows[0], Contains("energy_j"));
  EXPECT_THAT(rows[0], Not(Contains("device")));
  EXPECT_EQ(rows[1].front(), "0");
}

TEST(CsvTest, LabelsMayNotTakeTheNamesOfWhatANodeHas) {
  TreeColumns tree = MakeReport("name").tree;
  EXPECT_TRUE(CheckLabels(tree));
  tree.columns.front().key = "level";
  const auto checked = CheckLabels(tree);
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().code, ErrorCode::kMisuse);
  EXPECT_THAT(checked.error().message, HasSubstr("'level'"));
}

}  // namespace
}  // namespace beryl::views
