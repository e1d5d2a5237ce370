#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tree/derived_columns.h"
#include "tree/seen_shapes.h"
#include "tree/tree_testing.h"

namespace beryl::tree {
namespace {

using ::testing::DoubleEq;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::IsNan;
using ::testing::SizeIs;

// A model of two layers with a product each, [batch x 4] x [4 x 4] with a bias, and a head.
class TinyModel {
 public:
  TinyModel() {
    Add(0, Level::kModel, "tiny", "TinyModel", "", 0, 0);
    for (const char* layer : {"layer.0", "layer.1"}) {
      const NodeId at = Add(0, Level::kModule, layer, "Layer", layer, 100, 20);
      const NodeId dense =
          Add(at, Level::kMl, "dense", "Linear", std::string(layer) + ".dense", 100, 20);
      ops_.push_back(
          Add(dense, Level::kMath, "addmm", "addmm", std::string(layer) + ".dense", 100, 0));
      Add(at, Level::kMl, "MatMul", "MatMul", layer, 0, 0);
    }
    const NodeId head = Add(0, Level::kMl, "head", "Linear", "head", 50, 12);
    ops_.push_back(Add(head, Level::kMath, "addmm", "addmm", "head", 50, 0));
    description_.nodes[0].work.flops = 250;
    description_.flows = {{ops_[0], ops_[1]}, {ops_[1], ops_[2]}};
    CloseTree(description_.tree);
    description_.model = "tiny.json";
    description_.input.batch = 2;
  }

  const Description& description() const { return description_; }

 private:
  NodeId Add(NodeId parent, Level level, std::string name, std::string type, std::string scope,
             double flops, uint64_t parameters) {
    const NodeId id = description_.tree.size();
    TreeNode& node = description_.tree.nodes.emplace_back();
    node.parent = parent;
    node.level = level;
    node.name = std::move(name);
    node.type = std::move(type);
    DescribedNode& of = description_.nodes.emplace_back();
    of.scope = std::move(scope);
    of.work.flops = flops;
    of.work.bytes_read = flops / 2;
    of.parameters = parameters;
    if (level == Level::kMath) of.kind = MathKind::kMatmul;
    return id;
  }

  Description description_;
  std::vector<NodeId> ops_;
};

// Three passes of it, the second layer's module seen first in a wrapper.
class TinyRun {
 public:
  TinyRun() {
    const std::string model = "Tiny_0<TinyModel>/";
    AddOp(model + "Layer_0<Layer>/Linear_0<Linear>/aten::linear", "[[2, 4], [4, 4], [4]]", 1);
    AddOp(model + "Wrapper_0<Wrapper>/Layer_1<Layer>/Linear_1<Linear>/aten::linear",
          "[[2, 4], [4, 4], [4]]", 2);
    AddOp(model + "Linear_2<Linear>/aten::linear", "[[2, 4], [2, 4], [4]]", 4);
    AddOp(model + "CrossEntropyLoss_0<CrossEntropyLoss>/aten::nll", "", 8);
    AddOp(model + "Extra_0<Extra>/aten::add", "", 16);
    AddOp("aten::sgd", "", 32);
  }

  ModelOfRun Align() {
    built_ = Build(maker_.trace());
    const TinyModel model;
    return AlignModel(maker_.trace(), maker_.footprint(), model.description(),
                      DescribedColumns(model.description(), Detail::kAll), built_);
  }
  TraceTree& built() { return built_; }
  TraceMaker& maker() { return maker_; }

 private:
  void AddOp(const std::string& path, const std::string& shapes, double joules) {
    const uint32_t kind = maker_.Kind(path);
    OpTrace& trace = maker_.trace();
    trace.kinds[kind].shapes = trace.strings.Intern(shapes);
    trace.kinds[kind].type = trace.strings.Intern(path.substr(path.rfind('/') + 1));
    maker_.Share(kind, joules);
    for (int pass = 0; pass < 3; ++pass) {
      Op op;
      op.kind = kind;
      maker_.trace().ops.push_back(op);
    }
  }

