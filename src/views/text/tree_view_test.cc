#include "views/text/tree_view.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace beryl::views {
namespace {

// A module, in it an operation that calls a module and one that does not.
ModelTree Checkpointed() {
  ModelTree tree;
  const auto add = [&](Level level, NodeId parent, NodeId end, uint16_t depth) {
    TreeNode& node = tree.nodes.emplace_back();
    node.level = level;
    node.parent = parent;
    node.end = end;
    node.depth = depth;
  };
  add(Level::kModule, 0, 4, 0);
  add(Level::kMath, 0, 3, 1);
  add(Level::kMl, 1, 3, 2);
  add(Level::kMath, 0, 4, 1);
  return tree;
}

std::vector<NodeId> Shown(const ViewOptions& options) {
  const ModelTree tree = Checkpointed();
  std::vector<NodeId> shown;
  for (NodeId node = 0; node < tree.size(); ++node) {
    if (IsShown(tree, node, options)) shown.push_back(node);
  }
  return shown;
}

TEST(TreeView, ALevelKeepsTheOperationsThatLeadToIt) {
  ViewOptions options;
  EXPECT_EQ(Shown(options), (std::vector<NodeId>{0, 1, 2, 3}));
  options.level = Level::kMl;
  EXPECT_EQ(Shown(options), (std::vector<NodeId>{0, 1, 2}));
  options.level = Level::kModule;
  EXPECT_EQ(Shown(options), (std::vector<NodeId>{0}));
  options = {};
  options.depth = 1;
  EXPECT_EQ(Shown(options), (std::vector<NodeId>{0, 1, 3}));
}

TEST(TreeView, AQuantityNamesAllItsColumns) {
  TreeColumns tree;
  tree.tree.nodes.resize(1);
  for (const char* name : {"measured", "predicted"}) {
    tree.columns.push_back(NamedColumn(name, name, name, Quantity::kEnergy));
  }
  tree.columns.push_back(NamedColumn("flops", "flops", "FLOP", Quantity::kFlops));
  for (Column& column : tree.columns) column.total = {1};
  EXPECT_EQ(ChosenColumns(tree, {"energy"}).size(), 2U);
  EXPECT_EQ(ChosenColumns(tree, {"predicted"}).size(), 1U);
  EXPECT_EQ(ChosenColumns(tree, {"power"}).size(), 0U);
  ViewOptions options;
  options.columns = {"energy"};
  EXPECT_TRUE(CheckColumns(tree, options));
  // A column of that name is the one that is meant.
  tree.columns[0].name = "energy";
  EXPECT_EQ(ChosenColumns(tree, {"energy"}).size(), 1U);
}

TEST(TreeView, ADeepTreeShowsItsDepthWhereRoomIsShort) {
  constexpr NodeId kNodes = 20;
  TreeColumns tree;
  tree.tree.nodes.resize(kNodes);
  for (NodeId node = 0; node < kNodes; ++node) {
    tree.tree.nodes[node].parent = node == 0 ? 0 : node - 1;
    tree.tree.nodes[node].name = "n" + std::to_string(node);
  }
  CloseTree(tree.tree);
  Column& energy =
      tree.columns.emplace_back(NamedColumn("energy", "energy_j", "energy", Quantity::kEnergy));
  energy.total.assign(kNodes, 1);
  TableLook look;
  look.columns = {"energy"};
  ViewOptions options;
  const auto line_of = [&](const std::string& name) {
    const std::string table = TreeTable(tree, look, options);
    for (const std::string_view line : Split(table, '\n')) {
      if (line.find(name + " ") != std::string_view::npos) return std::string(line);
    }
    return std::string();
  };
  options.width = 100;
  EXPECT_TRUE(line_of("n3").starts_with("      └─ n3 ")) << line_of("n3");
  options.width = 60;
  EXPECT_TRUE(line_of("n3").starts_with("  └ n3 ")) << line_of("n3");
  EXPECT_TRUE(line_of("n19").starts_with("                  └ n19 ")) << line_of("n19");
}

TEST(TreeView, TheModelHasAScopeThoughItIsEmpty) {
  TreeColumns tree;
  tree.tree.nodes.resize(3);
  for (const NodeId node : {1, 2}) tree.tree.nodes[node].parent = node - 1;
  CloseTree(tree.tree);
  TextColumn scopes{"scope", "scope", TextColumn::Kind::kText, {"", "", ""}};
  scopes.top = 1;
  tree.texts = {scopes};
  JsonWriter json;
  WriteTree(json, tree, {});
  const std::string text = std::move(json).Take();
  size_t given = 0;
  for (size_t at = text.find("\"scope\""); at != std::string::npos;
       at = text.find("\"scope\"", at + 1)) {
    ++given;
  }
  EXPECT_EQ(given, 2U) << text;  // the root and the model
}

TEST(TreeView, LongLabelsGiveWayToTheWidth) {
  TreeColumns tree;
  tree.tree.nodes.resize(1);
  tree.tree.nodes[0].name = "TinyModel";
  tree.tree.nodes[0].end = 1;
  TableLook look;
  for (const char* name : {"first", "second", "third"}) {
    tree.columns.push_back(NamedColumn(name, name, name, Quantity::kEnergy));
    tree.columns.back().label += std::string(60, '-') + ".json";
    tree.columns.back().total = {1};
    look.columns.emplace_back(name);
  }
  ViewOptions options;
  options.width = 80;
  const std::string text = TreeTable(tree, look, options);
  for (const std::string_view line : Split(text, '\n')) {
    EXPECT_LE(DisplayWidth(line), 80U) << line;
    if (line.find("first") != std::string_view::npos) {
      EXPECT_NE(line.find("second"), std::string_view::npos) << line;
    }
  }
}

}  // namespace
}  // namespace beryl::views
