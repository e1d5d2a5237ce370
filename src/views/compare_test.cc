#include "views/compare.h"

#include <cmath>

#include <fmt/format.h>

#include "base/json.h"
#include "base/matchers_for_test.h"
#include "base/text.h"
#include "views/draw/heat_map.h"
#include "views/draw/xml_testing.h"
#include "views/report_testing.h"

namespace beryl::views {
namespace {

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
  found.level = "operations, layers folded";
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
    row.p_value = 0.001;
    row.found = true;
    DifferenceRow gone = row;
    gone.path = "gone/" + name;
    gone.in_after = false;
    gone.after.reset();
    gone.difference = Joules{-3};
    gone.before = Joules{3};
    gone.is_noise = true;
    gone.p_value = 0.2;
    gone.found = false;
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
  gate.change.before = Joules{100};
  gate.change.after = Joules{110};
  gate.change.change = 0.1;
  gate.change.low = 0.08;
  gate.change.high = 0.12;
  gate.certain = true;
  DifferenceRow row;
  row.path = "net/MatMul";
  row.difference = Joules{9};
  row.found = true;
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
  EXPECT_THAT(text, HasSubstr("energy per step"));
  EXPECT_THAT(text, HasSubstr("±1.50 J"));
  EXPECT_THAT(text, HasSubstr("similarity of energy"));
  EXPECT_THAT(text, HasSubstr("0.9999")) << "nearly 1 is not 1";
  EXPECT_THAT(text, HasSubstr("12.3 mJ"));
  EXPECT_THAT(text, HasSubstr("note: run: 2.00 J lies outside every step"));
  EXPECT_THAT(text, Not(HasSubstr("nan")));
}

TEST(CompareTableTest, DifferencesWithTheirNoise) {
  const std::string text = TableOf(MakeComparison(2));
  EXPECT_THAT(text, HasSubstr("+6.00 J"));
  EXPECT_THAT(text, HasSubstr("+60.0%"));
  EXPECT_THAT(text, HasSubstr("gone"));
  EXPECT_THAT(text, HasSubstr("(noise)"));
  EXPECT_THAT(text, HasSubstr("all else"));
  EXPECT_THAT(text, HasSubstr("1 of 3 lines is more than noise"));
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
  comparison.gates = {FailedGate()};
  EXPECT_THAT(TableOf(comparison),
              HasSubstr("FAILED new: energy +10.0% (100 J -> 110 J per step), limit +5.0%, 95 % "
                        "between"));
  EXPECT_THAT(WriteGates(comparison, {}), HasSubstr("between +8.0% and +12.0%;\n  certain"));
  EXPECT_THAT(WriteGates(comparison, {}), HasSubstr("grew: net/MatMul by 9.00 J"));
  comparison.gates[0].change.change.reset();
  comparison.gates[0].reason = Note(NoteKind::kEnergyNotKnown, "new");
  EXPECT_THAT(WriteGates(comparison, {}),
              HasSubstr("FAILED new: energy: the energy of new is unknown"));
  comparison.gates[0] = FailedGate();
  comparison.gates[0].passed = true;
  comparison.gates[0].certain = false;
  EXPECT_THAT(WriteGates(comparison, {}), HasSubstr("passed new"));
  EXPECT_THAT(WriteGates(comparison, {}), Not(HasSubstr("grew")));
  EXPECT_THAT(WriteGates(comparison, {}),
              HasSubstr("not\n  certain: over 1,000 more runs of each"));
  comparison.gates[0].more_runs = 1;
  EXPECT_THAT(WriteGates(comparison, {}),
              HasSubstr("not\n  certain: 1 more run of each would decide"));
}

TEST(CompareTableTest, WhatAllRunsSayIsSaidOnce) {
  Comparison comparison = MakeComparison(2);
  for (AccountReport& run : comparison.runs) run.notes = {{NoteKind::kNoModules}};
  comparison.runs[1].notes.push_back({NoteKind::kRecorderKilled});
  const std::string text = TableOf(comparison);
  const size_t once = text.find("no modules");
  EXPECT_NE(once, std::string::npos);
  EXPECT_EQ(text.find("no modules", once + 1), std::string::npos);
  EXPECT_THAT(text, HasSubstr("all runs:\n  note: no modules"));
  EXPECT_THAT(text, HasSubstr("the recorder was stopped"));
}

TEST(CompareTableTest, OfRecordingsThereAreNoMatrices) {
  Comparison comparison = MakeComparison(2);
  EXPECT_THAT(TableOf(comparison), HasSubstr("similarity of energy"));
  comparison.of = ComparedEnergy::kOurs;
  EXPECT_THAT(TableOf(comparison), Not(HasSubstr("similarity")));
}

TEST(ShareTextTest, ManyTimesAreNotPercent) {
  EXPECT_EQ(ShareText(0.382), "38.2%");
  EXPECT_EQ(SignedShare(383.209), "+383 times");
  EXPECT_EQ(SignedShare(-0.5), "-50.0%");
}

TEST(VerdictLineTest, SaysTheChangeItsIntervalAndWhatWouldTell) {
  TotalVerdict verdict;
  verdict.before = "old";
  verdict.after = "new";
  verdict.change.change = -0.021;
  verdict.change.low = -0.039;
  verdict.change.high = -0.004;
  verdict.certain = true;
  EXPECT_EQ(VerdictLine(verdict),
            "new: 2.1% less than old, 95 % between 0.4% and 3.9% less; certain");
  verdict.change.high = 0.004;
  verdict.certain = false;
  verdict.more_runs = 7;
  EXPECT_EQ(VerdictLine(verdict),
            "new: cannot tell: 2.1% less than old, 95 % between 3.9% less and 0.4% more; 7 more "
            "runs of each would tell");
  verdict.reason = Note(NoteKind::kRunWithoutOperations, "new");
  EXPECT_EQ(VerdictLine(verdict), "new: cannot tell: new has no operations");
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
  EXPECT_THAT(text, HasSubstr("\"verdicts\":["));
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
      const size_t quoted = line.find("\"operations, layers folded\"") != std::string_view::npos;
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
  precision.verdicts = {{NoteKind::kRateDoesNotMatter, "", {2, 0.008, 0.99995}},
                        {NoteKind::kSamplesAgree, name, {0.98}}};
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
  EXPECT_TRUE(text.starts_with("sampling 2 times as sparsely moves 0.8% of the energy"));
  EXPECT_THAT(text, HasSubstr("runs agree with a similarity of 0.9800 or more"));
  EXPECT_THAT(text, HasSubstr("8.00 ms"));
  EXPECT_THAT(text, HasSubstr("0.9999"));
  EXPECT_THAT(text, HasSubstr("0.8%"));
  EXPECT_THAT(text, HasSubstr("the first n steps against all 2"));
  EXPECT_THAT(text, Not(HasSubstr("nan")));
}

TEST(PrecisionTest, UnknownInTheOtherForms) {
  const std::string json = Write(MakePrecision(), Format::kJson, {});
  EXPECT_THAT(json, HasSubstr("\"schema\":\"beryl.precision/1\",\"provenance\":{"));
  EXPECT_THAT(json,
              HasSubstr("{\"kind\":\"samples_agree\",\"class\":\"note\",\"subject\":\"run\""));
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
  typo.reason = "no path matches the pattern";
  typo.nearest = {"bert/pooler"};
  report.budget = {kept, typo};
  const std::string table = Write(report, Format::kTable, {});
  EXPECT_THAT(table, HasSubstr("kept        4.00 J of 10.0 J"));
  EXPECT_THAT(table, HasSubstr("FAILED"));
  EXPECT_THAT(table, HasSubstr("near: bert/pooler"));
  const std::string json = Write(report, Format::kJson, {});
  EXPECT_THAT(json, HasSubstr("\"budget\":[{\"line\":0,\"pattern\":\"total\",\"phase\":null"));
  EXPECT_THAT(json, HasSubstr("\"phase\":\"backward\",\"limit_j\":null,\"limit_share\":0.25"));
  const std::string said = WriteBudgetFailures(report.budget);
  EXPECT_THAT(said, HasSubstr("budget line 7: bert/poler backward: took ? of 25.0%"));
  EXPECT_THAT(said, Not(HasSubstr("total")));
  EXPECT_THAT(Write(MakeReport(), Format::kJson, {}), Not(HasSubstr("\"budget\"")));
}

}  // namespace
}  // namespace beryl::views
