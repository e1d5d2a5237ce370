#include "types/column.h"

#include <cmath>

#include "base/matchers_for_test.h"
#include "types/fold_tree.h"
#include "types/merge_trees.h"
#include "types/tree_testing.h"

namespace beryl {
namespace {

ModelTree ThreeLayers() {
  return TreeOf({"m M model", "  h.0 Layer module", "    fc Linear ml", "  h.1 Layer module",
                 "    fc Linear ml", "  h.2 Layer module", "    fc Linear ml"});
}

TEST(ModelTreeTest, NodesInAnyOrderBecomePreOrder) {
  std::vector<TreeNode> drafts(5);
  const char* names[] = {"root", "a", "b", "a1", "b1"};
  const NodeId parents[] = {0, 0, 0, 1, 2};
  for (size_t i = 0; i < 5; ++i) {
    drafts[i].name = names[i];
    drafts[i].parent = parents[i];
  }
  std::vector<NodeId> place;
  const ModelTree tree = MakeTree(std::move(drafts), &place);
  EXPECT_THAT(place, ElementsAre(0, 1, 3, 2, 4));
  EXPECT_EQ(NodePath(tree, 4), "b/b1");
  EXPECT_EQ(tree[0].end, 5U);
  EXPECT_EQ(tree[1].end, 3U);
  EXPECT_EQ(tree[4].depth, 2);
  std::vector<NodeId> children;
  for (const NodeId child : Children(tree, 0)) children.push_back(child);
  EXPECT_THAT(children, ElementsAre(1, 3));
}

TEST(ModelTreeTest, LabelsSayWhichLayersAreFolded) {
  TreeNode node;
  node.name = "layer.*";
  EXPECT_EQ(NodeLabel(node), "layer.*");
  node.folded = 12;
  node.folded_range = "0-11";
  EXPECT_EQ(NodeLabel(node), "layer.0-11 ×12");
  node.name = "layer.[0,2,4,6,8]";
  node.folded = 5;
  node.folded_range = "0,2,4,6,8";
  EXPECT_EQ(NodeLabel(node), "layer.0,2,…,8 ×5");
  EXPECT_EQ(RangeText({3, 1, 2, 7, 11, 10}), "1-3,7,10-11");
}

TEST(FoldTreeTest, LikeLayersBecomeOneAndTheirNumbersAddUp) {
  const ModelTree tree = ThreeLayers();
  const Folding folding = Fold(tree);
  ASSERT_EQ(folding.tree.size(), 3U);
  EXPECT_EQ(NodeLabel(folding.tree[1]), "h.0-2 ×3");
  Column column;
  column.self = {1, 0, 2, 0, 3, 0, 4};
  column.total = RollUp(tree, column.self);
  const auto folded = Regroup(column, folding.node_of, folding.tree.size());
  ASSERT_TRUE(folded);
  EXPECT_THAT(folded->total, ElementsAre(10, 9, 9));
  EXPECT_THAT(RollUp(folding.tree, folded->self), ElementsAre(10, 9, 9));
}

TEST(FoldTreeTest, LayersThatDoOtherWorkStayApart) {
  const Folding folding = Fold(ThreeLayers(), [](NodeId a, NodeId b) { return a == 1 || b == 1; });
  EXPECT_EQ(folding.tree.size(), 5U);
  EXPECT_EQ(folding.tree[1].name, "h.0");
  EXPECT_EQ(NodeLabel(folding.tree[3]), "h.1-2 ×2");
}

TEST(FoldTreeTest, PrimitivesOfOneNameAreTwo) {
  const ModelTree tree = TreeOf({"m M model", "  a A module", "    wi_0 Linear ml",
                                 "      mm mm math", "    wi_1 Linear ml", "      mm mm math",
                                 "    MatMul MatMul ml", "    MatMul MatMul ml"});
  EXPECT_EQ(Fold(tree).tree.size(), tree.size());
}

TEST(FoldTreeTest, ATreeOfNothingIsNothing) {
  EXPECT_EQ(Fold(TreeOf({"m M model"})).tree.size(), 1U);
}

TEST(MergeTreesTest, WhatHasOnePathIsOneNode) {
  const ModelTree a = TreeOf({"m M model", "  x X module", "  y Y ml"});
  const ModelTree b = TreeOf({"m M model", "  y Y ml", "  z Z ml"});
  const Merging merging = Merge({&a, &b});
  EXPECT_EQ(merging.tree.size(), 4U);
  EXPECT_EQ(merging.node_of[0][2], merging.node_of[1][1]);
}

TEST(ColumnTest, ASumWithAnUnknownPartIsUnknownAndSoIsOneOfNothing) {
  Column column;
  column.total = {kUnknown, 1, 2, 3};
  const auto grouped = Regroup(column, {0, 0, 1, 1}, 3);
  ASSERT_TRUE(grouped);
  EXPECT_THAT(grouped->total, ElementsAre(IsNan(), DoubleEq(5), IsNan()));
}

TEST(ColumnTest, QuotientsAreDerivedAnew) {
  Column power;
  power.quantity = Quantity::kPower;
  power.total = {1, 2};
  EXPECT_FALSE(Regroup(power, {0, 0}, 1));
  EXPECT_THAT(Divide({1, 2, 3}, {2, 0, kUnknown}), ElementsAre(DoubleEq(0.5), IsNan(), IsNan()));
}

TEST(ColumnTest, EveryQuantityHasALook) {
  for (const auto quantity : {Quantity::kEnergy, Quantity::kBytesPerSecond, Quantity::kShare}) {
    EXPECT_FALSE(LookOf(quantity).name.empty());
  }
  EXPECT_EQ(LookOf(Quantity::kBytesPerSecond).unit, "B/s");
  EXPECT_EQ(LookOf(Quantity::kEnergy).key, "_j");
}

}  // namespace
}  // namespace beryl