  TraceMaker maker_;
  TraceTree built_;
};

double At(const ModelOfRun& model, const char* column, NodeId node) {
  for (const Column& one : model.beside.columns) {
    if (one.name == column) return one.total[node];
  }
  return kUnknown;
}

TEST(AlignModelTest, ARunTakesTheDescriptionsNamesAndKeepsItsEnergy) {
  TinyRun run;
  const ModelOfRun model = run.Align();
  const ModelAlignment& alignment = model.alignment;
  EXPECT_EQ(alignment.described_modules, 5U);
  EXPECT_EQ(alignment.matched_modules, 5U);
  EXPECT_THAT(alignment.not_found, IsEmpty());
  EXPECT_DOUBLE_EQ(*alignment.passes, 3);
  // The loss is the model's own work; what no module claims is in none.
  EXPECT_DOUBLE_EQ(ValueOrNan(alignment.module_energy), 31);
  EXPECT_DOUBLE_EQ(ValueOrNan(alignment.matched_energy), 15);
  ASSERT_THAT(alignment.unmatched, SizeIs(2));
  EXPECT_EQ(alignment.unmatched[0].path, "Tiny_0/Extra_0");
  EXPECT_DOUBLE_EQ(ValueOrNan(alignment.unmatched[0].energy), 16);
  const auto dense = FindPath(run.built(), "Tiny_0/Wrapper_0/layer.1/dense");
  ASSERT_TRUE(dense);
  EXPECT_EQ(model.beside.texts.front().values[*dense], "layer.1.dense");
  EXPECT_DOUBLE_EQ(At(model, "flops", *dense), 100);
  EXPECT_DOUBLE_EQ(At(model, "pass", *dense), 2.0 / 3);
  // What is around a part of the model has that part's work.
  EXPECT_DOUBLE_EQ(At(model, "flops", *FindPath(run.built(), "Tiny_0/Wrapper_0")), 100);
  EXPECT_DOUBLE_EQ(At(model, "flops", 0), 250);
  EXPECT_THAT(At(model, "flops", *FindPath(run.built(), "Tiny_0/Extra_0")), IsNan());
}

TEST(AlignModelTest, DataflowIsThatOfTheModules) {
  TinyRun run;
  const ModelOfRun model = run.Align();
  const NodeId first = *FindPath(run.built(), "Tiny_0/layer.0/dense");
  const NodeId second = *FindPath(run.built(), "Tiny_0/Wrapper_0/layer.1/dense");
  const NodeId head = *FindPath(run.built(), "Tiny_0/head");
  EXPECT_THAT(model.flows, ElementsAre(Flow{first, second}, Flow{second, head}));

  const std::vector<Column> columns =
      Columns(run.maker().trace(), run.maker().footprint(), run.built());
  const DescribedFlows flows = {&run.built().tree, model.flows, {}};
  DiagramOptions options;
  options.flows = &flows;
  const EnergyDiagram diagram = MakeDiagram(run.maker().trace(), run.built(), columns,
                                            *FindPath(run.built(), "Tiny_0"), options);
  EXPECT_TRUE(diagram.described_dataflow);
  ASSERT_THAT(diagram.arrows, SizeIs(2));
  EXPECT_EQ(diagram.boxes[diagram.arrows[0].from].name, "layer.0");
  EXPECT_EQ(diagram.boxes[diagram.arrows[0].to].name, "Wrapper_0");
  // It is that of the forward pass.
  options.phase = Phase::kBackward;
  EXPECT_FALSE(MakeDiagram(run.maker().trace(), run.built(), columns, 1, options).has_dataflow);
}

TEST(AlignModelTest, TheModelAloneHasTheScopesAsPaths) {
  TinyRun run;
  const ModelOfRun model = run.Align();
  const TreeColumns whole =
      MeasuredColumns(run.maker().trace(), run.maker().footprint(), run.built(), model.beside);
  const TreeColumns alone = CutModel(whole, model.root);
  std::vector<std::string> scopes;
  for (NodeId node = 1; node < alone.tree.size(); ++node) {
    scopes.push_back(ScopeOf(alone.tree, node));
    EXPECT_EQ(scopes.back(), alone.FindText("scope")->values[node]);
  }
  EXPECT_THAT(scopes, ElementsAre("layer.0", "layer.0.dense", "layer.1", "layer.1.dense", "head"));
  EXPECT_DOUBLE_EQ(alone.columns.front().total[0], 31);
}

TEST(SeenInputTest, ShapesAreReadAsTracesWriteThem) {
  EXPECT_THAT(ReadShapes("[[30522, 256], [8, 64], []]"),
              ElementsAre(ElementsAre(30522, 256), ElementsAre(8, 64), IsEmpty()));
  EXPECT_THAT(ReadShapes("[[[2, 3], [4]], [5]]"), ElementsAre(IsEmpty(), ElementsAre(5)));
  EXPECT_THAT(ReadShapes(""), IsEmpty());
  EXPECT_THAT(ReadShapes("[[99999999999999999999999999"), SizeIs(1));
}

TEST(SeenInputTest, TokensAreLookedUpInTheTableOfWords) {
  TraceMaker maker;
  const auto look_up = [&](const std::string& path, const std::string& shapes, int times) {
    const uint32_t kind = maker.Kind(path);
    OpKind& of = maker.trace().kinds[kind];
    of.type = maker.trace().strings.Intern("aten::embedding");
    of.shapes = maker.trace().strings.Intern(shapes);
    for (int i = 0; i < times; ++i) maker.trace().ops.emplace_back().kind = kind;
  };
  look_up("m/places/e", "[[512, 8], [1, 5]]", 1);
  look_up("m/words/prompt", "[[100, 8], [2, 5]]", 1);
  look_up("m/words/next", "[[100, 8], [2, 1]]", 7);
  const SeenInput seen = SeeInput(maker.trace(), 100);
  ASSERT_THAT(seen.tokens, SizeIs(2));
  EXPECT_EQ(seen.tokens[0].length, 5);
  EXPECT_EQ(seen.tokens[1].count, 7U);
  // Without knowing how many words there are, the largest table is taken for theirs.
  EXPECT_EQ(SeeInput(maker.trace(), 0).tokens.front().batch, 1);
}

TEST(DerivedColumnsTest, RatesFollowFromWhatIsThere) {
  TreeColumns tree;
  tree.tree.nodes.resize(1);
  Column energy;
  energy.name = "energy";
  energy.total = {4};
  Column time = energy;
  time.name = "time";
  time.quantity = Quantity::kTime;
  time.total = {2};
  tree.columns = {energy, time};
  AddDerived(tree);
  ASSERT_NE(tree.Find("power"), nullptr);
  EXPECT_THAT(tree.Find("power")->total, ElementsAre(DoubleEq(2)));
  EXPECT_THAT(tree.Find("share")->total, ElementsAre(DoubleEq(1)));
  EXPECT_EQ(tree.Find("flops_per_j"), nullptr);
}

TEST(SideBySideTest, DifferencesAreFromTheFirst) {
  TreeColumns a;
  a.tree.nodes.resize(3);
  for (const NodeId node : {1, 2}) a.tree.nodes[node].name = node == 1 ? "x" : "y";
  CloseTree(a.tree);
  Column energy;
  energy.name = "energy";
  energy.key = "energy_j";
  energy.total = {4, 1, 3};
  a.columns = {energy};
  TreeColumns b = a;
  b.tree.nodes[2].name = "z";
  b.columns[0].total = {6, 1, 5};
  const TreeColumns set = SetSideBySide({{"before", &a}, {"after", &b}}, {"energy"});
  ASSERT_EQ(set.tree.size(), 4U);
  EXPECT_THAT(set.Find("before_energy")->total, ElementsAre(4, 1, 3, IsNan()));
  EXPECT_THAT(set.Find("after_energy")->total, ElementsAre(6, 1, IsNan(), 5));
  EXPECT_THAT(set.Find("difference_energy")->total, ElementsAre(2, 0, -3, 5));
  EXPECT_THAT(set.Find("off_energy")->total,
              ElementsAre(DoubleEq(0.5), DoubleEq(0), DoubleEq(-1), IsNan()));
  EXPECT_EQ(set.Find("after_energy")->key, "after_energy_j");
}

// The pass that computes a layer again runs it inside of what asked for it: it is the same module.
TEST(AlignModelTest, OneInstanceAtSeveralPlacesIsOneModule) {
  TinyRun run;
  const uint32_t again = run.maker().Kind(
      "Tiny_0<TinyModel>/Linear_2<Linear>/autograd/Layer_0<Layer>/Linear_0<Linear>/aten::linear");
  run.maker().Share(again, 64);
  const ModelOfRun model = run.Align();
  EXPECT_DOUBLE_EQ(model.alignment.module_energy->value, 31 + 64);
  EXPECT_DOUBLE_EQ(model.alignment.matched_energy->value, 15 + 64);
  EXPECT_DOUBLE_EQ(At(model, "flops", model.root), 250);  // and not counted twice
  NodeId node = run.built().node_of_kind[again];
  while (!IsModule(run.built().tree[node].level)) node = run.built().tree[node].parent;
  EXPECT_EQ(model.beside.texts.front().values[node], "layer.0.dense");
}

// Activations have sizes too: [1 x 20] is no weight of 20 parameters.
TEST(AlignModelTest, WeightsOfOtherSizesAreSaid) {
  TinyRun run;
  EXPECT_THAT(run.Align().alignment.other_sizes, IsEmpty());
  OpTrace& trace = run.maker().trace();
  trace.kinds[0].shapes = trace.strings.Intern("[[1, 20], [20, 8], [8]]");
  EXPECT_THAT(run.Align().alignment.other_sizes, ElementsAre("layer.0.dense"));
}

}  // namespace
}  // namespace beryl::tree
