#include "views/folded_description.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "views/described_testing.h"

namespace beryl::views {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> NamesOf(const std::vector<FoldedNode>& lines) {
  std::vector<std::string> names;
  for (const FoldedNode& line : lines) names.push_back(line.name);
  return names;
}

TEST(FoldLikeTest, LayersThatAgreeInEveryNumberAreOneLine) {
  const Description description = ThreeLayers();
  const auto lines = FoldLike(description);
  EXPECT_THAT(NamesOf(lines),
              ElementsAre("tiny", "layer.0,2", "dense", "addmm", "layer.1", "dense", "addmm"));
  EXPECT_EQ(lines[1].count, 2u);
  EXPECT_EQ(lines[2].count, 1u);
  EXPECT_EQ(lines[2].nodes.size(), 2u);
  EXPECT_EQ(lines[4].nodes.size(), 1u);
}

TEST(FoldLikeTest, LinesOfOneDepthAddUpToTheWhole) {
  const Description description = ThreeLayers();
  double sum = 0;
  for (const FoldedNode& line : FoldLike(description)) {
    if (line.depth != 3) continue;
    sum += SumOver(line, [&](NodeId node) { return description.nodes[node].work.flops; });
  }
  EXPECT_EQ(sum, description.nodes[0].work.flops);
}

TEST(FoldLikeTest, LongListsOfNumbersAreCutShort) {
  DescriptionBuilder builder;
  const NodeId root = builder.Add(0, Level::kModel, "tiny", "TinyModel", 1);
  for (int i = 0; i < 10; ++i) builder.AddLayer(root, i, i % 2 == 0 ? 100 : 50);
  const auto lines = FoldLike(builder.description);
  EXPECT_EQ(lines[1].name, "layer.0,2,…,8");
  EXPECT_EQ(lines[4].name, "layer.1,3,…,9");
}

TEST(FoldLikeTest, PrimitivesWithNumbersInTheirNamesAreNotLayers) {
  DescriptionBuilder builder;
  const NodeId root = builder.Add(0, Level::kModel, "tiny", "TinyModel", 2);
  builder.Add(root, Level::kMl, "fc1", "Linear", 1);
  builder.Add(root, Level::kMl, "fc2", "Linear", 1);
  EXPECT_THAT(NamesOf(FoldLike(builder.description)), ElementsAre("tiny", "fc1", "fc2"));
}

TEST(ShownLinesTest, MathOperationsOnlyWhereTheyWereAskedFor) {
  const Description description = ThreeLayers();
  const auto lines = FoldLike(description);
  EXPECT_THAT(NamesOf(ShownLines(description, lines, {})),
              ElementsAre("tiny", "layer.0,2", "dense", "layer.1", "dense"));
  EXPECT_EQ(ShownLines(description, lines, 3).size(), lines.size());
  EXPECT_EQ(ShownLines(description, lines, 0).size(), 1u);
}

TEST(ShownLinesTest, AScreenAtTheMostUnlessAskedFor) {
  DescriptionBuilder builder;
  const NodeId root = builder.Add(0, Level::kModel, "tiny", "TinyModel", 1);
  for (int i = 0; i < 30; ++i) builder.AddLayer(root, i, 100 + i);
  const auto lines = FoldLike(builder.description);
  EXPECT_EQ(lines.size(), 91u);
  EXPECT_EQ(ShownLines(builder.description, lines, {}).size(), 31u);
  EXPECT_EQ(ShownLines(builder.description, lines, 9).size(), 91u);
}

}  // namespace
}  // namespace beryl::views
