#include <algorithm>
#include <random>

#include <fmt/format.h>

#include "base/matchers_for_test.h"
#include "tree/tree_testing.h"

namespace beryl::tree {
namespace {

TraceTree Folded(const std::vector<std::string>& paths) {
  TraceMaker maker;
  for (const std::string& path : paths) maker.Kind(path);
  return Fold(Build(maker.trace()));
}

TEST(MergeTest, WhatHasTheSamePathIsOneNode) {
  const TraceTree a = Folded({"bert/x/MatMul", "bert/y/MatMul"});
  const TraceTree b = Folded({"bert/y/MatMul", "bert/y/Einsum"});
  const std::vector<TraceTree> merged = Merge({&a, &b});
  ASSERT_EQ(merged.size(), 2U);
  EXPECT_EQ(WrongWith(merged[0]), "");
  EXPECT_THAT(PathsOf(merged[0]), UnorderedElementsAre("bert", "bert/x", "bert/x/MatMul", "bert/y",
                                                       "bert/y/MatMul", "bert/y/Einsum"));
  EXPECT_EQ(PathsOf(merged[0]), PathsOf(merged[1]));
  EXPECT_EQ(merged[0].node_of_kind[1], merged[1].node_of_kind[0]) << "bert/y/MatMul";
}

TEST(MergeTest, LayersAreTheSameHoweverManyThereAre) {
  auto model = [](int layers) {
    std::vector<std::string> paths;
    for (int i = 0; i < layers; ++i) {
      paths.push_back(fmt::format("bert/layer_{}/attention/MatMul", i));
      paths.push_back(fmt::format("bert/layer_{}/output/MatMul", i));
    }
    return Folded(paths);
  };
  const TraceTree six = model(6);
  const TraceTree twelve = model(12);
  const TraceTree one = model(1);
  const auto merged = Merge({&six, &twelve, &one});
  EXPECT_THAT(PathsOf(merged[0]),
              UnorderedElementsAre("bert", "bert/layer_*", "bert/layer_*/attention",
                                   "bert/layer_*/attention/MatMul", "bert/layer_*/output",
                                   "bert/layer_*/output/MatMul"));
}

TEST(MergeTest, LayersThatAreNotAlikeAreStillThoseLayers) {
  // The first block has a part the others have not, so it is a group of its own when folded.
  auto model = [](int blocks) {
    std::vector<std::string> paths;
    for (int i = 0; i < blocks; ++i)
      paths.push_back(fmt::format("t5/block_{}/attention/MatMul", i));
    for (const char* part : {"bias/Gather", "bias/Add", "bias/Mul", "bias/Sub", "bias/Cast"}) {
      paths.push_back(fmt::format("t5/block_0/{}", part));
    }
    return Folded(paths);
  };
  const TraceTree small = model(4);
  const TraceTree large = model(8);
  ASSERT_NE(PathsOf(small), PathsOf(large)) << "their names have the numbers of their layers";
  const auto merged = Merge({&small, &large});
  EXPECT_TRUE(FindPath(merged[0], "t5/block_*/attention/MatMul"));
  EXPECT_TRUE(FindPath(merged[0], "t5/block_*/bias/Gather"));
  for (const std::string& path : PathsOf(merged[0])) {
    EXPECT_EQ(path.find('['), std::string::npos) << path;
  }
}

TEST(MergeTest, NumbersOfAClassCountOverTheWholeModel) {
  const TraceTree small = Folded({"Net_0<Net>/Pooler_0<Pooler>/Linear_36<Linear>/aten::addmm"});
  const TraceTree large = Folded({"Net_0<Net>/Pooler_0<Pooler>/Linear_72<Linear>/aten::addmm"});
  EXPECT_THAT(PathsOf(Merge({&small, &large})[0]),
              ElementsAre("Net_0", "Net_0/Pooler_0", "Net_0/Pooler_0/Linear",
                          "Net_0/Pooler_0/Linear/aten::addmm"))
      << "names that agree stay as they are";
  const TraceTree two = Folded({"Net_0<Net>/Linear_4<Linear>/a", "Net_0<Net>/Linear_5<Linear>/a"});
  const TraceTree other =
      Folded({"Net_0<Net>/Linear_8<Linear>/a", "Net_0<Net>/Linear_9<Linear>/a"});
  EXPECT_TRUE(FindPath(Merge({&two, &other})[1], "Net_0/Linear[1]/a"));
}

TEST(MergeTest, ATreeWithItselfIsItself) {
  std::mt19937_64 random(5);
  for (int turn = 0; turn < 30; ++turn) {
    std::vector<std::string> paths;
    for (int i = 0; i < 30; ++i) {
      std::string path;
      for (uint64_t depth = random() % 4; depth > 0; --depth) {
        path += fmt::format("{}{}/", random() % 2 == 0 ? "layer_" : "b", random() % 4);
      }
      paths.push_back(path + "Op");
    }
    const TraceTree tree = Folded(paths);
    const auto merged = Merge({&tree, &tree, &tree});
    EXPECT_EQ(WrongWith(merged[2]), "");
    EXPECT_EQ(merged[0].node_of_kind, merged[2].node_of_kind);
    EXPECT_LE(merged[0].tree.nodes.size(), tree.tree.nodes.size());
    // Every operation keeps the name it ends in.
    for (size_t kind = 0; kind < tree.node_of_kind.size(); ++kind) {
      EXPECT_EQ(merged[0].tree.nodes[merged[0].node_of_kind[kind]].name,
                tree.tree.nodes[tree.node_of_kind[kind]].name);
    }
  }
}

}  // namespace
}  // namespace beryl::tree
