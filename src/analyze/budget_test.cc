#include "analyze/analyze_testing.h"
#include "base/matchers_for_test.h"
#include "types/find_nodes.h"

namespace beryl::analyze {
namespace {

TEST(PathPatternTest, Levels) {
  struct Case {
    const char* pattern;
    const char* path;
    bool met;
  };
  for (const Case& c : std::vector<Case>{{"a/b", "a/b", true},
                                         {"a/b", "a/b/c", false},
                                         {"a/*", "a/b", true},
                                         {"a/*", "a/b/c", false},
                                         {"a/*", "a", false},
                                         {"a/**", "a/b/c", true},
                                         {"a/**", "a", true},
                                         {"a/**", "ab", false},
                                         {"**/c", "a/b/c", true},
                                         {"**/c", "c", true},
                                         {"**/c", "a/b/cc", false},
                                         {"**/b/**/d", "a/b/c/c/d", true},
                                         {"**/b/**/d", "b/d", true},
                                         {"**/b/*/d", "a/b/d", false},
                                         {"layer_*/x", "layer_11/x", true},
                                         {"layer_*/x", "layer_*/x", true},
                                         {"l*r_*", "layer_0", true},
                                         {"l*r_*", "layerx0", false},
                                         {"*", "", true},
                                         {"**", "a/b", true},
                                         {"a**b", "axyb", true}}) {
    EXPECT_EQ(PathPattern(c.pattern).Matches(c.path), c.met) << c.pattern << " on " << c.path;
  }
}

TEST(PathPatternTest, ManyStarsEndSoon) {
  std::string pattern;
  std::string path;
  for (int i = 0; i < 2000; ++i) pattern += "**/a*a*a*/";
  for (int i = 0; i < 2000; ++i) path += "aaaaaaaaaaaaaaaaaaaa/";
  EXPECT_FALSE(PathPattern(pattern + "b").Matches(path + "c"));
}

Result<std::vector<BudgetLine>> Read(std::string_view text) {
  auto source = ByteSource::FromMemory(text, "budget.txt");
  return ReadBudget(source);
}

TEST(ReadBudgetTest, Lines) {
  const auto lines = Read(
      "# what the nightly run may take\n"
      "\n"
      "total                    3.5 kJ\n"
      "bert/encoder/**  40%     # most of it\r\n"
      "bert/layer_* backward 12J per step\n"
      "\"my region/x y\" forward 40 mJ\n"
      "\"total\"  1 Wh\n"
      "step#2/op 5 J per   step");
  ASSERT_TRUE(lines) << lines.error().message;
  ASSERT_EQ(lines->size(), 6U);
  EXPECT_TRUE((*lines)[0].whole_run);
  EXPECT_DOUBLE_EQ(ValueOrNan((*lines)[0].limit_energy), 3500);
  EXPECT_EQ((*lines)[0].line, 3U);
  EXPECT_DOUBLE_EQ(*(*lines)[1].limit_share, 0.4);
  EXPECT_FALSE((*lines)[1].limit_energy);
  EXPECT_EQ((*lines)[2].phase, Phase::kBackward);
  EXPECT_TRUE((*lines)[2].per_step);
  EXPECT_DOUBLE_EQ(ValueOrNan((*lines)[2].limit_energy), 12);
  EXPECT_EQ((*lines)[3].pattern, "my region/x y");
  EXPECT_DOUBLE_EQ(ValueOrNan((*lines)[3].limit_energy), 0.04);
  EXPECT_FALSE((*lines)[4].whole_run) << "quoted, it is a path";
  EXPECT_DOUBLE_EQ(ValueOrNan((*lines)[4].limit_energy), 3600);
  EXPECT_EQ((*lines)[5].pattern, "step#2/op");
  EXPECT_TRUE((*lines)[5].per_step);
}

TEST(ReadBudgetTest, APhaseAloneIsAllOfIt) {
  const auto lines =
      Read("optimizer 30%\nbackward 2 J per step\n\"optimizer\" 1 J\noptimizer/x 1 J");
  ASSERT_TRUE(lines) << lines.error().message;
  EXPECT_TRUE((*lines)[0].whole_run);
  EXPECT_EQ((*lines)[0].phase, Phase::kOptimizer);
  EXPECT_DOUBLE_EQ(*(*lines)[0].limit_share, 0.3);
  EXPECT_EQ((*lines)[1].phase, Phase::kBackward);
  EXPECT_TRUE((*lines)[1].per_step);
  EXPECT_FALSE((*lines)[2].whole_run) << "quoted, it is a path";
  EXPECT_FALSE((*lines)[3].whole_run);
}

TEST(ReadBudgetTest, WhatIsWrongIsSaidWithItsLine) {
  struct Case {
    const char* line;
    const char* message;
  };
  for (const Case& c : std::vector<Case>{{"total", "limit is missing"},
                                         {"total forward", "limit is missing"},
                                         {"total 5", "has no unit"},
                                         {"total 5 W", "not a unit of energy"},
                                         {"total five J", "not a limit"},
                                         {"total -5 J", "below zero"},
                                         {"total -5%", "not a share"},
                                         {"total 5% per step", "leave out 'per step'"},
                                         {"total upward 5 J", "not a limit"},
                                         {"\"open 5 J", "quote is not closed"},
                                         {"\"\" 5 J", "pattern is empty"},
                                         {"total 1e308 kJ", "too large"},
                                         {"total 5 J per epoch", "not a limit"}}) {
    const auto lines = Read(std::string("# first\n") + c.line);
    ASSERT_FALSE(lines) << c.line;
    EXPECT_THAT(lines.error().message, HasSubstr("budget.txt: line 2: ")) << c.line;
    EXPECT_THAT(lines.error().message, HasSubstr(c.message)) << c.line;
    EXPECT_THAT(lines.error().message, HasSubstr("expected PATTERN")) << c.line;
  }
}

TEST(ReadBudgetTest, ABudgetOfNothingIsAMistake) {
  EXPECT_FALSE(Read(""));
  EXPECT_FALSE(Read("# nothing yet\n\n"));
}

// Two layers in two steps, forward and backward.
TraceMaker SmallRun() {
  TraceMaker maker;
  for (uint32_t step = 0; step < 2; ++step) {
    for (const char* layer : {"bert/layer_0/dense", "bert/layer_1/dense"}) {
      maker.Share(maker.Kind(std::string(layer) + "/MatMul"), 10, "CPU:0", step);
      maker.Share(maker.Kind(std::string(layer) + "/MatMulGrad", Phase::kBackward), 20, "CPU:0",
                  step);
    }
    maker.Share(maker.Kind("bert/pooler/MatMul"), 40, "CPU:0", step);
  }
  return maker;
}

BudgetVerdict Check(TraceMaker& maker, const std::string& line) {
  const auto lines = Read(line);
  EXPECT_TRUE(lines) << lines.error().message;
  const TraceTree built = Build(maker.trace());
  return CheckBudget(*lines, maker.trace(), maker.footprint(), built, Fold(built)).front();
}

TEST(CheckBudgetTest, Energies) {
  TraceMaker maker = SmallRun();
  const BudgetVerdict total = Check(maker, "total 200 J");
  EXPECT_TRUE(total.passed) << total.reason;
  EXPECT_DOUBLE_EQ(ValueOrNan(total.energy), 200);
  EXPECT_FALSE(Check(maker, "total 199.9 J").passed);
  EXPECT_DOUBLE_EQ(ValueOrNan(Check(maker, "total 100 J per step").energy), 100);
  EXPECT_TRUE(Check(maker, "total 100 J per step").passed);
  EXPECT_DOUBLE_EQ(ValueOrNan(Check(maker, "total backward 1 J").energy), 80);
  EXPECT_DOUBLE_EQ(ValueOrNan(Check(maker, "backward 1 J").energy), 80);
  EXPECT_DOUBLE_EQ(ValueOrNan(Check(maker, "bert/layer_* 1 J").energy), 120)
      << "all of them together";
  EXPECT_DOUBLE_EQ(ValueOrNan(Check(maker, "bert/layer_1 1 J").energy), 60) << "as in the program";
  EXPECT_DOUBLE_EQ(ValueOrNan(Check(maker, "bert/layer_*/dense/MatMul 1 J").energy), 40);
  EXPECT_DOUBLE_EQ(ValueOrNan(Check(maker, "**/MatMul 1 J").energy), 120);
  EXPECT_DOUBLE_EQ(ValueOrNan(Check(maker, "** 1 J").energy), 200) << "nothing counts twice";
  const BudgetVerdict share = Check(maker, "bert/pooler 39%");
  EXPECT_FALSE(share.passed);
  EXPECT_DOUBLE_EQ(*share.share, 0.4);
  EXPECT_THAT(share.reason, HasSubstr("1.0% of the run over"));
  EXPECT_THAT(share.matched, ElementsAre("bert/pooler"));
  EXPECT_TRUE(Check(maker, "bert/pooler 40%").passed);
  EXPECT_THAT(Check(maker, "bert/pooler 70 J").reason, HasSubstr("10.0 J over"));
}

TEST(CheckBudgetTest, ATypoDoesNotPass) {
  TraceMaker maker = SmallRun();
  const BudgetVerdict verdict = Check(maker, "bert/poler 1 kJ");
  EXPECT_FALSE(verdict.passed);
  EXPECT_THAT(verdict.matched, IsEmpty());
  ASSERT_FALSE(verdict.nearest.empty());
  EXPECT_EQ(verdict.nearest[0], "bert/pooler");
  EXPECT_FALSE(Check(maker, "bert/pooler backward 1 kJ").passed) << "nothing of it in that phase";
}

TEST(CheckBudgetTest, UnknownEnergyDoesNotPass) {
  TraceMaker maker = SmallRun();
  maker.Unmetered(maker.Kind("bert/gpu/Conv"), "GPU:0");
  const BudgetVerdict unmetered = Check(maker, "bert/gpu 1 kJ");
  EXPECT_FALSE(unmetered.passed);
  EXPECT_THAT(unmetered.reason, HasSubstr("unknown"));
  const BudgetVerdict part = Check(maker, "bert 1 kJ");
  EXPECT_TRUE(part.passed);
  EXPECT_THAT(part.reason, HasSubstr("devices without a meter")) << "but it is said";
  maker.footprint().shares[0].unknown = Nanos{5'000'000'000};
  EXPECT_FALSE(Check(maker, "total 1 kJ").passed) << "a meter that does not reach";
  EXPECT_FALSE(Check(maker, "total 10 J").passed);
}

TEST(CheckBudgetTest, AStepsBudgetNeedsSteps) {
  TraceMaker maker;
  maker.Share(maker.Kind("a/A"), 1);
  const BudgetVerdict verdict = Check(maker, "total 5 J per step");
  EXPECT_FALSE(verdict.passed);
  EXPECT_THAT(verdict.reason, HasSubstr("no steps"));
  EXPECT_TRUE(Check(maker, "total 5 J").passed);
}

TEST(CheckBudgetTest, ARunOfNothing) {
  TraceMaker maker;
  EXPECT_FALSE(Check(maker, "total 5 J").passed);
  EXPECT_FALSE(Check(maker, "total 5%").passed);
}

}  // namespace
}  // namespace beryl::analyze
