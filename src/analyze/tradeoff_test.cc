#include <cmath>
#include <random>

#include "analyze/analyze.h"
#include "analyze/energy_use_testing.h"
#include "base/matchers_for_test.h"

namespace beryl::analyze {
namespace {

Dataset Models(const std::vector<double>& scales) {
  Dataset data;
  data.name = "data";
  for (size_t i = 0; i < scales.size(); ++i) {
    data.runs.push_back(MakeRun("m" + std::to_string(i), 8, 32, scales[i]));
  }
  return data;
}

std::vector<ModelAccuracy> Accuracies(const std::vector<double>& values) {
  std::vector<ModelAccuracy> accuracies;
  for (size_t i = 0; i < values.size(); ++i) {
    const std::string name = "m" + std::to_string(i);
    accuracies.push_back({name, name, values[i]});
  }
  return accuracies;
}

std::vector<std::string> FrontOf(const Tradeoff& tradeoff) {
  std::vector<std::string> front;
  for (const auto& point : tradeoff.points) {
    if (point.optimal_measured) front.push_back(point.model);
  }
  return front;
}

TEST(TradeOff, MarksTheFront) {
  const auto tradeoff = TradeOff(Models({1, 2, 3, 4}), {}, Accuracies({0.8, 0.9, 0.85, 0.95}), {});
  ASSERT_TRUE(tradeoff);
  EXPECT_THAT(FrontOf(*tradeoff), ElementsAre("m0", "m1", "m3"));
  ASSERT_THAT(tradeoff->choices, SizeIs(1));
  EXPECT_FALSE(tradeoff->choices[0].predicted);
  EXPECT_FALSE(tradeoff->choices[0].within_budget);
}

TEST(TradeOff, BudgetAndTargetChoose) {
  TradeoffOptions options;
  options.budget = Joules{3 * 33 + 1};
  options.target = 0.85;
  const auto tradeoff =
      TradeOff(Models({1, 2, 3, 4}), {}, Accuracies({0.8, 0.9, 0.85, 0.95}), options);
  ASSERT_TRUE(tradeoff);
  ASSERT_TRUE(tradeoff->choices[0].within_budget);
  EXPECT_EQ(tradeoff->points[*tradeoff->choices[0].within_budget].model, "m1");
  ASSERT_TRUE(tradeoff->choices[0].at_target);
  EXPECT_EQ(tradeoff->points[*tradeoff->choices[0].at_target].model, "m1");
  options.budget = Joules{1};
  options.target = 0.99;
  const auto none = TradeOff(Models({1, 2}), {}, Accuracies({0.8, 0.9}), options);
  ASSERT_TRUE(none);
  EXPECT_FALSE(none->choices[0].within_budget);
  EXPECT_FALSE(none->choices[0].at_target);
}

TEST(TradeOff, AnUnknownSizeStaysUnknown) {
  Dataset data = Models({1, 2});
  for (ModelRun& run : data.runs) run.batch_size = run.seq_len = std::nullopt;
  const auto tradeoff = TradeOff(data, {}, Accuracies({0.8, 0.9}), {});
  ASSERT_TRUE(tradeoff);
  EXPECT_EQ(tradeoff->batch_size, std::nullopt);
  EXPECT_EQ(tradeoff->seq_len, std::nullopt);
  TradeoffOptions options;
  options.batch_size = 8;
  const auto none = TradeOff(data, {}, Accuracies({0.8, 0.9}), options);
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr("?x?"));
}

TEST(TradeOff, TakesTheLargestCommonSize) {
  Dataset data = Models({1, 2});
  data.runs.push_back(MakeRun("m0", 16, 32, 3));
  data.runs.push_back(MakeRun("m1", 16, 32, 4));
  data.runs.push_back(MakeRun("m1", 32, 64, 9));
  const auto tradeoff = TradeOff(data, {}, Accuracies({0.8, 0.9}), {});
  ASSERT_TRUE(tradeoff);
  EXPECT_EQ(tradeoff->batch_size, 16);
  EXPECT_EQ(tradeoff->seq_len, 32);
  EXPECT_FALSE(tradeoff->size_chosen);
  TradeoffOptions options;
  options.batch_size = 32;
  options.seq_len = 64;
  const auto chosen = TradeOff(data, {}, Accuracies({0.8, 0.9}), options);
  ASSERT_TRUE(chosen);
  EXPECT_THAT(chosen->points, SizeIs(1));
  EXPECT_THAT(chosen->without_size, ElementsAre("m0"));
  EXPECT_TRUE(chosen->size_chosen);
}

TEST(TradeOff, NoCommonSizeIsAnErrorThatSaysWhichThereAre) {
  Dataset data = Models({1});
  data.runs.push_back(MakeRun("m1", 16, 64, 4));
  const auto tradeoff = TradeOff(data, {}, Accuracies({0.8, 0.9}), {});
  ASSERT_FALSE(tradeoff);
  EXPECT_THAT(tradeoff.error().message, HasSubstr("8x32, 16x64"));
  TradeoffOptions options;
  options.batch_size = 99;
  options.seq_len = 99;
  EXPECT_FALSE(TradeOff(data, {}, Accuracies({0.8, 0.9}), options));
}

TEST(TradeOff, SaysWhatIsInOneFileOnly) {
  auto accuracies = Accuracies({0.8});
  accuracies.push_back({"other", "other", 0.5});
  const auto tradeoff = TradeOff(Models({1, 2}), {}, accuracies, {});
  ASSERT_TRUE(tradeoff);
  EXPECT_THAT(tradeoff->without_accuracy, ElementsAre("m1"));
  EXPECT_THAT(tradeoff->without_energy, ElementsAre("other"));
  EXPECT_FALSE(TradeOff(Models({1}), {}, {{"x", "x", 1}}, {}));
}

TEST(TradeOff, PredictionsHaveAFrontOfTheirOwn) {
  Dataset data = Models({1, 2});
  std::vector<Column> predicted(2);
  predicted[0].total = {50};
  predicted[1].total = {40};
  const auto tradeoff = TradeOff(data, predicted, Accuracies({0.8, 0.9}), {});
  ASSERT_TRUE(tradeoff);
  ASSERT_THAT(tradeoff->choices, SizeIs(2));
  EXPECT_THAT(FrontOf(*tradeoff), ElementsAre("m0", "m1"));
  EXPECT_FALSE(tradeoff->points[0].optimal_predicted);
  EXPECT_TRUE(tradeoff->points[1].optimal_predicted);
}

// Laws of a front: it is not empty, no two on it beat each other, and all others are beaten by one
// on it.
TEST(TradeOff, FrontIsAFront) {
  std::mt19937 random(3);
  for (int round = 0; round < 100; ++round) {
    std::vector<double> scales;
    std::vector<double> accuracies;
    for (int i = 0; i < 12; ++i) {
      scales.push_back(1 + static_cast<double>(random() % 8));
      accuracies.push_back(static_cast<double>(random() % 8) / 8);
    }
    const auto tradeoff = TradeOff(Models(scales), {}, Accuracies(accuracies), {});
    ASSERT_TRUE(tradeoff);
    EXPECT_FALSE(FrontOf(*tradeoff).empty());
    for (const auto& point : tradeoff->points) {
      bool beaten_by_front = false;
      for (const auto& other : tradeoff->points) {
        const bool beats =
            other.energy.measured <= point.energy.measured && other.accuracy >= point.accuracy &&
            (other.energy.measured < point.energy.measured || other.accuracy > point.accuracy);
        beaten_by_front = beaten_by_front || (beats && other.optimal_measured);
      }
      EXPECT_EQ(beaten_by_front, !point.optimal_measured);
    }
  }
}

}  // namespace
}  // namespace beryl::analyze
