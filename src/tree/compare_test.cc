#include <cmath>
#include <numeric>
#include <random>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tree/tree_testing.h"

namespace beryl::tree {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsNan;

// A run and what was worked out of it.
struct MadeRun {
  std::string label;
  TraceMaker maker;
  TraceTree folded;

  RunToCompare Ref() {
    folded = Fold(Build(maker.trace()));
    return {label, &maker.trace(), &maker.footprint(), &folded};
  }
};

// Energies of each step, by path.
using Steps = std::map<std::string, std::vector<double>>;
MadeRun Make(const std::string& label, const Steps& paths, const std::string& channel = "CPU:0") {
  MadeRun run;
  run.label = label;
  for (const auto& [path, energies] : paths) {
    for (uint32_t step = 0; step < energies.size(); ++step) {
      run.maker.Share(run.maker.Kind(path), energies[step], channel, step);
    }
  }
  return run;
}

Comparison CompareRuns(std::vector<MadeRun>& runs, const CompareOptions& options = {}) {
  std::vector<RunToCompare> refs;
  refs.reserve(runs.size());
  for (MadeRun& run : runs) refs.push_back(run.Ref());
  return Compare(refs, options);
}

// NaN: not known.
NamedEnergy Named(std::string name, Phase phase, double joules, double watts) {
  return {std::move(name), phase, IfKnown<Joules>(joules), IfKnown<Watts>(watts)};
}

TEST(SimilarityTest, TheExampleOfThePaper) {
  const std::vector<double> first = {21, 21, 54, 54, 118, 118, 184, 100, 200};
  const std::vector<double> second = {15, 15, 23, 23, 59, 59, 92, 50, 100};
  EnergyProfile a;
  EnergyProfile b;
  for (size_t i = 0; i < first.size(); ++i) {
    a.push_back(Named(fmt::format("op{}", i), Phase::kForward, first[i], 1));
    b.push_back(Named(fmt::format("op{}", i), Phase::kForward, second[i], 2));
  }
  const SimilarityMatrices found = Similarity({"1", "2"}, {a, b});
  EXPECT_NEAR(found.energy_pearson[1], 0.9958, 5e-5);
  EXPECT_EQ(found.energy_pearson[1], found.energy_pearson[2]);
  EXPECT_THAT(found.power_pearson[1], IsNan()) << "all powers are the same";
  // (6+6+31+31+59+59+92+50+100) / 9
  EXPECT_NEAR(found.energy_difference[1], 434.0 / 9, 1e-12);
  EXPECT_NEAR(found.energy_difference[2], -434.0 / 9, 1e-12);
  EXPECT_DOUBLE_EQ(found.power_difference[1], -1);
  EXPECT_EQ(found.energy_difference[0], 0);
}

TEST(SimilarityTest, NamesAreOfANameAndAPhaseAndThoseOfOneRunAreCounted) {
  const EnergyProfile a = {Named("x", Phase::kForward, 1, 1), Named("x", Phase::kBackward, 5, 1),
                           Named("y", Phase::kForward, 2, 1), Named("only", Phase::kForward, 9, 1)};
  const EnergyProfile b = {Named("y", Phase::kForward, 4, 1), Named("x", Phase::kBackward, 10, 1),
                           Named("x", Phase::kForward, 2, 1)};
  const SimilarityMatrices found = Similarity({"a", "b"}, {a, b});
  EXPECT_NEAR(found.energy_pearson[1], 1, 1e-12) << "b has twice of everything both have";
  EXPECT_THAT(found.common, ElementsAre(4, 3, 3, 3));
  EXPECT_THAT(found.only_here, ElementsAre(0, 1, 0, 0));
  EXPECT_THAT(found.names, ElementsAre(4, 3));
}

TEST(SimilarityTest, WhatIsNotDefinedIsNotANumber) {
  const EnergyProfile a = {Named("x", Phase::kForward, 1, 1),
                           Named("y", Phase::kForward, NAN, NAN)};
  const EnergyProfile b = {Named("x", Phase::kForward, 1, 1), Named("y", Phase::kForward, 3, 1)};
  const EnergyProfile c = {Named("z", Phase::kForward, 1, 1)};
  const SimilarityMatrices found = Similarity({"a", "b", "c"}, {a, b, c});
  EXPECT_THAT(found.energy_pearson[0 * 3 + 1], IsNan()) << "one name is known in both";
  EXPECT_THAT(found.energy_pearson[0 * 3 + 2], IsNan());
  EXPECT_THAT(found.energy_difference[0 * 3 + 2], IsNan()) << "no name in common";
  EXPECT_EQ(found.common[0 * 3 + 1], 1U);
  EXPECT_NEAR(found.energy_pearson[1 * 3 + 1], 1, 1e-12);
}

TEST(SimilarityTest, LawsOfMatrices) {
  std::mt19937_64 random(7);
  for (int turn = 0; turn < 30; ++turn) {
    std::vector<EnergyProfile> profiles(2 + random() % 5);
    std::vector<std::string> labels;
    for (EnergyProfile& profile : profiles) {
      labels.push_back(std::to_string(labels.size()));
      for (uint64_t name = 0; name < 20; ++name) {
        if (random() % 5 == 0) continue;
        const double energy =
            random() % 9 == 0 ? std::nan("") : static_cast<double>(random() % 100);
        profile.push_back(
            Named(std::to_string(name), static_cast<Phase>(name % 3), energy, energy / 2));
      }
    }
    const SimilarityMatrices found = Similarity(labels, profiles);
    for (EnergyProfile& profile : profiles) std::shuffle(profile.begin(), profile.end(), random);
    const SimilarityMatrices shuffled = Similarity(labels, profiles);
    const size_t runs = profiles.size();
    auto same = [](double a, double b) {
      return (std::isnan(a) && std::isnan(b)) || std::fabs(a - b) < 1e-9;
    };
    for (size_t row = 0; row < runs; ++row) {
      EXPECT_TRUE(same(found.energy_pearson[row * runs + row], 1));
      for (size_t column = 0; column < runs; ++column) {
        const size_t at = row * runs + column;
        const size_t mirror = column * runs + row;
        EXPECT_TRUE(same(found.energy_pearson[at], found.energy_pearson[mirror]));
        EXPECT_TRUE(same(found.energy_difference[at], -found.energy_difference[mirror]));
        EXPECT_TRUE(same(found.energy_pearson[at], shuffled.energy_pearson[at]));
        EXPECT_TRUE(same(found.power_difference[at], shuffled.power_difference[at]));
        EXPECT_EQ(found.common[at], shuffled.common[at]);
      }
    }
  }
}

TEST(ProfileTest, SumsOverDevicesAndFoldsLayers) {
  TraceMaker maker;
  for (int layer = 0; layer < 3; ++layer) {
    const uint32_t kind = maker.Kind(fmt::format("layer_{}/dense/MatMul", layer));
    maker.Share(kind, 10, "CPU:0", 0, 2'000'000'000);
    maker.Share(kind, 4, "DRAM:0", 0, 2'000'000'000);
  }
  const TraceTree folded = Fold(Build(maker.trace()));
  const EnergyProfile profile = Profile(maker.trace(), maker.footprint(), folded, {}, false);
  ASSERT_EQ(profile.size(), 1U);
  EXPECT_EQ(profile[0].name, "layer_*/dense/MatMul");
  EXPECT_DOUBLE_EQ(ValueOrNan(profile[0].energy), 42);
  EXPECT_DOUBLE_EQ(ValueOrNan(profile[0].power), 5 + 2) << "both meters at once";
}

TEST(ProfileTest, Levels) {
  TraceMaker maker;
  maker.Share(maker.Kind("net/a/MatMul"), 1);
  maker.Share(maker.Kind("net/a/Add"), 2);
  maker.Share(maker.Kind("net/b/Add"), 4);
  maker.Share(maker.Kind("Loose"), 8);
  const TraceTree folded = Fold(Build(maker.trace()));
  auto at = [&](std::string_view level) {
    std::map<std::string, double> energies;
    for (const NamedEnergy& entry :
         Profile(maker.trace(), maker.footprint(), folded, *ParseNameLevel(level), false)) {
      energies[entry.name] = ValueOrNan(entry.energy);
    }
    return energies;
  };
  using Map = std::map<std::string, double>;
  EXPECT_EQ(at("operation"),
            (Map{{"net/a/MatMul", 1}, {"net/a/Add", 2}, {"net/b/Add", 4}, {"Loose", 8}}));
  EXPECT_EQ(at("layer"), (Map{{"net/a", 3}, {"net/b", 4}, {"", 8}}));
  EXPECT_EQ(at("module"), (Map{{"net", 7}, {"net/a", 3}, {"net/b", 4}, {"", 8}}));
  EXPECT_EQ(at("1"), (Map{{"net", 7}, {"Loose", 8}}));
  EXPECT_EQ(at("2"), (Map{{"net/a", 3}, {"net/b", 4}, {"Loose", 8}}));
}

TEST(ProfileTest, LevelsThatAreNone) {
  for (const char* text : {"", "0", "-1", "1.5", "operations", "999", "nan"}) {
    EXPECT_FALSE(ParseNameLevel(text)) << text;
  }
}

TEST(CompareTest, TotalsAreOfAStepWhereAllRunsHaveSteps) {
  std::vector<MadeRun> runs;
  runs.push_back(Make("a", {{"x/A", {10, 20}}, {"x/B", {1, 1}}}));
  runs.push_back(Make("b", {{"x/A", {30, 30, 30}}}));
  runs[1].maker.footprint().channels[0].idle = Joules{9};
  runs[1].maker.footprint().channels[0].outside_trace = Joules{3};
  const Comparison found = CompareRuns(runs);
  EXPECT_TRUE(found.per_step);
  EXPECT_DOUBLE_EQ(ValueOrNan(found.totals[0].attributed), 16);
  EXPECT_NEAR(ValueOrNan(found.totals[0].deviation), std::sqrt(50.0), 1e-12);
  EXPECT_EQ(found.totals[0].steps, 2U);
  EXPECT_DOUBLE_EQ(ValueOrNan(found.totals[1].attributed), 30);
  EXPECT_DOUBLE_EQ(ValueOrNan(found.totals[1].deviation), 0);
  EXPECT_DOUBLE_EQ(found.totals[1].idle.value, 2)
      << "what is before and after the trace is left out";
  EXPECT_DOUBLE_EQ(ValueOrNan(found.totals[0].by_phase[0]), 16);
  EXPECT_DOUBLE_EQ(ValueOrNan(found.totals[0].by_phase[1]), 0);
}

TEST(CompareTest, WithoutStepsWholeRunsAreCompared) {
  std::vector<MadeRun> runs;
  runs.push_back(Make("a", {{"x/A", {10, 20}}}));
  runs.push_back(Make("b", {}));
  runs[1].maker.Share(runs[1].maker.Kind("x/A"), 45);
  const Comparison found = CompareRuns(runs);
  EXPECT_FALSE(found.per_step);
  EXPECT_DOUBLE_EQ(ValueOrNan(found.totals[0].attributed), 30);
  EXPECT_FALSE(found.totals[0].deviation);
  ASSERT_EQ(found.differences.size(), 1U);
  EXPECT_DOUBLE_EQ(ValueOrNan(found.differences[0].difference), 15);
  EXPECT_FALSE(found.differences[0].noise) << "nobody can tell";
  EXPECT_FALSE(found.differences[0].is_noise);
}

TEST(CompareTest, WhatRanOutsideOfStepsIsSaidAndNotCounted) {
  std::vector<MadeRun> runs;
  runs.push_back(Make("a", {{"x/A", {10, 10}}}));
  runs.push_back(Make("b", {{"x/A", {10, 10}}}));
  runs[1].maker.Share(runs[1].maker.Kind("x/Load"), 500);
  const Comparison found = CompareRuns(runs);
  EXPECT_DOUBLE_EQ(ValueOrNan(found.totals[1].attributed), 10);
  EXPECT_EQ(found.totals[1].outside_steps, Joules{500});
  ASSERT_FALSE(found.notes.empty());
  EXPECT_EQ(PlainText(found.notes[0]), "outside_steps b energy_j=500");
}

TEST(DifferencesTest, TheDeepestNodeThatExplainsItAndNotItsAncestors) {
  std::vector<MadeRun> runs;
  runs.push_back(
      Make("a", {{"net/enc/MatMul", {100}}, {"net/enc/Add", {5}}, {"net/dec/MatMul", {50}}}));
  runs.push_back(
      Make("b", {{"net/enc/MatMul", {160}}, {"net/enc/Add", {5}}, {"net/dec/MatMul", {50}}}));
  const Comparison found = CompareRuns(runs);
  ASSERT_EQ(found.differences.size(), 1U);
  EXPECT_EQ(found.differences[0].path, "net/enc/MatMul");
  EXPECT_DOUBLE_EQ(ValueOrNan(found.differences[0].difference), 60);
  EXPECT_FALSE(found.differences[0].rest);
}

TEST(DifferencesTest, DustIsGatheredInTheNodeAboveIt) {
  Steps before;
  Steps after;
  for (int i = 0; i < 100; ++i) {
    before[fmt::format("net/small/op{}x", i)] = {1};
    after[fmt::format("net/small/op{}x", i)] = {1.1};
  }
  before["net/big/MatMul"] = {100};
  after["net/big/MatMul"] = {150};
  std::vector<MadeRun> runs;
  runs.push_back(Make("a", before));
  runs.push_back(Make("b", after));
  const Comparison found = CompareRuns(runs);
  ASSERT_EQ(found.differences.size(), 2U);
  EXPECT_EQ(found.differences[0].path, "net/big/MatMul");
  EXPECT_EQ(found.differences[1].path, "net/small");
  EXPECT_NEAR(ValueOrNan(found.differences[1].difference), 10, 1e-9);
  EXPECT_NEAR(ValueOrNan(found.differences[1].before), 100, 1e-9);
}

TEST(DifferencesTest, EveryJouleOfDifferenceIsInOneRow) {
  std::mt19937_64 random(11);
  for (int turn = 0; turn < 50; ++turn) {
    Steps before;
    Steps after;
    for (int i = 0; i < 60; ++i) {
      std::string path;
      for (uint64_t depth = random() % 4; depth > 0; --depth)
        path += fmt::format("m{}x/", random() % 3);
      path += fmt::format("op{}x", random() % 5);
      if (random() % 4 != 0) before[path] = {static_cast<double>(random() % 100), 3};
      if (random() % 4 != 0) after[path] = {static_cast<double>(random() % 100), 3};
    }
    if (before.empty() || after.empty()) continue;
    std::vector<MadeRun> runs;
    runs.push_back(Make("a", before));
    runs.push_back(Make("b", after));
    const Comparison found = CompareRuns(runs);
    Joules sum;
    for (const DifferenceRow& row : found.differences) {
      sum += row.difference.value_or(Joules{});
    }
    const Joules all = *found.totals[1].attributed - *found.totals[0].attributed;
    EXPECT_NEAR(sum.value, all.value, 1e-9);
    EXPECT_LE(found.differences.size(), 51U);
    for (size_t i = 1; i < found.differences.size(); ++i) {
      EXPECT_GE(std::fabs(found.differences[i - 1].difference->value),
                std::fabs(found.differences[i].difference->value));
    }
  }
}

TEST(DifferencesTest, WhatIsInOneRunOnlyIsMarked) {
  std::vector<MadeRun> runs;
  runs.push_back(Make("bert", {{"net/dense/MatMul", {100, 100}}}));
  runs.push_back(Make("albert", {{"net/dense/Einsum", {60, 60}}}));
  const Comparison found = CompareRuns(runs);
  ASSERT_EQ(found.differences.size(), 2U);
  EXPECT_EQ(found.differences[0].path, "net/dense/MatMul");
  EXPECT_TRUE(found.differences[0].in_before);
  EXPECT_FALSE(found.differences[0].in_after);
  EXPECT_FALSE(found.differences[0].after);
  EXPECT_DOUBLE_EQ(ValueOrNan(found.differences[0].difference), -100);
  EXPECT_EQ(found.differences[1].path, "net/dense/Einsum");
  EXPECT_FALSE(found.differences[1].in_before);
  CompareOptions options;
  options.differences_level = ParseNameLevel("layer");
  const Comparison layers = CompareRuns(runs, options);
  ASSERT_EQ(layers.differences.size(), 1U);
  EXPECT_EQ(layers.differences[0].path, "net/dense");
  EXPECT_DOUBLE_EQ(ValueOrNan(layers.differences[0].difference), -40);
}

TEST(DifferencesTest, ChanceIsToldFromChange) {
  std::vector<MadeRun> runs;
  runs.push_back(Make("a", {{"net/steady", {10, 10.1, 9.9, 10}}, {"net/shaky", {10, 30, 5, 20}}}));
  runs.push_back(Make("b", {{"net/steady", {12, 12.1, 11.9, 12}}, {"net/shaky", {12, 33, 6, 22}}}));
  const Comparison found = CompareRuns(runs);
  ASSERT_EQ(found.differences.size(), 2U);
  for (const DifferenceRow& row : found.differences) {
    ASSERT_TRUE(row.noise);
    EXPECT_EQ(row.is_noise, row.path == "net/shaky");
  }
  // Both means have a standard error of 0.0816 / 2, with 6 degrees of freedom.
  const auto& steady = found.differences[found.differences[0].path == "net/steady" ? 0 : 1];
  EXPECT_NEAR(ValueOrNan(steady.noise), 2.4469 * std::sqrt(2.0) * std::sqrt(0.02 / 3) / 2, 1e-3);
}

TEST(DifferencesTest, UnknownEnergyIsNoDifference) {
  std::vector<MadeRun> runs;
  runs.push_back(Make("a", {{"net/A", {10, 10}}, {"net/B", {5, 5}}}));
  runs.push_back(Make("b", {{"net/A", {20, 20}}}));
  runs[1].maker.Unmetered(runs[1].maker.Kind("net/B"), "GPU:0");
  const Comparison found = CompareRuns(runs);
  ASSERT_EQ(found.differences.size(), 1U);
  EXPECT_EQ(found.differences[0].path, "net/A");
  EXPECT_EQ(PlainText(found.notes[0]), "nodes_without_energy nodes=1");
  CompareOptions options;
  options.differences_level = ParseNameLevel("operation");
  const Comparison rows = CompareRuns(runs, options);
  ASSERT_EQ(rows.differences.size(), 2U);
  EXPECT_FALSE(rows.differences[1].difference);
  EXPECT_DOUBLE_EQ(ValueOrNan(rows.differences[1].before), 5);
}

TEST(DifferencesTest, RunsThatAreTheSameDoNotDiffer) {
  std::vector<MadeRun> runs;
  runs.push_back(Make("a", {{"net/x/A", {10, 10}}}));
  runs.push_back(Make("b", {{"net/x/A", {10, 10}}}));
  for (const DifferenceRow& row : CompareRuns(runs).differences)
    EXPECT_EQ(row.difference, Joules{0});
}

GateVerdict Gate(std::vector<MadeRun>& runs, double limit, const std::string& pattern = "") {
  CompareOptions options;
  options.gates = {{pattern, limit}};
  return CompareRuns(runs, options).gates.back();
}

TEST(GateTest, AboveTheLimitFails) {
  std::vector<MadeRun> runs;
  runs.push_back(Make("a", {{"net/A", {100, 100, 100}}}));
  runs.push_back(Make("b", {{"net/A", {106, 106, 106}}}));
  const GateVerdict tight = Gate(runs, 0.05);
  EXPECT_FALSE(tight.passed);
  EXPECT_TRUE(tight.certain);
  EXPECT_NEAR(*tight.change, 0.06, 1e-12);
  EXPECT_EQ(tight.run, "b");
  ASSERT_EQ(tight.grew.size(), 1U);
  EXPECT_EQ(tight.grew[0].path, "net/A");
  EXPECT_TRUE(Gate(runs, 0.061).passed);
  std::swap(runs[0], runs[1]);
  EXPECT_TRUE(Gate(runs, 0).passed) << "less is never too much";
}

TEST(GateTest, ARiseThatMayBeChanceStillFailsAndSaysSo) {
  std::vector<MadeRun> runs;
  runs.push_back(Make("a", {{"net/A", {80, 120, 100}}}));
  runs.push_back(Make("b", {{"net/A", {90, 130, 110}}}));
  const GateVerdict verdict = Gate(runs, 0.05);
  EXPECT_FALSE(verdict.passed);
  EXPECT_FALSE(verdict.certain);
  ASSERT_TRUE(verdict.noise);
  EXPECT_GT(*verdict.noise, 0.05);
}

TEST(GateTest, OneStepIsNeverCertain) {
  std::vector<MadeRun> runs;
  runs.push_back(Make("a", {{"net/A", {100}}}));
  runs.push_back(Make("b", {{"net/A", {200}}}));
  const GateVerdict verdict = Gate(runs, 0.05);
  EXPECT_FALSE(verdict.passed);
  EXPECT_FALSE(verdict.certain);
  EXPECT_FALSE(verdict.noise);
}

TEST(GateTest, UnknownEnergyNeverPasses) {
  std::vector<MadeRun> runs;
  runs.push_back(Make("a", {{"net/A", {100}}}));
  runs.push_back(Make("b", {}));
  EXPECT_FALSE(Gate(runs, 0.5).passed) << "no operations at all";
  runs[1].maker.Unmetered(runs[1].maker.Kind("net/A"), "GPU:0");
  const GateVerdict unmetered = Gate(runs, 0.5);
  EXPECT_FALSE(unmetered.passed);
  EXPECT_FALSE(unmetered.change);
  EXPECT_THAT(unmetered.reason, HasSubstr("not known"));
  std::swap(runs[0], runs[1]);
  EXPECT_FALSE(Gate(runs, 0.5).passed) << "nor an unknown baseline";
}

TEST(GateTest, OtherMetersNeverPass) {
  std::vector<MadeRun> runs;
  runs.push_back(Make("a", {{"net/A", {100}}}, "GPU:0"));
  runs.push_back(Make("b", {{"net/A", {10}}}, "CPU:0"));
  const GateVerdict verdict = Gate(runs, 0.05);
  EXPECT_FALSE(verdict.passed);
  EXPECT_THAT(verdict.reason, HasSubstr("energy of GPU"));
  std::vector<MadeRun> other;
  other.push_back(Make("a", {{"net/A", {100}}}, "GPU:0"));
  other.push_back(Make("b", {{"net/A", {100}}}, "GPU:1"));
  EXPECT_TRUE(Gate(other, 0.05).passed) << "another GPU is still a GPU";
}

TEST(GateTest, ReadingsThatDoNotReachNeverPass) {
  std::vector<MadeRun> runs;
  runs.push_back(Make("a", {{"net/A", {100}}}));
  runs.push_back(Make("b", {{"net/A", {50}}}));
  runs[1].maker.footprint().channels[0].uncovered = Nanos{1'000'000'000};
  const GateVerdict verdict = Gate(runs, 0.05);
  EXPECT_FALSE(verdict.passed);
  EXPECT_THAT(verdict.reason, HasSubstr("50.0% of the operation time on CPU:0"));
}

TEST(GateTest, APartOfTheProgram) {
  std::vector<MadeRun> runs;
  runs.push_back(Make("a", {{"net/enc/A", {100}}, {"net/dec/A", {100}}}));
  runs.push_back(Make("b", {{"net/enc/A", {120}}, {"net/dec/A", {50}}}));
  EXPECT_TRUE(Gate(runs, 0.05).passed) << "on the whole";
  EXPECT_FALSE(Gate(runs, 0.05, "net/enc/**").passed);
  EXPECT_TRUE(Gate(runs, 0.05, "net/dec").passed);
  const GateVerdict typo = Gate(runs, 0.05, "net/encc");
  EXPECT_FALSE(typo.passed);
  EXPECT_THAT(typo.reason, HasSubstr("near: net/enc"));
}

TEST(GateTest, WhatWasNotThereBeforeIsTooMuch) {
  std::vector<MadeRun> runs;
  runs.push_back(Make("a", {{"net/A", {100}}}));
  runs.push_back(Make("b", {{"net/A", {100}}, {"net/new/B", {1}}}));
  const GateVerdict verdict = Gate(runs, 5, "net/new");
  EXPECT_FALSE(verdict.passed);
  EXPECT_THAT(verdict.reason, HasSubstr("took nothing before"));
}

TEST(ParseGateTest, Texts) {
  EXPECT_DOUBLE_EQ(ParseGate("5%")->limit, 0.05);
  EXPECT_DOUBLE_EQ(ParseGate(" 5 % ")->limit, 0.05);
  EXPECT_DOUBLE_EQ(ParseGate("0.05")->limit, 0.05);
  EXPECT_DOUBLE_EQ(ParseGate("0")->limit, 0);
  EXPECT_DOUBLE_EQ(ParseGate("150%")->limit, 1.5);
  EXPECT_EQ(ParseGate("encoder/**=10%")->pattern, "encoder/**");
  EXPECT_EQ(ParseGate("a=b=10%")->pattern, "a=b");
  for (const char* text :
       {"", "%", "-5%", "5", "five", "nan", "inf%", "=5%", "x=", "5%%", "1e999%"}) {
    const auto gate = ParseGate(text);
    ASSERT_FALSE(gate) << text;
    EXPECT_EQ(gate.error().code, ErrorCode::kMisuse);
  }
}

}  // namespace
}  // namespace beryl::tree
