#include <cmath>
#include <string>
#include <vector>

#include "analyze/analyze.h"
#include "base/matchers_for_test.h"
#include "tree/derived_columns.h"
#include "tree/tiny_model_testing.h"
#include "tree/tree_testing.h"

namespace beryl::tree {
namespace {

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
  EXPECT_DOUBLE_EQ(At(model, "flops", *dense), 72);
  EXPECT_DOUBLE_EQ(At(model, "pass", *dense), 2.0 / 3);
  // What is around a part of the model has that part's work.
  EXPECT_DOUBLE_EQ(At(model, "flops", *FindPath(run.built(), "Tiny_0/Wrapper_0")), 72);
  EXPECT_DOUBLE_EQ(At(model, "flops", 0), 180);
  EXPECT_THAT(At(model, "flops", *FindPath(run.built(), "Tiny_0/Extra_0")), IsNan());
}

TEST(AlignModelTest, AFunctionThatIsAModuleInTheRunIsItsModulesWork) {
  TinyRun run;
  OpTrace& trace = run.maker().trace();
  const auto add = [&](const std::string& path, const char* type) {
    const uint32_t kind = run.maker().Kind(path + type);
    trace.kinds[kind].type = trace.strings.Intern(type);
    run.maker().Share(kind, 64);
  };
  add("Tiny_0<TinyModel>/Layer_0<Layer>/GELU_0<GELU>/", "aten::gelu");
  const auto matched = [&] { return run.Align().alignment.matched_energy->value; };
  EXPECT_DOUBLE_EQ(matched(), 15 + 64);
  add("Tiny_0<TinyModel>/Layer_0<Layer>/Extra_1<Extra>/", "aten::sort");
  EXPECT_DOUBLE_EQ(matched(), 15 + 64);
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
  const analyze::DescribedFlows flows = {&run.built().tree, model.flows, {}};
  analyze::DiagramOptions options;
  options.flows = &flows;
  const EnergyDiagram diagram = analyze::MakeDiagram(run.maker().trace(), run.built(), columns,
                                                     *FindPath(run.built(), "Tiny_0"), options);
  EXPECT_TRUE(diagram.described_dataflow);
  ASSERT_THAT(diagram.arrows, SizeIs(2));
  EXPECT_EQ(diagram.boxes[diagram.arrows[0].from].name, "layer.0");
  EXPECT_EQ(diagram.boxes[diagram.arrows[0].to].name, "Wrapper_0");
  // It is that of the forward pass.
  options.phase = Phase::kBackward;
  EXPECT_FALSE(
      analyze::MakeDiagram(run.maker().trace(), run.built(), columns, 1, options).has_dataflow);
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

// Under autocast, weights are converted once and kept for a whole generation.
TEST(AlignModelTest, PassesAreCountedByOperationsThatUseWeights) {
  TinyRun run;
  OpTrace& trace = run.maker().trace();
  for (const char* linear : {"Layer_0<Layer>/Linear_0<Linear>/", "Linear_2<Linear>/"}) {
    const uint32_t kind = run.maker().Kind(std::string("Tiny_0<TinyModel>/") + linear + "aten::to");
    trace.kinds[kind].type = trace.strings.Intern("aten::to");
    trace.ops.emplace_back().kind = kind;
  }
  EXPECT_DOUBLE_EQ(run.Align().alignment.passes.value(), 3);
}

TEST(AlignModelTest, GradientsWithNamesOfTheirOwnAreTheModels) {
  TraceMaker maker;
  const auto add = [&](const std::string& path, double joules, Phase phase = Phase::kForward) {
    const uint32_t kind = maker.Kind(path, phase);
    maker.Share(kind, joules);
    maker.trace().ops.emplace_back().kind = kind;
  };
  for (const char* layer : {"layer_0/", "layer_1/"}) {
    add(std::string("tiny/") + layer + "dense/MatMul", 1);
    const std::string gradient = std::string("gradients/tiny/") + layer;
    add(gradient + "dense/MatMul_grad/MatMul", 2, Phase::kBackward);
    add(gradient + "MatMul_1_grad/MatMul", 4, Phase::kBackward);
  }
  add("gradients/AddN", 8, Phase::kBackward);
  add("gradients/other/Mul_grad/Mul", 16, Phase::kBackward);
  TraceTree built = Build(maker.trace());
  TinyModel tiny;
  const ModelOfRun model = AlignModel(maker.trace(), maker.footprint(), tiny.description(),
                                      DescribedColumns(tiny.description(), Detail::kAll), built);
  EXPECT_EQ(model.alignment.matched_modules, 4U);
  EXPECT_DOUBLE_EQ(model.alignment.matched_energy->value, 2 + 4 + 8 + 8);
  EXPECT_DOUBLE_EQ(model.alignment.module_energy->value, 2 + 4 + 8 + 8 + 16);
  const auto dense = FindPath(built, "gradients/tiny/layer.1/dense");
  ASSERT_TRUE(dense);
  EXPECT_EQ(model.beside.texts.front().values[*dense], "layer.1.dense");
}

TEST(AlignModelTest, WorkOfAdaptersIsReadOffTheTrace) {
  TinyRun run;
  OpTrace& trace = run.maker().trace();
  const auto add = [&](const char* linear, const char* shapes) {
    const uint32_t kind = run.maker().Kind(
        std::string("Tiny_0<TinyModel>/Layer_0<Layer>/Linear_0<Linear>/") + linear);
    trace.kinds[kind].type = trace.strings.Intern("aten::linear");
    trace.kinds[kind].shapes = trace.strings.Intern(shapes);
    for (int pass = 0; pass < 3; ++pass) trace.ops.emplace_back().kind = kind;
  };
  trace.kinds[0].type = trace.strings.Intern("aten::add");        // of the results below
  add("Linear_5<Linear>/aten::linear", "[[2, 4], [4, 4], [4]]");  // the wrapped module
  add("Linear_6<Linear>/aten::linear", "[[2, 4], [1, 4], []]");
  add("Linear_7<Linear>/aten::linear", "[[2, 1], [4, 1], []]");
  const ModelOfRun model = run.Align();
  const auto flops = [&](const std::string& path) {
    return At(model, "flops", *FindPath(run.built(), path));
  };
  EXPECT_DOUBLE_EQ(flops("Tiny_0/layer.0/dense"), 72);
  EXPECT_DOUBLE_EQ(flops("Tiny_0/layer.0/dense/Linear_6"), 16);
  EXPECT_THAT(flops("Tiny_0/layer.0/dense/Linear_5"), IsNan());
  EXPECT_DOUBLE_EQ(flops("Tiny_0/layer.0"), 104);
  EXPECT_DOUBLE_EQ(flops("Tiny_0/Wrapper_0/layer.1"), 72);
  EXPECT_DOUBLE_EQ(flops("Tiny_0"), 212);
  ASSERT_THAT(model.alignment.notes, SizeIs(1));
  EXPECT_EQ(model.alignment.notes[0].kind, NoteKind::kWorkReadOffTrace);
}

// A loop of its own may predict words for all tokens, where the library does for the last only.
TEST(AlignModelTest, LinearLayersHaveTheWorkThatTheTraceShows) {
  TinyRun run;
  OpTrace& trace = run.maker().trace();
  trace.kinds[2].shapes = trace.strings.Intern("[[6, 4], [2, 4], [4]]");
  const ModelOfRun model = run.Align();
  EXPECT_DOUBLE_EQ(At(model, "flops", *FindPath(run.built(), "Tiny_0/head")), 3 * 36);
  EXPECT_DOUBLE_EQ(At(model, "matmul_flops", *FindPath(run.built(), "Tiny_0/head")), 3 * 32);
  EXPECT_DOUBLE_EQ(At(model, "flops", *FindPath(run.built(), "Tiny_0/layer.0")), 72);
  EXPECT_DOUBLE_EQ(At(model, "flops", *FindPath(run.built(), "Tiny_0")), 180 + 2 * 36);
  ASSERT_THAT(model.alignment.notes, SizeIs(1));
  EXPECT_EQ(PlainText(model.alignment.notes[0]), "work_not_as_described head modules=1");
}

// One layer is skipped at random (LayerDrop).
TEST(AlignModelTest, AModuleThatRanInSomePassesHasTheWorkOfThose) {
  TinyRun run;
  OpTrace& trace = run.maker().trace();
  std::erase_if(trace.ops,
                [skipped = 2](const Op& op) mutable { return op.kind == 1 && skipped-- > 0; });
  const ModelOfRun model = run.Align();
  EXPECT_DOUBLE_EQ(model.alignment.passes.value(), 3);
  const NodeId layer = *FindPath(run.built(), "Tiny_0/Wrapper_0/layer.1");
  EXPECT_DOUBLE_EQ(At(model, "flops", layer), 72.0 / 3);
  EXPECT_DOUBLE_EQ(At(model, "bytes_read", layer), 36.0 / 3);
  EXPECT_DOUBLE_EQ(At(model, "parameters", layer), 20);
  EXPECT_DOUBLE_EQ(At(model, "flops", *FindPath(run.built(), "Tiny_0")), 180 - 48);
  ASSERT_THAT(model.alignment.notes, SizeIs(1));
  EXPECT_EQ(PlainText(model.alignment.notes[0]), "work_not_as_described layer.1.dense modules=1");
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

TEST(DerivedColumnsTest, WhatLiesOutsideIsMarkedAlsoWithoutARatio) {
  TreeColumns tree;
  tree.tree.nodes.resize(4);
  Column pass;
  pass.name = "pass";
  pass.total = {4, 1, kUnknown, 1};
  Column predicted = pass;
  predicted.name = "predicted";
  predicted.total = {4, 0, 0, kUnknown};
  predicted.low = {3, 0, 0, kUnknown};
  predicted.high = {5, 0, 0, kUnknown};
  tree.columns = {pass, predicted};
  AddDerived(tree);
  ASSERT_NE(tree.Find("ratio"), nullptr);
  EXPECT_THAT(tree.Find("ratio")->marked, ElementsAre(false, true, false, false));
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
  const TreeColumns set = analyze::SetSideBySide({{"before", &a}, {"after", &b}}, {"energy"});
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
  EXPECT_DOUBLE_EQ(At(model, "flops", model.root), 180);  // and not counted twice
  NodeId node = run.built().node_of_kind[again];
  while (!IsModule(run.built().tree[node].level)) node = run.built().tree[node].parent;
  EXPECT_EQ(model.beside.texts.front().values[node], "layer.0.dense");
}

// Autocast converts the inputs of an operation and calls it again, inside of itself.
TEST(AlignModelTest, AnOperationThatCallsItselfIsCountedOnce) {
  TinyRun run;
  OpTrace& trace = run.maker().trace();
  const uint32_t inner = run.maker().Below(0, "aten::linear", PathKind::kOperation);
  for (int pass = 0; pass < 3; ++pass) trace.ops.emplace_back().kind = inner;
  const ModelOfRun model = run.Align();
  EXPECT_DOUBLE_EQ(At(model, "flops", *FindPath(run.built(), "Tiny_0/layer.0/dense")), 72);
  EXPECT_DOUBLE_EQ(model.alignment.passes.value(), 3);
  EXPECT_THAT(model.alignment.notes, IsEmpty());
}

// Layers may share an activation, which the description has in the first of them.
TEST(AlignModelTest, AModuleWithoutWeightsMayBeShared) {
  TinyRun run;
  for (const char* layer : {"Layer_0<Layer>", "Wrapper_0<Wrapper>/Layer_1<Layer>"}) {
    run.maker().Share(
        run.maker().Kind(std::string("Tiny_0<TinyModel>/") + layer + "/Act_0<Act>/aten::tanh"), 64);
  }
  const ModelOfRun model = run.Align(TinyModel(true));
  EXPECT_EQ(model.alignment.matched_modules, 6U);
  for (const char* path : {"Tiny_0/layer.0/act", "Tiny_0/Wrapper_0/layer.1/layer.0.act"}) {
    const auto node = FindPath(run.built(), path);
    ASSERT_TRUE(node) << path;
    EXPECT_EQ(model.beside.texts.front().values[*node], "layer.0.act");
  }
}

// Rotary embeddings were parts of attention before they were parts of the model.
TEST(AlignModelTest, APrimitiveThatWasInEachLayerIsFound) {
  TinyRun run;
  const auto in_layer = [&](const std::string& layer) {
    run.maker().Share(run.maker().Kind("Tiny_0<TinyModel>/" + layer + "<Angles>/aten::cos"), 64);
  };
  in_layer("Layer_0<Layer>/Angles_0");
  in_layer("Wrapper_0<Wrapper>/Layer_1<Layer>/Angles_1");
  TinyModel tiny;
  tiny.Add(0, Level::kMl, "angles", "Angles", "angles", 10, 0);
  const ModelOfRun model = run.Align(tiny);
  EXPECT_EQ(model.alignment.matched_modules, 6U);
  EXPECT_EQ(model.alignment.unmatched.size(), 2U);
  EXPECT_DOUBLE_EQ(model.alignment.matched_energy->value, 15 + 128);
  for (const char* path : {"Tiny_0/layer.0/angles", "Tiny_0/Wrapper_0/layer.1/angles"}) {
    const auto node = FindPath(run.built(), path);
    ASSERT_TRUE(node) << path;
    EXPECT_EQ(model.beside.texts.front().values[*node], "angles");
    EXPECT_DOUBLE_EQ(At(model, "flops", *node), 10);
  }
  EXPECT_DOUBLE_EQ(At(model, "flops", *FindPath(run.built(), "Tiny_0/layer.0")), 72);
}

// Layers that are checkpointed run inside of an operation, and again inside of its gradient.
TEST(AlignModelTest, ModulesThatAnOperationCallsAreFound) {
  TraceMaker maker;
  const auto add = [&](const std::string& path, double joules) {
    const uint32_t kind = maker.Kind(path);
    maker.trace().kinds[kind].type = maker.trace().strings.Intern("aten::linear");
    maker.Share(kind, joules);
    maker.trace().ops.emplace_back().kind = kind;
    return kind;
  };
  for (const char* number : {"0", "1"}) {
    const std::string layer = std::string("Tiny_0<TinyModel>/Layer_") + number + "<Layer>/";
    const std::string dense = std::string("/Linear_") + number + "<Linear>/aten::linear";
    add(layer + "CheckpointFunction()" + dense, 1);
    add(layer + "CheckpointFunctionBackward()" + dense, 2);
  }
  add("Tiny_0<TinyModel>/Linear_2<Linear>/aten::linear", 4);
  TraceTree built = Build(maker.trace());
  TinyModel tiny;
  const ModelOfRun model = AlignModel(maker.trace(), maker.footprint(), tiny.description(),
                                      DescribedColumns(tiny.description(), Detail::kAll), built);
  EXPECT_EQ(model.alignment.matched_modules, 5U);
  EXPECT_THAT(model.alignment.unmatched, IsEmpty());
  EXPECT_DOUBLE_EQ(model.alignment.matched_energy->value, 10);
  EXPECT_DOUBLE_EQ(At(model, "flops", model.root), 180);
  const auto again = FindPath(built, "Tiny_0/layer.1/CheckpointFunctionBackward/dense");
  ASSERT_TRUE(again);
  EXPECT_EQ(model.beside.texts.front().values[*again], "layer.1.dense");
  EXPECT_DOUBLE_EQ(At(model, "flops", *again), 72);
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
