#include <random>

#include <fmt/format.h>

#include "base/matchers_for_test.h"
#include "tree/tree_testing.h"

namespace beryl::tree {
namespace {

TEST(BuildTest, ModulesAndOperationsBecomeNodesInOrderOfAppearance) {
  TraceMaker maker;
  maker.Kind("bert/encoder/MatMul");
  maker.Kind("bert/pooler/Tanh");
  maker.Kind("bert/encoder/Add");
  const TraceTree built = Build(maker.trace());
  EXPECT_EQ(WrongWith(built), "");
  EXPECT_THAT(PathsOf(built), ElementsAre("bert", "bert/encoder", "bert/encoder/MatMul",
                                          "bert/encoder/Add", "bert/pooler", "bert/pooler/Tanh"));
  EXPECT_EQ(built.tree.nodes[0].level, Level::kModel);
  EXPECT_EQ(built.tree.nodes[1].level, Level::kModule);
  EXPECT_EQ(built.tree.nodes[3].level, Level::kMath);
  EXPECT_EQ(NodePath(built.tree, built.node_of_kind[1]), "bert/pooler/Tanh");
}

TEST(BuildTest, AScopeAndAnOperationOfOneNameAreOneNode) {
  TraceMaker maker;
  const uint32_t add = maker.Kind("a/add");
  const uint32_t inside = maker.Kind("a/add/ReadVariableOp");
  const TraceTree built = Build(maker.trace());
  EXPECT_EQ(WrongWith(built), "");
  EXPECT_THAT(PathsOf(built), ElementsAre("a", "a/add", "a/add/ReadVariableOp"));
  EXPECT_EQ(built.tree.nodes[built.node_of_kind[add]].level, Level::kMath);
  EXPECT_EQ(built.tree.nodes[built.node_of_kind[inside]].parent, built.node_of_kind[add]);
  EXPECT_TRUE(built.in_names[built.node_of_kind[add]]) << "it is a part of the inner one's name";
}

TEST(BuildTest, KernelsStandBelowTheirOperation) {
  TraceMaker maker;
  const uint32_t op = maker.Kind("net/aten::mm");
  const uint32_t kernel = maker.Below(op, "sgemm", PathKind::kKernel);
  const TraceTree built = Build(maker.trace());
  EXPECT_EQ(WrongWith(built), "");
  EXPECT_EQ(built.tree.nodes[built.node_of_kind[kernel]].level, Level::kKernel);
  EXPECT_EQ(NodePath(built.tree, built.node_of_kind[kernel]), "net/aten::mm/sgemm");
  EXPECT_FALSE(built.in_names[built.node_of_kind[op]]);
}

TEST(BuildTest, ClassesAreKept) {
  TraceMaker maker;
  maker.Kind("BertLayer_0<BertLayer>/aten::add");
  EXPECT_EQ(Build(maker.trace()).tree.nodes[1].type, "BertLayer");
}

TEST(BuildTest, PathsThatNoOperationUsesAreLeftOut) {
  TraceMaker maker;
  maker.Kind("used/A");
  maker.trace().paths.Intern(kRootPath, maker.trace().strings.Intern("unused"), PathKind::kModule);
  EXPECT_THAT(PathsOf(Build(maker.trace())), ElementsAre("used", "used/A"));
}

TEST(BuildTest, AnEmptyTraceHasARoot) {
  const TraceTree built = Build(OpTrace());
  EXPECT_EQ(WrongWith(built), "");
  EXPECT_EQ(built.tree.nodes.size(), 1U);
}

TEST(BuildTest, TenThousandNestedOperationsEndAtTheDeepest) {
  TraceMaker maker;
  uint32_t kind = maker.Kind("net/op");
  for (int i = 0; i < 10'000; ++i)
    kind = maker.Below(kind, fmt::format("call{}", i), PathKind::kOperation);
  maker.Share(kind, 5);
  const TraceTree built = Build(maker.trace());
  EXPECT_EQ(WrongWith(built), "");
  EXPECT_EQ(built.tree.nodes.size(), 1U + kDeepestNode);
  EXPECT_EQ(built.tree.nodes.back().depth, kDeepestNode);
  EXPECT_EQ(built.node_of_kind[kind], kDeepestNode);
  EXPECT_DOUBLE_EQ(Columns(maker.trace(), maker.footprint(), built)[0].total[0], 5);
  EXPECT_EQ(WrongWith(Fold(built)), "");
}

// Modules that are run again for their gradients belong elsewhere.
TEST(BuildTest, AModuleWhoseOperationsCallModulesIsNoPrimitive) {
  TraceMaker maker;
  maker.Kind("Layers_0<Layers>/Checkpoint()/Linear_0<Linear>/aten::mm");
  maker.Kind("Linear_1<Linear>/AddmmBackward()/Linear_0<Linear>/aten::mm", Phase::kBackward);
  const TraceTree built = Build(maker.trace());
  const auto level = [&](const char* path) { return built.tree[*FindPath(built, path)].level; };
  EXPECT_EQ(level("Layers_0"), Level::kModule);
  EXPECT_EQ(level("Layers_0/Checkpoint/Linear_0"), Level::kMl);
  EXPECT_EQ(level("Linear_1"), Level::kMl);
}

TEST(BuildTest, RandomTreesKeepTheirPreOrder) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 300; ++round) {
    TraceMaker maker;
    for (int i = 0; i < 30; ++i) {
      std::string path;
      for (uint64_t depth = random() % 5; depth > 0; --depth) {
        path += fmt::format("m{}/", random() % 3);
      }
      const uint32_t kind = maker.Kind(path + fmt::format("m{}", random() % 4));
      if (random() % 4 == 0) maker.Below(kind, "kernel", PathKind::kKernel);
    }
    const TraceTree built = Build(maker.trace());
    ASSERT_EQ(WrongWith(built), "");
    ASSERT_EQ(built.node_of_kind.size(), maker.trace().kinds.size());
    for (size_t kind = 0; kind < maker.trace().kinds.size(); ++kind) {
      EXPECT_EQ(NodePath(built.tree, built.node_of_kind[kind]),
                maker.trace().PathText(maker.trace().kinds[kind].path));
    }
  }
}

}  // namespace
}  // namespace beryl::tree
