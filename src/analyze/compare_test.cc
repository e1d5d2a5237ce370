#include <cmath>
#include <random>

#include <fmt/format.h>

#include "analyze/compare_testing.h"
#include "base/matchers_for_test.h"

namespace beryl::analyze {
namespace {

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
  EXPECT_TRUE(found.differences[0].found) << "half more is more than runs are assumed to differ";
  ASSERT_EQ(found.verdicts.size(), 1U);
  EXPECT_EQ(found.verdicts[0].change.unit, VariationUnit::kAssumed);
  // Each run deviates by 2 %: the logarithm of their ratio by 1.96 * 2 % * sqrt(2).
  EXPECT_NEAR(*found.verdicts[0].change.low, 1.5 * std::exp(-0.05544) - 1, 1e-4);
  EXPECT_NEAR(*found.verdicts[0].change.high, 1.5 * std::exp(0.05544) - 1, 1e-4);
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

TEST(DifferencesTest, ChanceIsToldFromChangeByRuns) {
  std::vector<MadeRun> runs;
  for (const double noise : {-0.1, 0.0, 0.1, -0.1, 0.0, 0.1}) {
    const double change = runs.size() < 3 ? 0 : 2;
    runs.push_back(
        Make(fmt::format("r{}", runs.size()),
             {{"net/steady", {10 + noise + change}}, {"net/shaky", {15 + 100 * noise + change}}}));
  }
  CompareOptions options;
  options.sides = {3, 3};
  const Comparison found = CompareRuns(runs, options);
  ASSERT_EQ(found.differences.size(), 2U);
  for (const DifferenceRow& row : found.differences) {
    EXPECT_EQ(row.found, row.path == "net/steady");
    EXPECT_EQ(row.is_noise, row.path == "net/shaky");
  }
  // Both means have a standard error of 0.1 / sqrt(3), with 4 degrees of freedom.
  const auto& steady = found.differences[found.differences[0].path == "net/steady" ? 0 : 1];
  EXPECT_NEAR(ValueOrNan(steady.noise), 2.776445 * std::sqrt(2.0 / 3) * 0.1, 1e-6);
  EXPECT_EQ(found.sides[1].label, "r3 and 2 more");
  EXPECT_THAT(found.sides[1].runs, ElementsAre(3, 4, 5));
}

TEST(DifferencesTest, ManyLinesAreJudgedTogether) {
  // Each of forty lines differs by more than its own noise one time in twenty by chance.
  std::mt19937_64 random(17);
  std::normal_distribution<double> noise(100, 3);
  size_t beyond_noise = 0;
  size_t found_lines = 0;
  for (int turn = 0; turn < 20; ++turn) {
    std::vector<MadeRun> runs;
    for (int run = 0; run < 8; ++run) {
      Steps steps;
      for (int op = 0; op < 40; ++op) steps[fmt::format("net/op{}x", op)] = {noise(random)};
      runs.push_back(Make(fmt::format("r{}", run), steps));
    }
    CompareOptions options;
    options.sides = {4, 4};
    options.differences_level = ParseNameLevel("operation");
    for (const DifferenceRow& row : CompareRuns(runs, options).differences) {
      beyond_noise += row.is_noise ? 0 : 1;
      found_lines += row.found ? 1 : 0;
    }
  }
  EXPECT_GT(beyond_noise, 20U);
  EXPECT_LE(found_lines, 2U);
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

}  // namespace
}  // namespace beryl::analyze
