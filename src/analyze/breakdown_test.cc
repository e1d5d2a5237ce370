#include <cmath>
#include <random>

#include "analyze/analyze.h"
#include "analyze/energy_use_testing.h"
#include "base/matchers_for_test.h"

namespace beryl::analyze {
namespace {

Dataset TwoSizes() {
  Dataset data;
  data.name = "two";
  data.runs = {MakeRun("gpt", 8, 32, 1), MakeRun("gpt", 8, 64, 3)};
  return data;
}

std::vector<std::string> TypesOf(const Breakdown& breakdown) {
  std::vector<std::string> types;
  for (const auto& part : breakdown.parts) types.push_back(part.type);
  return types;
}

double SumOf(const Breakdown& breakdown) {
  std::optional<Joules> sum = breakdown.rest.measured;
  for (const auto& part : breakdown.parts) AddKnown(sum, part.energy.measured);
  return ValueOrNan(sum);
}

TEST(BreakDown, PartsAreModulesOfPrimitivesAndPrimitivesBesideModules) {
  std::vector<Note> notes;
  const auto breakdowns = BreakDown(TwoSizes(), {}, notes);
  ASSERT_TRUE(breakdowns);
  ASSERT_THAT(*breakdowns, SizeIs(1));
  const Breakdown& gpt = breakdowns->front();
  EXPECT_THAT(TypesOf(gpt), ElementsAre("MLP", "Attention", "LayerNorm", "Embedding"));
  EXPECT_EQ(gpt.measured_runs, 2u);
  EXPECT_EQ(gpt.predicted_runs, 0u);
  EXPECT_DOUBLE_EQ(ValueOrNan(gpt.whole.measured), 66);
  EXPECT_DOUBLE_EQ(ValueOrNan(gpt.parts[0].energy.measured), 30);
  EXPECT_EQ(gpt.parts[0].nodes, 3u);
  EXPECT_DOUBLE_EQ(ValueOrNan(gpt.rest.measured), 66 - 30 - 18 - 6 - 2);
  EXPECT_FALSE(gpt.whole.predicted);
  EXPECT_THAT(notes, IsEmpty());
}

TEST(BreakDown, LayersAreFoldedAndAddedUp) {
  std::vector<Note> notes;
  const auto breakdowns = BreakDown(TwoSizes(), {}, notes);
  ASSERT_TRUE(breakdowns);
  const Breakdown& gpt = breakdowns->front();
  ASSERT_THAT(gpt.tree.tree.nodes, SizeIs(9));
  EXPECT_EQ(gpt.tree.tree.nodes[2].name, "h.*");
  EXPECT_EQ(gpt.tree.tree.nodes[2].folded, 3u);
  EXPECT_EQ(gpt.tree.tree.nodes[2].folded_range, "0-2");
  EXPECT_EQ(gpt.tree.tree.nodes[2].end, 9u);
  EXPECT_DOUBLE_EQ(gpt.tree.columns.front().total[2], 60);
  // Two primitives of one name stay two.
  EXPECT_DOUBLE_EQ(gpt.tree.columns.front().total[5], 6);
  EXPECT_DOUBLE_EQ(gpt.tree.columns.front().total[6], 9);
}

TEST(BreakDown, PredictedStandsBesideMeasured) {
  Dataset data = TwoSizes();
  std::vector<Column> predicted(2);
  for (size_t run = 0; run < 2; ++run) {
    predicted[run].total = data.runs[run].measured;
    for (double& joules : predicted[run].total) joules *= 2;
  }
  data.runs[1].measured.assign(data.runs[1].measured.size(), kUnknown);
  std::vector<Note> notes;
  const auto breakdowns = BreakDown(data, predicted, notes);
  ASSERT_TRUE(breakdowns);
  EXPECT_EQ(breakdowns->front().measured_runs, 1u);
  EXPECT_EQ(breakdowns->front().predicted_runs, 2u);
  EXPECT_DOUBLE_EQ(ValueOrNan(breakdowns->front().whole.measured), 33);
  EXPECT_DOUBLE_EQ(ValueOrNan(breakdowns->front().whole.predicted), 132);
  EXPECT_DOUBLE_EQ(ValueOrNan(breakdowns->front().parts[0].energy.predicted), 60);
}

TEST(BreakDown, WhatIsNotKnownOfAPartIsInTheRestAndSaid) {
  Dataset data = TwoSizes();
  data.runs[0].measured[4] = kUnknown;  // the first attention
  std::vector<Note> notes;
  const auto breakdowns = BreakDown(data, {}, notes);
  ASSERT_TRUE(breakdowns);
  EXPECT_THAT(SumOf(breakdowns->front()), DoubleNear(66, 1e-12));
  ASSERT_THAT(notes, SizeIs(1));
  EXPECT_EQ(notes[0].count, 1u);
  EXPECT_THAT(notes[0].first, HasSubstr("gpt 8x32 h.0.attn"));
  // The folded node's sum has something unknown in it.
  EXPECT_TRUE(std::isnan(breakdowns->front().tree.columns.front().total[4]));
  EXPECT_DOUBLE_EQ(breakdowns->front().tree.columns.front().total[2], 60);
}

TEST(BreakDown, RunsWithFewerNodesAreMatchedByName) {
  Dataset data = TwoSizes();
  ModelRun cut = MakeRun("gpt", 16, 32, 1, 2);  // without the third layer
  data.runs.push_back(cut);
  std::vector<Note> notes;
  const auto breakdowns = BreakDown(data, {}, notes);
  ASSERT_TRUE(breakdowns);
  EXPECT_EQ(breakdowns->front().measured_runs, 3u);
  EXPECT_THAT(notes, SizeIs(1));  // three parts of the third layer
  EXPECT_EQ(notes[0].count, 3u);
  EXPECT_THAT(SumOf(breakdowns->front()), DoubleEq(ValueOrNan(breakdowns->front().whole.measured)));
}

TEST(BreakDown, WithoutAnyEnergyThereIsNothingToSay) {
  Dataset data = TwoSizes();
  for (ModelRun& run : data.runs) run.measured.assign(run.measured.size(), kUnknown);
  std::vector<Note> notes;
  const auto breakdowns = BreakDown(data, {}, notes);
  ASSERT_FALSE(breakdowns);
  EXPECT_THAT(breakdowns.error().message, HasSubstr("a profile can predict it"));
  EXPECT_FALSE(BreakDown({}, {}, notes));
}

// Law: whatever is known of whatever tree, the parts and the rest are the whole.
TEST(BreakDown, PartsAndRestAreAlwaysTheWhole) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    Dataset data;
    for (int run = 0; run < 3; ++run) {
      ModelRun made;
      made.model = "m";
      made.batch_size = run + 1;
      AddNode(made, 0, Level::kModel, "m", "", 1 + static_cast<double>(random() % 100));
      NodeId last = 0;
      for (int i = 0; i < 20; ++i) {
        // Hangs below the last node or one above it, and never below a primitive.
        NodeId parent = last;
        while (parent != 0 && (random() % 2 == 0 || made.tree.nodes[parent].level == Level::kMl)) {
          parent = made.tree.nodes[parent].parent;
        }
        last = AddNode(made, parent, random() % 2 == 0 ? Level::kModule : Level::kMl,
                       "n." + std::to_string(random() % 4), std::string(1, "ABC"[random() % 3]),
                       random() % 5 == 0 ? kUnknown : static_cast<double>(random() % 50));
      }
      data.runs.push_back(std::move(made));
    }
    std::vector<Note> notes;
    const auto breakdowns = BreakDown(data, {}, notes);
    ASSERT_TRUE(breakdowns);
    const Breakdown& found = breakdowns->front();
    EXPECT_THAT(SumOf(found), DoubleNear(ValueOrNan(found.whole.measured), 1e-9));
    EXPECT_THAT(ValueOrNan(found.sum.measured), DoubleNear(ValueOrNan(found.whole.measured), 1e-9));
    EXPECT_EQ(found.tree.columns.front().total.size(), found.tree.tree.size());
  }
}

}  // namespace
}  // namespace beryl::analyze
