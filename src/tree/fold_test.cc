#include <cmath>
#include <random>

#include <fmt/format.h>

#include "analyze/analyze.h"
#include "base/matchers_for_test.h"
#include "tree/tree_testing.h"
#include "types/fold_tree.h"

namespace beryl::tree {
namespace {

TraceTree Folded(const std::vector<std::string>& paths) {
  TraceMaker maker;
  for (const std::string& path : paths) maker.Kind(path);
  TraceTree folded = Fold(Build(maker.trace()));
  EXPECT_EQ(WrongWith(folded), "");
  return folded;
}

// Layers called by `pattern`, with the same two operations in each.
std::vector<std::string> Layers(std::string_view pattern, int count) {
  std::vector<std::string> paths;
  for (int i = 0; i < count; ++i) {
    const std::string layer = fmt::format(fmt::runtime(pattern), i);
    paths.push_back("net/" + layer + "/attention/MatMul");
    paths.push_back("net/" + layer + "/output/Add");
  }
  return paths;
}

TEST(FoldTest, LayersAreFoundByTheShapeOfTheirName) {
  const std::vector<std::pair<std::string, std::string>> names = {
      {"layer_{}", "layer_*"},
      {"layers.{}", "layers.*"},
      {"h.{}", "h.*"},
      {"block{}", "block*"},
      {"{}", "*"},
      {"zzqx_{}", "zzqx_*"},
      {"слой_{}", "слой_*"},
  };
  for (const auto& [pattern, star] : names) {
    const TraceTree folded = Folded(Layers(pattern, 4));
    EXPECT_THAT(PathsOf(folded),
                ElementsAre("net", "net/" + star, "net/" + star + "/attention",
                            "net/" + star + "/attention/MatMul", "net/" + star + "/output",
                            "net/" + star + "/output/Add"));
    const TreeNode& layer = folded.tree.nodes[2];
    EXPECT_EQ(layer.folded, 4U);
    EXPECT_EQ(layer.folded_range, "0-3");
    EXPECT_EQ(folded.tree.nodes[3].folded, 1U);
  }
}

// As module frames name them: class and ordinal of that class in the whole model.
std::vector<std::string> TypedBert(int layers) {
  std::vector<std::string> paths;
  for (int i = 0; i < layers; ++i) {
    const std::string layer =
        fmt::format("Bert_0<Bert>/BertLayer_{}<BertLayer>/BertAttention_{}<BertAttention>", i, i);
    for (int j = 0; j < 3; ++j) {
      paths.push_back(fmt::format("{}/Linear_{}<Linear>/aten::addmm", layer, i * 4 + j));
    }
    paths.push_back(layer + "/aten::softmax");
    paths.push_back(fmt::format(
        "Bert_0<Bert>/BertLayer_{}<BertLayer>/Linear_{}<Linear>/aten::addmm", i, i * 4 + 3));
  }
  return paths;
}

TEST(FoldTest, ClassesAreFoldedAndWhatIsInsideIsAlignedByPosition) {
  const TraceTree folded = Folded(TypedBert(4));
  const std::string layer = "Bert_0/BertLayer_*";
  EXPECT_THAT(
      PathsOf(folded),
      ElementsAre(
          "Bert_0", layer, layer + "/BertAttention", layer + "/BertAttention/Linear[0]",
          layer + "/BertAttention/Linear[0]/aten::addmm", layer + "/BertAttention/Linear[1]",
          layer + "/BertAttention/Linear[1]/aten::addmm", layer + "/BertAttention/Linear[2]",
          layer + "/BertAttention/Linear[2]/aten::addmm", layer + "/BertAttention/aten::softmax",
          layer + "/Linear", layer + "/Linear/aten::addmm"));
}

TEST(FoldTest, QueryKeyAndValueOfAnAttentionAreNotLayers) {
  const TraceTree folded = Folded({"Attention_0<Attention>/Linear_0<Linear>/aten::addmm",
                                   "Attention_0<Attention>/Linear_1<Linear>/aten::addmm",
                                   "Attention_0<Attention>/Linear_2<Linear>/aten::addmm"});
  EXPECT_THAT(PathsOf(folded), IsSupersetOf({"Attention_0/Linear_0", "Attention_0/Linear_1",
                                             "Attention_0/Linear_2"}));
}

TEST(FoldTest, NumbersThatOnlyMakeANameUniqueAreNotLayers) {
  EXPECT_THAT(PathsOf(Folded({"net/dense/MatMul", "net/dense_1/MatMul", "net/dense_2/MatMul"})),
              IsSupersetOf({"net/dense", "net/dense_1", "net/dense_2"}));
  EXPECT_THAT(PathsOf(Folded({"net/MatMul", "net/MatMul_1", "net/MatMul_2"})),
              UnorderedElementsAre("net", "net/MatMul", "net/MatMul_1", "net/MatMul_2"));
  EXPECT_THAT(PathsOf(Folded({"net/MatMul_1", "net/MatMul_2"})),
              UnorderedElementsAre("net", "net/MatMul_1", "net/MatMul_2"))
      << "an operation has nothing inside that could be the same";
}

TEST(FoldTest, OneLayerIsNoRepetition) {
  EXPECT_THAT(PathsOf(Folded(Layers("layer_{}", 1))), Contains("net/layer_0"));
}

TEST(FoldTest, DifferentSubstructuresAreDifferentGroups) {
  const TraceTree folded =
      Folded({"net/layer_0/conv/Conv2D", "net/layer_0/conv/Bias", "net/layer_1/conv/Conv2D",
              "net/layer_1/conv/Bias", "net/layer_2/lstm/Gate", "net/layer_2/lstm/Tanh",
              "net/layer_3/lstm/Gate", "net/layer_3/lstm/Tanh", "net/layer_4/pool/Max"});
  EXPECT_THAT(PathsOf(folded), IsSupersetOf({"net/layer_[0-1]", "net/layer_[2-3]", "net/layer_4"}));
  EXPECT_EQ(folded.tree.nodes[*FindPath(folded, "net/layer_[2-3]")].folded, 2U);
}

TEST(FoldTest, RangesNameTheLayersThatAreThere) {
  const TraceTree folded = Folded(
      {"net/h.1/a/A", "net/h.2/a/A", "net/h.3/a/A", "net/h.7/a/A", "net/h.10/a/A", "net/h.11/a/A"});
  EXPECT_EQ(folded.tree.nodes[*FindPath(folded, "net/h.*")].folded_range, "1-3,7,10-11");
}

TEST(FoldTest, SmallDifferencesDoNotKeepLayersApart) {
  std::vector<std::string> paths;
  for (int i = 0; i < 6; ++i) {
    for (const char* op : {"query/MatMul", "key/MatMul", "value/MatMul", "out/MatMul", "out/Add"}) {
      paths.push_back(fmt::format("net/layer_{}/{}", i, op));
    }
  }
  paths.push_back("net/layer_0/mask/Const");
  const TraceTree folded = Folded(paths);
  EXPECT_EQ(folded.tree.nodes[*FindPath(folded, "net/layer_*")].folded, 6U);
  EXPECT_TRUE(FindPath(folded, "net/layer_*/mask/Const")) << "what only one layer has is kept";
}

TEST(FoldTest, RepetitionMayBeNested) {
  std::vector<std::string> paths;
  for (int stage = 0; stage < 3; ++stage) {
    for (int block = 0; block < 4; ++block) {
      paths.push_back(fmt::format("net/stage_{}/block_{}/conv/Conv2D", stage, block));
      paths.push_back(fmt::format("net/stage_{}/block_{}/norm/Mul", stage, block));
    }
  }
  const TraceTree folded = Folded(paths);
  EXPECT_EQ(folded.tree.nodes[*FindPath(folded, "net/stage_*")].folded, 3U);
  EXPECT_EQ(folded.tree.nodes[*FindPath(folded, "net/stage_*/block_*")].folded, 4U);
  EXPECT_EQ(folded.tree.nodes.size(), 1U + 1 + 2 + 4);
}

TEST(FoldTest, NestedRepetitionMayCountOnFromStageToStage) {
  std::vector<std::string> paths;
  for (int block = 0; block < 12; ++block) {
    paths.push_back(fmt::format("net/stage_{}/block_{}/conv/Conv2D", block / 4, block));
  }
  const TraceTree folded = Folded(paths);
  EXPECT_THAT(PathsOf(folded), Contains("net/stage_*/block_*/conv/Conv2D"));
  EXPECT_EQ(folded.tree.nodes.size(), 1U + 5);
}

TEST(FoldTest, SummaryAddsUpTheLayersUnderOneName) {
  TraceMaker maker;
  for (int i = 0; i < 3; ++i) {
    maker.Share(maker.Kind(fmt::format("net/layer_{}/ffn/MatMul", i)), 10 + i, "CPU:0", kNoStep,
                1'000'000'000, 2);
  }
  const TraceTree folded = Fold(Build(maker.trace()));
  const OperationTable summary = analyze::Operations(maker.trace(), maker.footprint(), folded);
  ASSERT_EQ(summary.size(), 1U);
  EXPECT_EQ(summary[0].name, "net/layer_*/ffn/MatMul");
  EXPECT_EQ(summary[0].energy, Joules{33});
  EXPECT_EQ(summary[0].time, Seconds{3});
  EXPECT_EQ(summary[0].count, 6U);
  EXPECT_EQ(summary[0].layers, 3U);
}

// Names that mean something in one framework or another must do what any other name does.
TEST(FoldTest, NoNameIsSpecial) {
  std::mt19937_64 random(2);
  for (int round = 0; round < 50; ++round) {
    std::string stem;
    for (uint64_t length = 1 + random() % 8; length > 0; --length) {
      stem += static_cast<char>('a' + random() % 26);
    }
    for (const char* separator : {"_", ".", ""}) {
      const TraceTree folded = Folded(Layers(stem + separator + "{}", 3));
      EXPECT_TRUE(FindPath(folded, "net/" + stem + separator + "*")) << stem << separator;
    }
  }
}

TEST(FoldTest, FoldingConservesEveryColumn) {
  std::mt19937_64 random(3);
  int smaller = 0;
  for (int round = 0; round < 300; ++round) {
    TraceMaker maker;
    for (int i = 0; i < 60; ++i) {
      std::string path;
      for (uint64_t depth = 1 + random() % 3; depth > 0; --depth) {
        const std::vector<std::string> stems = {"layer_", ""};
        path += fmt::format("{}{}/", stems[random() % stems.size()], random() % 3);
        if (random() % 9 == 0) path.insert(path.size() - 1, "<Module>");
      }
      const uint32_t kind =
          maker.Kind(path + (random() % 2 == 0 ? "A" : "B"), static_cast<Phase>(random() % 3));
      if (random() % 8 == 0) {
        maker.Unmetered(kind, "GPU:9");
      } else {
        maker.Share(kind, static_cast<double>(1 + random() % 100),
                    random() % 2 == 0 ? "CPU:0" : "GPU:0", static_cast<uint32_t>(random() % 3));
      }
    }
    const TraceTree built = Build(maker.trace());
    const TraceTree folded = Fold(built);
    ASSERT_EQ(WrongWith(folded), "");
    if (folded.tree.nodes.size() < built.tree.nodes.size()) ++smaller;
    const auto before = Columns(maker.trace(), maker.footprint(), built);
    const auto after = Columns(maker.trace(), maker.footprint(), folded);
    ASSERT_EQ(before.size(), after.size());
    for (size_t i = 0; i < before.size(); ++i) {
      EXPECT_EQ(before[i].label, after[i].label);
      EXPECT_DOUBLE_EQ(before[i].total[0], after[i].total[0]);
      double self = 0;
      for (const double value : after[i].self) self += std::isnan(value) ? 0 : value;
      EXPECT_DOUBLE_EQ(self, after[i].total[0]);
    }
    EXPECT_NEAR(before[0].deviation[0], after[0].deviation[0], 1e-9);
    for (const TreeNode& node : folded.tree.nodes) {
      EXPECT_EQ(node.folded > 1, !node.folded_range.empty());
    }
  }
  EXPECT_GT(smaller, 100);
}

// Runs into the test's time limit if the time grows with the square of their number.
TEST(FoldTest, VeryManyLayersFoldInLinearTime) {
  constexpr NodeId kLayers = 200'000;
  std::vector<TreeNode> nodes(1);
  nodes[0].level = Level::kModel;
  for (NodeId layer = 0; layer < kLayers; ++layer) {
    TreeNode node;
    node.name = fmt::format("layer_{}", layer);
    nodes.push_back(node);
    node.name = "MatMul";
    node.level = Level::kMath;
    node.parent = 1 + 2 * layer;
    nodes.push_back(node);
  }
  const Folding folding = beryl::Fold(MakeTree(std::move(nodes)));
  ASSERT_EQ(folding.tree.size(), 3U);
  EXPECT_EQ(folding.tree.nodes[1].name, "layer_*");
  EXPECT_EQ(folding.tree.nodes[1].folded, kLayers);
  EXPECT_EQ(folding.tree.nodes[1].folded_range, "0-199999");
  EXPECT_EQ(folding.node_of.back(), 2U);
}

}  // namespace
}  // namespace beryl::tree
