#include "types/model_tree.h"

#include <gtest/gtest.h>

namespace beryl {
namespace {

TEST(ModelTreeTest, APathStartsBelowTheRoot) {
  ModelTree tree;
  for (const char* name : {"model", "bert", "layer_0", "pooler"}) {
    tree.nodes.emplace_back().name = name;
  }
  tree.nodes[2].parent = 1;
  EXPECT_EQ(NodePath(tree, 0), "");
  EXPECT_EQ(NodePath(tree, 1), "bert");
  EXPECT_EQ(NodePath(tree, 2), "bert/layer_0");
  EXPECT_EQ(NodePath(tree, 3), "pooler");
}

TEST(ModelTreeTest, ModulesAreNumberedByClass) {
  EXPECT_TRUE(IsNumberedByClass({.name = "BertLayer_3", .type = "BertLayer"}));
  EXPECT_FALSE(IsNumberedByClass({.name = "layer_3", .type = "BertLayer"}));
  EXPECT_FALSE(IsNumberedByClass({.name = "layer_3"}));
  EXPECT_FALSE(IsNumberedByClass({.level = Level::kMath, .name = "mm_3", .type = "mm"}));
}

TEST(ModelTreeTest, LevelsHaveNames) {
  EXPECT_EQ(LevelName(Level::kModel), "model");
  EXPECT_EQ(LevelName(Level::kModule), "module");
  EXPECT_EQ(LevelName(Level::kMl), "ml");
  EXPECT_EQ(LevelName(Level::kMath), "math");
  EXPECT_EQ(LevelName(Level::kKernel), "kernel");
}

}  // namespace
}  // namespace beryl
