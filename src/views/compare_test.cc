#include "views/compare.h"

#include <cmath>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "base/text.h"
#include "views/matrix_looks.h"
#include "views/report_testing.h"
#include "views/xml_testing.h"

namespace beryl::views {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::vector<std::string> HostileNames() {
  return {"<script>alert(1)</script>",
          "quote\" , & ]]>",
          "emoji \xF0\x9F\x94\xA5",
          std::string("nul") + '\0' + " esc\x1b\n",
          "invalid \xFF\xC3",
          std::string(5'000, 'x'),
          ""};
}

Comparison MakeComparison(size_t runs, const std::string& name = "run") {
  Comparison comparison;
  comparison.per_step = true;
  SimilarityMatrices& found = comparison.similarity;
  found.level = "operations, layers added up";
  for (size_t run = 0; run < runs; ++run) {
    comparison.runs.push_back(MakeReport(name));
    RunTotal total;
    total.run = name + std::to_string(run);
    total.by_phase = {Joules{10.0 + static_cast<double>(run)}, Joules{20}, Joules{}};
    total.attributed = Joules{30.0 + static_cast<double>(run)};
    total.deviation = Joules{1.5};
    total.idle = Joules{4};
    total.steps = 3;
    found.runs.push_back(total.run);
    found.names.push_back(9);
    comparison.totals.push_back(total);
  }
  for (size_t row = 0; row < runs; ++row) {
    for (size_t column = 0; column < runs; ++column) {
      const double apart = static_cast<double>(row) - static_cast<double>(column);
      found.common.push_back(9);
      found.only_here.push_back(0);
      found.energy_pearson.push_back(1 - std::fabs(apart) * 1e-5);
      found.power_pearson.push_back(row == column ? 1 : std::nan(""));
      found.energy_difference.push_back(apart * 0.0123);
      found.power_difference.push_back(-apart * 12.3);
    }
  }
  if (runs == 2) {
    DifferenceRow row;
    row.path = name + "/MatMul";
    row.in_before = row.in_after = true;
    row.before = Joules{10};
    row.after = Joules{16};
    row.difference = Joules{6};
    row.noise = Joules{1};
    DifferenceRow gone = row;
    gone.path = "gone/" + name;
    gone.in_after = false;
    gone.after.reset();
    gone.difference = Joules{-3};
    gone.before = Joules{3};
    gone.is_noise = true;
    gone.noise = Joules{4};
    DifferenceRow unknown;
    unknown.path = "";
    unknown.rest = true;
    unknown.in_before = unknown.in_after = true;
    comparison.differences = {row, gone, unknown};
    comparison.differences_level = "the deepest nodes that explain it";
  }
  comparison.notes = {{NoteKind::kOutsideSteps, name, {2}}};
  return comparison;
}

GateVerdict FailedGate() {
  GateVerdict gate;
  gate.gate.limit = 0.05;
  gate.run = "new";
  gate.before = Joules{100};
  gate.after = Joules{110};
  gate.change = 0.1;
  gate.noise = 0.02;
  gate.certain = true;
  DifferenceRow row;
  row.path = "net/MatMul";
  row.difference = Joules{9};
  gate.grew = {row};
  return gate;
}

std::string TableOf(const Comparison& comparison, int width = 100) {
  ViewOptions options;
  options.width = width;
  return Write(comparison, Format::kTable, ComparePart::kMatrices, options);
}

TEST(LetterOfTest, GoesOnBehindZ) {
  EXPECT_EQ(LetterOf(0), "A");
  EXPECT_EQ(LetterOf(25), "Z");
  EXPECT_EQ(LetterOf(26), "AA");
  EXPECT_EQ(LetterOf(27), "AB");
  EXPECT_EQ(LetterOf(26 * 27), "AAA");
}

TEST(CompareTableTest, SaysTheBasisTotalsAndMatrices) {
  const std::string text = TableOf(MakeComparison(3));
  EXPECT_THAT(text, HasSubstr("energy of a step"));
  EXPECT_THAT(text, HasSubstr("±1.50 J"));
  EXPECT_THAT(text, HasSubstr("similarity of energy"));
  EXPECT_THAT(text, HasSubstr("0.9999")) << "nearly 1 is not 1";
  EXPECT_THAT(text, HasSubstr("12.3 mJ"));
  EXPECT_THAT(text, HasSubstr("note: run: 2.00 J ran outside of every step"));
  EXPECT_THAT(text, Not(HasSubstr("nan")));
}

TEST(CompareTableTest, DifferencesWithTheirNoise) {
  const std::string text = TableOf(MakeComparison(2));
  EXPECT_THAT(text, HasSubstr("+6.00 J"));
  EXPECT_THAT(text, HasSubstr("+60.0%"));
  EXPECT_THAT(text, HasSubstr("gone"));
  EXPECT_THAT(text, HasSubstr("(noise)"));
  EXPECT_THAT(text, HasSubstr("all else"));
  EXPECT_THAT(text, HasSubstr("not known, as a run has fewer than two steps"));
}

TEST(CompareTableTest, NoLineIsWiderThanTheTerminalForTwoRuns) {
  for (const std::string& name : {std::string("run"), std::string(300, 'y') + "/z"}) {
    const std::string text = TableOf(MakeComparison(2, name));
    for (const std::string_view line : Split(text, '\n')) {
      // Notes keep the names of others whole.
      if (line.find("note") != std::string_view::npos) break;
      if (line.find("yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy") !=
          std::string_view::npos) {
        continue;
      }
      EXPECT_LE(DisplayWidth(line), 112U) << line;
    }
  }
}

TEST(CompareTableTest, Gates) {
  Comparison comparison = MakeComparison(2);
  GateVerdict gate = FailedGate();
  comparison.gates = {gate};
  EXPECT_THAT(TableOf(comparison), HasSubstr("FAILED new: energy +10.0% (100 J -> 110 J a step), "
                                             "limit +5.0%, noise ±2.0%"));
  EXPECT_THAT(WriteGates(comparison, {}), HasSubstr("grew: net/MatMul by 9.00 J"));
  comparison.gates[0].certain = false;
  EXPECT_THAT(WriteGates(comparison, {}), HasSubstr("not certain"));
  comparison.gates[0].noise.reset();
  EXPECT_THAT(WriteGates(comparison, {}), HasSubstr("noise not known"));
  comparison.gates[0].change.reset();
  comparison.gates[0].reason = "the energy of new is not known";
  EXPECT_THAT(WriteGates(comparison, {}),
              HasSubstr("FAILED new: energy: the energy of new is not"));
  comparison.gates[0] = FailedGate();
  comparison.gates[0].passed = true;
  EXPECT_THAT(WriteGates(comparison, {}), HasSubstr("passed new"));
  EXPECT_THAT(WriteGates(comparison, {}), Not(HasSubstr("grew")));
}

TEST(CompareJsonTest, UnknownIsNull) {
  Comparison comparison = MakeComparison(2);
  comparison.totals[1].attributed.reset();
  comparison.gates = {FailedGate()};
  const std::string text = Write(comparison, Format::kJson, ComparePart::kMatrices, {});
  EXPECT_THAT(text, HasSubstr("\"schema\":\"beryl.compare/2\",\"provenance\":{"));
  EXPECT_THAT(text, HasSubstr("\"power_pearson\":[[1,null],[null,1]]"));
  EXPECT_THAT(text, HasSubstr("\"attributed_j\":null"));
  EXPECT_THAT(text, HasSubstr("\"difference_j\":null"));
  EXPECT_THAT(text, HasSubstr("\"basis\":\"step\""));
  EXPECT_THAT(text, HasSubstr("\"closure\":["));
  EXPECT_THAT(text, HasSubstr("\"passed\":false"));
}

TEST(CompareCsvTest, EveryPartHasAsManyFieldsAsItsHead) {
  for (const ComparePart part :
       {ComparePart::kMatrices, ComparePart::kTotals, ComparePart::kDifferences}) {
    const std::string text = Write(MakeComparison(2), Format::kCsv, part, {});
    size_t commas = 0;
    for (const std::string_view line : Split(text, '\n')) {
      if (line.empty()) continue;
      const auto here = static_cast<size_t>(std::count(line.begin(), line.end(), ','));
      // The level has a comma of its own, in quotes.
      const size_t quoted = line.find("\"operations, layers added up\"") != std::string_view::npos;
      if (commas == 0) commas = here;
      EXPECT_EQ(here - quoted, commas) << line;
    }
    EXPECT_GT(commas, 0U);
    EXPECT_THAT(text, Not(HasSubstr(",nan")));
  }
}

TEST(ComparePictureTest, IsWellFormedWhateverTheNames) {
  for (const ComparePart part :
       {ComparePart::kMatrices, ComparePart::kTotals, ComparePart::kDifferences}) {
    for (const std::string& name : HostileNames()) {
      for (const size_t runs : {1, 2, 12}) {
        const std::string svg = Write(MakeComparison(runs, name), Format::kSvg, part, {});
        EXPECT_EQ(WrongWithXml(svg), "") << name.substr(0, 50);
        EXPECT_THAT(svg, Not(HasSubstr("nan")));
      }
    }
  }
}

TEST(ComparePictureTest, NearlyOneIsNotOne) {
  const std::string svg = Write(MakeComparison(2), Format::kSvg, ComparePart::kMatrices, {});
  EXPECT_THAT(svg, HasSubstr(">0.9999<"));
  EXPECT_THAT(svg, HasSubstr(">-<")) << "what is not defined";
  EXPECT_THAT(svg, Not(HasSubstr("0.0000")));
}

Precision MakePrecision(const std::string& name = "run") {
  Precision precision;
  precision.runs = {MakeReport(name)};
  precision.labels = {name};
  precision.verdicts = {"a verdict about " + name};
  precision.sparsing = {{1, 4, 1, 1, 0, 0},
                        {2, 8, 0.99995, 0.98, 0.008, -0.001},
                        {4, 16, std::nan(""), std::nan(""), std::nan(""), std::nan("")}};
  precision.widening = {{1, 0.97, 0.02}, {2, 1, 0}};
  precision.sample = "step";
  precision.stability = MakeComparison(2, name).similarity;
  return precision;
}

TEST(PrecisionTableTest, SaysItAll) {
  const std::string text = Write(MakePrecision(), Format::kTable, {});
  EXPECT_TRUE(text.starts_with("a verdict about run"));
  EXPECT_THAT(text, HasSubstr("8.00 ms"));
  EXPECT_THAT(text, HasSubstr("0.9999"));
  EXPECT_THAT(text, HasSubstr("0.8%"));
  EXPECT_THAT(text, HasSubstr("the first n steps against all 2"));
  EXPECT_THAT(text, Not(HasSubstr("nan")));
}

TEST(PrecisionTest, UnknownInTheOtherForms) {
  const std::string json = Write(MakePrecision(), Format::kJson, {});
  EXPECT_THAT(json, HasSubstr("\"schema\":\"beryl.precision/1\",\"provenance\":{"));
  EXPECT_THAT(json, HasSubstr("\"every\":4,\"period_ms\":16,\"pearson\":null"));
  const std::string csv = Write(MakePrecision(), Format::kCsv, {});
  EXPECT_THAT(csv, HasSubstr("sparsing,4,,16,,,,,beryl.precision/1,\n"));
  for (const std::string& name : HostileNames()) {
    const std::string svg = Write(MakePrecision(name), Format::kSvg, {});
    EXPECT_EQ(WrongWithXml(svg), "") << name.substr(0, 50);
    EXPECT_THAT(svg, Not(HasSubstr("nan")));
  }
  Precision bare = MakePrecision();
  bare.widening.clear();
  bare.stability = {};
  EXPECT_EQ(WrongWithXml(Write(bare, Format::kSvg, {})), "");
}

TEST(BudgetViewTest, InTableJsonAndTalk) {
  AccountReport report = MakeReport();
  BudgetVerdict kept;
  kept.budget.pattern = "total";
  kept.budget.limit_energy = Joules{10};
  kept.energy = Joules{4};
  kept.passed = true;
  BudgetVerdict typo;
  typo.budget.pattern = "bert/poler";
  typo.budget.phase = Phase::kBackward;
  typo.budget.limit_share = 0.25;
  typo.budget.line = 7;
  typo.reason = "no path meets the pattern";
  typo.nearest = {"bert/pooler"};
  report.budget = {kept, typo};
  const std::string table = Write(report, Format::kTable, {});
  EXPECT_THAT(table, HasSubstr("kept        4.00 J of 10.0 J"));
  EXPECT_THAT(table, HasSubstr("FAILED"));
  EXPECT_THAT(table, HasSubstr("near: bert/pooler"));
  const std::string json = Write(report, Format::kJson, {});
  EXPECT_THAT(json, HasSubstr("\"budget\":[{\"line\":0,\"pattern\":\"total\",\"phase\":null"));
  EXPECT_THAT(json, HasSubstr("\"phase\":\"backward\",\"limit_j\":null,\"limit_share\":0.25"));
  const std::string said = WriteBudgetFailures(report);
  EXPECT_THAT(said, HasSubstr("budget line 7: bert/poler backward: took ? of 25.0%"));
  EXPECT_THAT(said, Not(HasSubstr("total")));
  EXPECT_THAT(Write(MakeReport(), Format::kJson, {}), Not(HasSubstr("\"budget\"")));
}

}  // namespace
}  // namespace beryl::views
