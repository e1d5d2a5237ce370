#include "analyze/analyze.h"
#include "analyze/analyze_testing.h"
#include "base/matchers_for_test.h"
#include "types/find_nodes.h"

namespace beryl::analyze {
namespace {

struct Made {
  TraceTree built;
  std::vector<Column> columns;
};

Made MakeTree(TraceMaker& maker, bool fold = false) {
  Made made;
  made.built = Build(maker.trace());
  if (fold) made.built = Fold(made.built);
  made.columns = Columns(maker.trace(), maker.footprint(), made.built);
  return made;
}

EnergyDiagram DiagramOf(TraceMaker& maker, std::string_view path,
                        const DiagramOptions& options = {}, bool fold = false) {
  const Made made = MakeTree(maker, fold);
  const NodeId node = path.empty() ? 0 : FindPath(made.built, path).value();
  return MakeDiagram(maker.trace(), made.built, made.columns, node, options);
}

std::vector<std::string> NamesOf(const EnergyDiagram& diagram) {
  std::vector<std::string> names;
  for (const DiagramBox& box : diagram.boxes) names.push_back(box.name);
  return names;
}

double SumOfShares(const EnergyDiagram& diagram) {
  double sum = 0;
  for (const DiagramBox& box : diagram.boxes) sum += box.share.value_or(0);
  return sum;
}

TEST(DiagramTest, BoxesAreThePartsOfANodeAndSharesAreOfTheFigure) {
  TraceMaker maker;
  maker.Share(maker.Kind("bert/encoder/dense/MatMul"), 6);
  maker.Share(maker.Kind("bert/encoder/Softmax"), 2);
  maker.Share(maker.Kind("loss/Sum"), 92);
  const EnergyDiagram diagram = DiagramOf(maker, "bert/encoder");
  EXPECT_EQ(diagram.path, "bert/encoder");
  EXPECT_THAT(NamesOf(diagram), ElementsAre("dense", "Softmax"));
  EXPECT_TRUE(diagram.boxes[0].composite);
  EXPECT_FALSE(diagram.boxes[1].composite);
  EXPECT_EQ(diagram.boxes[0].path, "bert/encoder/dense");
  EXPECT_THAT(diagram.energy, Optional(Joules{8.0}));
  EXPECT_THAT(diagram.boxes[0].share, Optional(0.75));
}

TEST(DiagramTest, WhatANodeDidItselfIsABox) {
  TraceMaker maker;
  const uint32_t caller = maker.Kind("net/aten::linear");
  maker.Share(caller, 1);
  maker.Share(maker.Below(caller, "aten::addmm", PathKind::kOperation), 3);
  const EnergyDiagram diagram = DiagramOf(maker, "net/aten::linear");
  EXPECT_THAT(NamesOf(diagram), ElementsAre("(itself)", "aten::addmm"));
  EXPECT_DOUBLE_EQ(SumOfShares(diagram), 1);
  EXPECT_THAT(NamesOf(DiagramOf(maker, "net/aten::linear/aten::addmm")),
              ElementsAre("aten::addmm"));
}

TEST(DiagramTest, LikeLayersAreOneBox) {
  TraceMaker maker;
  for (int i = 0; i < 24; ++i) {
    maker.Share(maker.Kind("bert/layer_" + std::to_string(i) + "/dense/MatMul"), 1);
  }
  const EnergyDiagram folded = DiagramOf(maker, "bert", {}, true);
  EXPECT_THAT(NamesOf(folded), ElementsAre("layer_*"));
  EXPECT_EQ(folded.boxes[0].folded, 24U);
  EXPECT_EQ(folded.boxes[0].folded_range, "0-23");
  EXPECT_EQ(DiagramOf(maker, "bert").boxes.size(), 24U);
}

TEST(DiagramTest, ArrowsAreDataflowLiftedToTheBoxes) {
  TraceMaker maker;
  const uint32_t query = maker.Kind("bert/query/MatMul");
  const uint32_t bias = maker.Kind("bert/query/BiasAdd");
  const uint32_t softmax = maker.Kind("bert/Softmax");
  const uint32_t loss = maker.Kind("loss/Sum");
  for (const uint32_t kind : {query, bias, softmax, loss}) maker.Share(kind, 1);
  maker.trace().dataflow = {{query, bias}, {query, softmax}, {bias, softmax}, {softmax, loss}};
  const EnergyDiagram diagram = DiagramOf(maker, "bert");
  EXPECT_TRUE(diagram.has_dataflow);
  ASSERT_EQ(diagram.arrows.size(), 1U) << "what stays inside a box is no arrow";
  EXPECT_EQ(diagram.boxes[diagram.arrows[0].from].name, "query");
  EXPECT_EQ(diagram.boxes[diagram.arrows[0].to].name, "Softmax");
  EXPECT_EQ(diagram.arrows[0].count, 2U);
  EXPECT_EQ(diagram.boxes[diagram.arrows[0].to].to_outside, 1U);
  EXPECT_EQ(DiagramOf(maker, "").arrows.size(), 1U);
}

TEST(DiagramTest, FromOneFoldedLayerToTheNextIsOutAndIn) {
  TraceMaker maker;
  std::vector<uint32_t> attention;
  std::vector<uint32_t> output;
  for (int i = 0; i < 3; ++i) {
    const std::string layer = "bert/layer_" + std::to_string(i);
    attention.push_back(maker.Kind(layer + "/attention/MatMul"));
    output.push_back(maker.Kind(layer + "/output/MatMul"));
    maker.Share(attention.back(), 1);
    maker.Share(output.back(), 1);
    maker.trace().dataflow.push_back({attention.back(), output.back()});
    if (i > 0) maker.trace().dataflow.push_back({output[output.size() - 2], attention.back()});
  }
  const EnergyDiagram diagram = DiagramOf(maker, "bert/layer_*", {}, true);
  ASSERT_EQ(diagram.arrows.size(), 1U) << "no cycle where the program has none";
  EXPECT_EQ(diagram.boxes[diagram.arrows[0].from].name, "attention");
  EXPECT_EQ(diagram.arrows[0].count, 3U);
  EXPECT_EQ(diagram.boxes[diagram.arrows[0].from].from_outside, 2U);
  EXPECT_EQ(diagram.boxes[diagram.arrows[0].to].to_outside, 2U);
}

TEST(DiagramTest, APhaseIsAProjection) {
  TraceMaker maker;
  const uint32_t forward = maker.Kind("a/MatMul");
  const uint32_t backward = maker.Kind("b/MatMul", Phase::kBackward);
  maker.Share(forward, 1);
  maker.Share(backward, 3);
  maker.trace().dataflow = {{forward, backward}};
  const EnergyDiagram diagram = DiagramOf(maker, "", {.phase = Phase::kBackward});
  EXPECT_THAT(NamesOf(diagram), ElementsAre("b"));
  EXPECT_THAT(diagram.boxes[0].share, Optional(1.0));
  EXPECT_THAT(diagram.arrows, IsEmpty());
  EXPECT_THAT(DiagramOf(maker, "", {.phase = Phase::kOptimizer}).boxes, IsEmpty());
}

TEST(DiagramTest, ManyPartsShareABoxAndNothingIsLost) {
  TraceMaker maker;
  std::vector<uint32_t> kinds;
  for (int i = 0; i < 300; ++i) {
    kinds.push_back(maker.Kind("part" + std::string(static_cast<size_t>(i % 7 + 1), 'x') +
                               std::to_string(i) + "y/Op"));
    maker.Share(kinds.back(), i + 1);
  }
  for (size_t i = 1; i < kinds.size(); ++i) {
    maker.trace().dataflow.push_back({kinds[i - 1], kinds[i]});
  }
  const EnergyDiagram diagram = DiagramOf(maker, "");
  ASSERT_EQ(diagram.boxes.size(), 40U);
  EXPECT_EQ(diagram.boxes.back().name, "261 more");
  EXPECT_EQ(diagram.boxes.back().gathered, 261U);
  EXPECT_THAT(diagram.energy, Optional(Joules{300 * 301 / 2.0}));
  EXPECT_NEAR(SumOfShares(diagram), 1, 1e-12);
  for (const DiagramArrow& arrow : diagram.arrows) {
    EXPECT_LT(arrow.from, 40U);
    EXPECT_LT(arrow.to, 40U);
    EXPECT_NE(arrow.from, arrow.to);
  }
}

TEST(DiagramTest, UnknownEnergyIsNotZero) {
  TraceMaker maker;
  maker.Share(maker.Kind("a/MatMul"), 1);
  maker.Unmetered(maker.Kind("dark/MatMul"), "GPU:0");
  const EnergyDiagram diagram = DiagramOf(maker, "");
  ASSERT_EQ(diagram.boxes.size(), 2U);
  EXPECT_FALSE(diagram.boxes[1].energy);
  EXPECT_FALSE(diagram.boxes[1].share);
  EXPECT_THAT(diagram.boxes[0].share, Optional(1.0));
}

TEST(DiagramTest, LevelsGoOnInTheLargestPart) {
  TraceMaker maker;
  maker.Share(maker.Kind("bert/embeddings/Gather"), 1);
  maker.Share(maker.Kind("bert/encoder/layer/dense/MatMul"), 8);
  maker.Share(maker.Kind("bert/encoder/layer/Softmax"), 1);
  const Made made = MakeTree(maker);
  const auto diagrams = MakeDiagrams(maker.trace(), made.built, made.columns, 0, 3, {});
  ASSERT_EQ(diagrams.size(), 3U);
  // A level with one part is passed through: not the program, whose only part is bert.
  EXPECT_EQ(diagrams[0].path, "bert");
  EXPECT_EQ(diagrams[1].path, "bert/encoder/layer");
  EXPECT_EQ(diagrams[2].path, "bert/encoder/layer/dense");
}

TEST(DiagramTest, AnEmptyRunHasAnEmptyFigure) {
  TraceMaker maker;
  const Made made = MakeTree(maker);
  const auto diagrams = MakeDiagrams(maker.trace(), made.built, made.columns, 0, 3, {});
  ASSERT_EQ(diagrams.size(), 1U);
  EXPECT_THAT(diagrams[0].boxes, IsEmpty());
}

TEST(FindNodesTest, ByPathByEndAndByPattern) {
  TraceMaker maker;
  for (const char* path : {"bert/encoder/layer_0/dense/MatMul", "bert/encoder/layer_1/dense/MatMul",
                           "bert/pooler/dense/MatMul", "grad/bert/encoder/layer_0/MatMul"}) {
    maker.Share(maker.Kind(path), 1);
  }
  const ModelTree tree = Build(maker.trace()).tree;
  auto find = [&](std::string_view pattern) {
    std::vector<std::string> paths;
    for (const NodeId node : FindNodes(tree, pattern)) paths.push_back(NodePath(tree, node));
    return paths;
  };
  EXPECT_THAT(find("bert/encoder"), ElementsAre("bert/encoder"));
  EXPECT_THAT(find("pooler"), ElementsAre("bert/pooler"));
  EXPECT_THAT(find("pooler/dense"), ElementsAre("bert/pooler/dense"));
  EXPECT_THAT(
      find("bert/encoder/layer_*"),
      ElementsAre("bert/encoder/layer_0", "bert/encoder/layer_1", "grad/bert/encoder/layer_0"));
  EXPECT_THAT(find("bert/*/dense"), ElementsAre("bert/pooler/dense"));
  EXPECT_THAT(
      find("bert/**/dense"),
      ElementsAre("bert/encoder/layer_0/dense", "bert/encoder/layer_1/dense", "bert/pooler/dense"));
  EXPECT_THAT(find("encoder/layer_?/dense").size(), 2U);
  EXPECT_THAT(find("nothing"), IsEmpty());
  EXPECT_EQ(FindNodes(tree, "").size(), 1U);
  EXPECT_THAT(find(std::string(500, '*') + "z"), IsEmpty());
  EXPECT_THAT(NearPaths(tree, "encodr", 3), ElementsAre("bert/encoder"));
  EXPECT_THAT(NearPaths(tree, "pool", 3), ElementsAre("bert/pooler"));
  EXPECT_THAT(NearPaths(tree, "zzzzzzzzzzzzzzzz", 3), IsEmpty());
}

TEST(LayersTest, LikeLayersAreTheLayersInBothPasses) {
  TraceMaker maker;
  const uint32_t other = maker.Kind("bert/embeddings/Gather");
  const uint32_t first = maker.Kind("bert/encoder/layer_0/dense/MatMul");
  const uint32_t second = maker.Kind("bert/encoder/layer_1/dense/MatMul");
  const uint32_t gradient =
      maker.Kind("gradients/bert/encoder/layer_1/dense/MatMul", Phase::kBackward);
  const uint32_t gradient0 =
      maker.Kind("gradients/bert/encoder/layer_0/dense/MatMul", Phase::kBackward);
  for (uint32_t kind = 0; kind < maker.trace().kinds.size(); ++kind) maker.Share(kind, 1);
  const Made made = MakeTree(maker);
  const LayerGroups groups = GroupByLayer(made.built, Fold(made.built), made.columns, {});
  EXPECT_THAT(groups.names, ElementsAre("layer_0", "layer_1"));
  EXPECT_EQ(groups.layer_of_kind[other], kNoLayer);
  EXPECT_EQ(groups.layer_of_kind[first], 0U);
  EXPECT_EQ(groups.layer_of_kind[second], 1U);
  EXPECT_EQ(groups.layer_of_kind[gradient], 1U);
  EXPECT_EQ(groups.layer_of_kind[gradient0], 0U);
}

TEST(LayersTest, ByNodeByLevelAndNeverTooMany) {
  TraceMaker maker;
  for (int i = 0; i < 50; ++i) {
    maker.Share(maker.Kind("net/" + std::string(1, static_cast<char>('A' + i)) + "/Op"), i);
  }
  const Made made = MakeTree(maker);
  const TraceTree folded = Fold(made.built);
  const LayerGroups level = GroupByLayer(made.built, folded, made.columns, {.level = 1});
  EXPECT_THAT(level.names, ElementsAre("net"));
  const LayerGroups node =
      GroupByLayer(made.built, folded, made.columns, {.node = FindPath(made.built, "net").value()});
  ASSERT_EQ(node.names.size(), kMostLayers);
  EXPECT_EQ(node.names.back(), "r") << "in order, the largest";
  EXPECT_EQ(node.layer_of_kind[0], kNoLayer) << "the smallest is other";
}

}  // namespace
}  // namespace beryl::analyze
