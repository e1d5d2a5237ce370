#include <limits>

#include <fmt/format.h>

#include "base/matchers_for_test.h"
#include "base/text.h"
#include "views/report_testing.h"
#include "views/views.h"

namespace beryl::views {
namespace {

std::string Table(const AccountReport& report, int width = 100, bool color = false) {
  ViewOptions options;
  options.width = width;
  options.color = color;
  return Write(report, Format::kTable, options);
}

std::string LineWith(const std::string& table, std::string_view text) {
  for (const std::string_view line : Split(table, '\n')) {
    if (line.find(text) != std::string_view::npos) return std::string(line);
  }
  return "";
}

// A tree of one chain, as deep as asked for.
TreeColumns DeepTree(size_t depth) {
  TreeColumns tree = MakeTree("layer");
  tree.tree.nodes.clear();
  for (size_t id = 0; id <= depth; ++id) {
    TreeNode node;
    node.parent = static_cast<NodeId>(id == 0 ? 0 : id - 1);
    node.end = static_cast<NodeId>(depth + 1);
    node.depth = static_cast<uint16_t>(id);
    node.name = fmt::format("level_{}", id);
    tree.tree.nodes.push_back(std::move(node));
  }
  for (Column& column : tree.columns) {
    column.self.assign(depth + 1, 0);
    column.total.assign(depth + 1, 4);
    if (!column.deviation.empty()) column.deviation.assign(depth + 1, 0.25);
  }
  return tree;
}

TEST(TableTest, FitsTheWidthWhateverTheNames) {
  std::vector<std::string> names = {
      "",
      "layer_*",
      std::string(500, 'x'),
      "слой/внимание/весьма-длинное-имя-модуля-которое-никуда-не-помещается",
      "many words in a name that goes on and on and on and on and on and on and on and on",
      "\xff\xfe broken \x01\x1b[31m bytes",
  };
  for (const std::string& name : names) {
    AccountReport report = MakeReport(name);
    for (const bool deviation : {true, false}) {
      if (!deviation) report.folded.columns[0].deviation.clear();
      for (int width = 60; width <= 200; ++width) {
        const std::string table = Table(report, width);
        for (const std::string_view line : Split(table, '\n')) {
          // A single word of running text is somebody's name, and stays whole.
          const std::string_view text = Trim(line);
          const bool one_word = text.find(' ') == std::string_view::npos;
          EXPECT_TRUE(DisplayWidth(line) <= static_cast<size_t>(width) || one_word)
              << width << " columns: " << line;
        }
      }
    }
  }
}

TEST(TableTest, FitsTheWidthHoweverDeepTheTree) {
  AccountReport report = MakeReport();
  report.folded = DeepTree(200);
  ViewOptions options;
  options.depth = 200;
  for (const int width : {60, 80, 100, 200}) {
    options.width = width;
    const std::string table = Write(report, Format::kTable, options);
    for (const std::string_view line : Split(table, '\n')) {
      EXPECT_LE(DisplayWidth(line), static_cast<size_t>(width)) << line;
    }
    EXPECT_THAT(table, HasSubstr("level_0"));
    EXPECT_THAT(table, HasSubstr("…"));
  }
}

TEST(TableTest, EscapesOnlyOnATerminalThatShowsColours) {
  const AccountReport hostile = MakeReport("red \x1b[31m name");
  EXPECT_THAT(Table(hostile), Not(HasSubstr("\x1b")));
  EXPECT_THAT(Table(MakeReport(), 100, true), HasSubstr("\x1b["));
}

TEST(TableTest, ColoursChangeNothingButColours) {
  const std::string colored = Table(MakeReport(), 100, true);
  std::string plain;
  for (size_t i = 0; i < colored.size(); ++i) {
    if (colored[i] == '\x1b') {
      i = colored.find('m', i);
    } else {
      plain += colored[i];
    }
  }
  EXPECT_EQ(plain, Table(MakeReport()));
}

TEST(TableTest, UnknownEnergyIsAQuestionMark) {
  const std::string table = Table(MakeReport());
  const std::string node = LineWith(table, "unmetered");
  EXPECT_THAT(node, HasSubstr("?"));
  EXPECT_THAT(node, Not(HasSubstr(" J")));
  const std::string row = LineWith(table, "unmetered/Conv2D");
  EXPECT_THAT(row, HasSubstr("?"));
  EXPECT_THAT(row, Not(HasSubstr(" J")));
  EXPECT_THAT(row, Not(HasSubstr("%")));
  EXPECT_THAT(row, HasSubstr("7.00 s"));
}

TEST(TableTest, AWhollyUnknownRunIsNotZero) {
  AccountReport report = MakeReport();
  for (TreeColumns* tree : {&report.tree, &report.folded}) {
    tree->columns.resize(1);
    for (auto* values : {&tree->columns[0].self, &tree->columns[0].total}) {
      values->assign(values->size(), std::numeric_limits<double>::quiet_NaN());
    }
    tree->columns[0].deviation.clear();
  }
  const std::string table = Table(report);
  EXPECT_THAT(LineWith(table, "model"), Not(HasSubstr("0 J")));
  EXPECT_THAT(LineWith(table, "model"), HasSubstr("?"));
}

TEST(TableTest, ShowsTheBalancesAndHowTheyCloseAndTheNotes) {
  const std::string table = Table(MakeReport(), 140);
  EXPECT_THAT(table, HasSubstr("CPU:0"));
  EXPECT_THAT(table, HasSubstr("feeds operations on CPU:0 (the host)"));
  EXPECT_THAT(table, HasSubstr("2,000 readings"));
  EXPECT_THAT(table, HasSubstr("10.0 J read, less 1.00 J contained"));
  EXPECT_THAT(table, HasSubstr("closure:"));
  EXPECT_THAT(table, HasSubstr("note: GPU:0 has operations but no power"));
  EXPECT_THAT(table, HasSubstr("dropped 3: no duration in layer_* (first at byte 77)"));
  EXPECT_THAT(table, HasSubstr("layer_0-11 ×12"));
  EXPECT_THAT(table, HasSubstr("[synthetic]"));
  EXPECT_THAT(table, HasSubstr("clock offset 1.5 us: as given; 3 steps"));
}

TEST(TableTest, WhatTheDescriptionLacksIsSaidWithItsEnergy) {
  AccountReport report = MakeReport();
  ModelAlignment alignment;
  alignment.module_energy = Joules{10};
  alignment.matched_energy = Joules{3};
  for (int i = 0; i < 7; ++i)
    alignment.unmatched.push_back({fmt::format("Other_{}", i), Joules{1}});
  report.alignment = alignment;
  std::string table = Table(report);
  EXPECT_NE(LineWith(table, "not in the description: Other_4 (1.00 J)"), "");
  EXPECT_NE(LineWith(table, "not in the description: 2 more modules (2.00 J)"), "");
  EXPECT_EQ(LineWith(table, "almost no energy"), "");
  for (int i = 5; i < 7; ++i) report.alignment->unmatched[static_cast<size_t>(i)].energy = Joules{};
  table = Table(report);
  EXPECT_NE(LineWith(table, "not in the description: 2 more modules with almost no energy"), "");
}

TEST(TableTest, APassIsAGenerationIfThereIsAPrompt) {
  AccountReport report = MakeReport();
  report.alignment.emplace();
  report.alignment->passes = 3;
  EXPECT_NE(LineWith(Table(report), "of one forward pass; the run has 3"), "");
  report.alignment->input.prompt = 5;
  EXPECT_NE(LineWith(Table(report), "of one generation; the run has 3"), "");
}

TEST(TableTest, TopAndDepthAreKept) {
  ViewOptions options;
  options.top = 1;
  options.depth = 1;
  const std::string table = Write(MakeReport(), Format::kTable, options);
  EXPECT_THAT(table, HasSubstr("1 more"));
  EXPECT_THAT(table, Not(HasSubstr("unmetered/Conv2D")));
  EXPECT_THAT(table, Not(HasSubstr("─ MatMul")));
}

}  // namespace
}  // namespace beryl::views
