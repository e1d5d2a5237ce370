// Through importers.h: the importer has no header of its own.
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "importers/pytorch_for_test.h"

namespace beryl::importers {
namespace {

TEST(PyTorchTest, OperationsNestInTheirThread) {
  const Imported imported = ImportKineto({
      CpuOp("aten::linear", 10, 30, R"("Input Dims":[[8,4],[4]])"),
      CpuOp("aten::addmm", 15, 10),
      CpuOp("aten::relu", 50, 5),
      CpuOp("aten::other", 12, 5, "", "2"),
  });
  EXPECT_EQ(imported.PathOf("aten::addmm"), "aten::linear/aten::addmm");
  EXPECT_EQ(imported.PathOf("aten::relu"), "aten::relu");
  EXPECT_EQ(imported.PathOf("aten::other"), "aten::other");
  const Op& linear = imported.Find("aten::linear");
  EXPECT_EQ(linear.lane, imported.Find("aten::addmm").lane);
  EXPECT_NE(linear.lane, imported.Find("aten::other").lane);
  EXPECT_NE(linear.lane, kNoLane);
  EXPECT_EQ(imported.trace.strings.Text(imported.kind(linear).shapes), "[[8,4],[4]]");
  EXPECT_EQ(linear.start.value, 10'000);
  EXPECT_EQ(linear.end.value, 40'000);
  EXPECT_THAT(imported.trace.devices, ElementsAre("CPU:0"));
}

TEST(PyTorchTest, MatrixProductsHaveTheTypeOfTheirNumbers) {
  const Imported imported = ImportKineto({
      CpuOp("aten::linear", 10, 30, R"("Input type":["float","float"])"),
      CpuOp("aten::addmm", 15, 10, R"("Input type":["c10::BFloat16","c10::BFloat16"])"),
  });
  const auto dtype = [&](const char* name) {
    return imported.trace.strings.Text(imported.kind(imported.Find(name)).dtype);
  };
  EXPECT_EQ(dtype("aten::addmm"), "c10::BFloat16");
  // It converts its inputs first.
  EXPECT_EQ(dtype("aten::linear"), "");
}

TEST(PyTorchTest, ModulesAreScopes) {
  const Imported imported = ImportKineto({
      Module("Net_0", 10, 100),
      Module("Linear_0", 20, 20),
      CpuOp("aten::linear", 22, 5),
      Module("Linear_1", 50, 20),
      CpuOp("aten::linear", 52, 5),
      CpuOp("aten::add", 80, 5),
      CpuOp("aten::loss", 120, 5),
  });
  EXPECT_THAT(imported.Names(),
              UnorderedElementsAre("Net_0/Linear_0/aten::linear", "Net_0/Linear_1/aten::linear",
                                   "Net_0/aten::add", "aten::loss"));
  EXPECT_THAT(imported.PathOf("aten::loss"), StartsWith("(outside every module)/"));
  EXPECT_EQ(imported.report().inside_modules, 3u);
  EXPECT_EQ(imported.report().outside_modules, 1u);
  const PathId scope = imported.kind(imported.Find("Net_0/Linear_1/aten::linear")).scope;
  EXPECT_EQ(imported.trace.strings.Text(imported.trace.paths[scope].type), "Linear");
}

TEST(PyTorchTest, SaysWhatWouldGiveModules) {
  EXPECT_TRUE(SaysNoModules(ImportKineto({CpuOp("aten::add", 10, 5)}).report()));
  EXPECT_FALSE(
      SaysNoModules(ImportKineto({Module("Net_0", 5, 20), CpuOp("aten::add", 10, 5)}).report()));
}

TEST(PyTorchTest, AModuleThatRunsAgainIsOneNode) {
  const Imported imported = ImportKineto({
      Module("Net_0", 10, 10),
      CpuOp("aten::add", 12, 2),
      Module("Net_0", 30, 10),
      CpuOp("aten::add", 32, 2),
  });
  ASSERT_THAT(imported.trace.ops, SizeIs(2));
  EXPECT_EQ(imported.trace.ops[0].kind, imported.trace.ops[1].kind);
}

TEST(PyTorchTest, AnnotationsAreScopesOnlyWithoutModules) {
  const std::vector<std::string> annotated = {
      Event("user_annotation", "my region", 10, 50),
      CpuOp("aten::add", 12, 2),
  };
  EXPECT_THAT(ImportKineto(annotated).Names(), ElementsAre("my region/aten::add"));
  std::vector<std::string> with_module = annotated;
  with_module.push_back(Module("Net_0", 20, 10));
  with_module.push_back(CpuOp("aten::mul", 22, 2));
  EXPECT_THAT(ImportKineto(with_module).Names(),
              UnorderedElementsAre("aten::add", "Net_0/aten::mul"));
}

TEST(PyTorchTest, OptimizerAnnotationsTellThePhase) {
  const Imported imported = ImportKineto({
      Module("Net_0", 0, 5),
      CpuOp("aten::forward_op", 1, 2),
      Event("user_annotation", "Optimizer.step#AdamW.step", 10, 50),
      CpuOp("aten::_foreach_add_", 12, 2),
      Event("user_annotation", "Optimizer.zero_grad#AdamW.zero_grad", 70, 5),
      CpuOp("aten::zero_", 71, 2),
  });
  EXPECT_EQ(imported.PhaseOf("Net_0/aten::forward_op"), Phase::kForward);
  EXPECT_EQ(imported.PhaseOf("aten::_foreach_add_"), Phase::kOptimizer);
  EXPECT_EQ(imported.PhaseOf("aten::zero_"), Phase::kOptimizer);
}

TEST(PyTorchTest, OldVersionsFiledRegionsUnderOperator) {
  const Imported imported = ImportKineto({
      Event("Operator", "ProfilerStep#1", 0, 100),
      Event("Operator", "Optimizer.step#SGD.step", 10, 50),
      Event("Operator", "aten::add_", 12, 2),
  });
  EXPECT_THAT(imported.trace.ops, SizeIs(1));
  EXPECT_EQ(imported.kind(imported.trace.ops[0]).phase, Phase::kOptimizer);
  EXPECT_THAT(imported.trace.steps, SizeIs(1));
}

constexpr std::string_view kForwardSeven = R"("Sequence number":7,"Fwd thread id":0)";
constexpr std::string_view kBackwardSeven = R"("Sequence number":7,"Fwd thread id":1)";

TEST(PyTorchTest, BackwardGoesToTheModuleOfTheLastForwardOperationWithItsNumber) {
  const Imported imported = ImportKineto({
      Module("Net_0", 0, 100),
      Module("Linear_0", 10, 20),
      CpuOp("aten::transpose", 12, 2, kForwardSeven),
      Module("Linear_1", 40, 20),
      CpuOp("aten::linear", 42, 10, kForwardSeven),
      CpuOp("aten::addmm", 43, 5, kForwardSeven),
      CpuOp("autograd::engine::evaluate_function: AddmmBackward0", 200, 30, kBackwardSeven, "2"),
      CpuOp("AddmmBackward0", 205, 20, kBackwardSeven, "2"),
      CpuOp("aten::mm", 206, 5, "", "2"),
      CpuOp("autograd::engine::evaluate_function: torch::autograd::AccumulateGrad", 240, 5, "",
            "2"),
      CpuOp("aten::add_", 241, 2, "", "2"),
  });
  EXPECT_EQ(imported.PhaseOf("Net_0/Linear_1/aten::mm"), Phase::kBackward);
  EXPECT_EQ(imported.PhaseOf("Net_0/Linear_1/AddmmBackward0"), Phase::kBackward);
  EXPECT_EQ(imported.PhaseOf("Net_0/Linear_1/aten::addmm"), Phase::kForward);
}

// DistributedDataParallel marks its forward, which contains the model's.
TEST(PyTorchTest, BackwardGoesBelowTheRegionsBetweenModulesToo) {
  const Imported imported = ImportKineto({
      Module("DistributedDataParallel_0", 0, 100),
      Event("user_annotation", "DistributedDataParallel.forward", 5, 90),
      Module("Linear_0", 10, 20),
      CpuOp("aten::linear", 12, 2, kForwardSeven),
      CpuOp("autograd::engine::evaluate_function: AddmmBackward0", 200, 30, kBackwardSeven, "2"),
      CpuOp("aten::mm", 206, 5, "", "2"),
  });
  EXPECT_EQ(imported.PathOf("DistributedDataParallel_0/Linear_0/aten::linear"),
            "DistributedDataParallel_0/DistributedDataParallel.forward/Linear_0/aten::linear");
  EXPECT_EQ(imported.PathOf("DistributedDataParallel_0/Linear_0/aten::mm"),
            "DistributedDataParallel_0/DistributedDataParallel.forward/Linear_0/"
            "autograd::engine::evaluate_function: AddmmBackward0/aten::mm");
}

TEST(PyTorchTest, AGradientIsAddedUpInTheModuleOfTheNodeThatMadeIt) {
  constexpr std::string_view kAccumulate =
      "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad";
  const Imported imported = ImportKineto({
      Module("Linear_0", 10, 20),
      CpuOp("aten::addmm", 12, 5, kForwardSeven),
      // Nothing made a gradient before this one.
      CpuOp(kAccumulate, 190, 5, "", "2"),
      CpuOp("aten::first_", 191, 2, "", "2"),
      CpuOp("autograd::engine::evaluate_function: AddmmBackward0", 200, 30, kBackwardSeven, "2"),
      CpuOp(kAccumulate, 240, 5, "", "2"),
      CpuOp("aten::weight_", 241, 2, "", "2"),
      CpuOp(kAccumulate, 250, 9, "", "2"),
      CpuOp("aten::bias_", 251, 2, "", "2"),
      CpuOp("c10d::allreduce_", 254, 3, "", "2"),
      // A node whose forward operation is not known, and one of the program's own operations.
      CpuOp("autograd::engine::evaluate_function: MulBackward0", 260, 5, "", "2"),
      CpuOp(kAccumulate, 270, 5, "", "2"),
      CpuOp("aten::unknown_", 271, 2, "", "2"),
      CpuOp("autograd::engine::evaluate_function: AddmmBackward0", 300, 5, kBackwardSeven, "2"),
      CpuOp("aten::ones", 310, 2, "", "2"),
      CpuOp(kAccumulate, 320, 5, "", "2"),
      CpuOp("aten::late_", 321, 2, "", "2"),
      // Another thread's engine has made nothing yet.
      CpuOp(kAccumulate, 400, 5, "", "3"),
      CpuOp("aten::other_", 401, 2, "", "3"),
  });
  EXPECT_EQ(imported.PhaseOf("Linear_0/aten::weight_"), Phase::kBackward);
  EXPECT_EQ(imported.PhaseOf("Linear_0/aten::bias_"), Phase::kBackward);
  for (const char* name :
       {"aten::first_", "aten::unknown_", "aten::late_", "aten::other_", "c10d::allreduce_"}) {
    EXPECT_EQ(imported.PhaseOf(name), Phase::kBackward) << name;
    EXPECT_THAT(imported.PathOf(name), StartsWith("(outside every module)/")) << name;
  }
}

TEST(PyTorchTest, BackwardMayComeBeforeItsForwardThreadInTheFile) {
  const Imported imported = ImportKineto({
      CpuOp("autograd::engine::evaluate_function: MmBackward0", 200, 30, kBackwardSeven, "2"),
      Module("Net_0", 0, 100),
      CpuOp("aten::mm", 12, 2, kForwardSeven),
  });
  EXPECT_THAT(imported.Names(), Contains("Net_0/autograd::engine::evaluate_function: MmBackward0"));
}

// Each forward thread counts for itself, so one number may stand for two operations.
TEST(PyTorchTest, OnACollisionOfNumbersTheOwnThreadsForwardIsMeant) {
  const Imported imported = ImportKineto({
      Module("Net_0", 0, 100, "1"),
      CpuOp("aten::mm", 12, 2, kForwardSeven, "1"),
      Module("Other_0", 20, 100, "2"),
      CpuOp("aten::mm", 22, 2, kForwardSeven, "2"),
      CpuOp("autograd::engine::evaluate_function: MmBackward0", 200, 30, kBackwardSeven, "1"),
      CpuOp("autograd::engine::evaluate_function: MmBackward0", 200, 30, kBackwardSeven, "2"),
  });
  EXPECT_THAT(imported.Names(),
              UnorderedElementsAre("Net_0/aten::mm", "Other_0/aten::mm",
                                   "Net_0/autograd::engine::evaluate_function: MmBackward0",
                                   "Other_0/autograd::engine::evaluate_function: MmBackward0"));
}

TEST(PyTorchTest, TimesAreRelativeToTheBaseWhereverItStands) {
  const std::vector<std::string> events = {CpuOp("aten::mm", 1.5, 2)};
  constexpr std::string_view kBase = R"("baseTimeNanoseconds": 1759276818000000000)";
  const Imported before = ImportKineto(events, std::string(kBase) + ",");
  const Imported after = ImportKineto(events, "", "," + std::string(kBase));
  EXPECT_THAT(before.Ops(),
              ElementsAre("aten::mm forward CPU:0 [1759276818000001500,1759276818000003500)"));
  EXPECT_EQ(after.Ops(), before.Ops());
  EXPECT_EQ(before.trace.clock, "epoch");
  ASSERT_THAT(before.trace.anchors, SizeIs(1));
  EXPECT_EQ(before.trace.anchors[0].epoch.value, 1759276818000000000);
  EXPECT_NE(ImportKineto(events).trace.clock, "epoch");
  EXPECT_EQ(ImportKineto({CpuOp("aten::mm", 1759276818000000, 2)}).trace.clock, "epoch");
}

TEST(PyTorchTest, ABaseThatLeadsOutOfTimeIsNotUsed) {
  for (const char* base : {"9223372036854775807", "-9223372036854775808", "5000000000000000000"}) {
    const Imported imported = ImportKineto({CpuOp("aten::mm", 1.5, 3000000000000000)},
                                           fmt::format(R"("baseTimeNanoseconds": {},)", base));
    EXPECT_THAT(imported.Ops(), ElementsAre("aten::mm forward CPU:0 [1500,3000000000000001500)"));
    EXPECT_THAT(Notes(imported.report(), NoteClass::kRepaired),
                ElementsAre(HasSubstr("base_time_not_used")));
  }
}

TEST(PyTorchTest, ThreadsMayHaveNames) {
  const Imported imported = ImportKineto({
      CpuOp("aten::a", 10, 20, "", "\"thread 1 (python)\""),
      CpuOp("aten::b", 12, 5, "", "\"thread 1 (python)\""),
      CpuOp("aten::c", 12, 5, "", "\"thread 2\""),
      R"({"ph":"X","cat":"cpu_op","name":"aten::d","ts":11,"dur":1})",
  });
  EXPECT_EQ(imported.PathOf("aten::b"), "aten::a/aten::b");
  EXPECT_EQ(imported.PathOf("aten::c"), "aten::c");
  EXPECT_EQ(imported.PathOf("aten::d"), "aten::d");
}

TEST(PyTorchTest, ProfilerStepsAreSteps) {
  const Imported imported = ImportKineto({
      CpuOp("aten::early", 0, 5),
      Event("user_annotation", "ProfilerStep#4", 100, 50),
      CpuOp("aten::second", 120, 5),
      Event("user_annotation", "ProfilerStep#3", 10, 50),
      CpuOp("aten::first", 20, 5),
      CpuOp("aten::between", 70, 5),
  });
  ASSERT_THAT(imported.trace.steps, SizeIs(2));
  EXPECT_EQ(imported.trace.steps[0].name, "ProfilerStep#3");
  EXPECT_EQ(imported.trace.steps[1].name, "ProfilerStep#4");
  EXPECT_EQ(imported.Find("aten::first").step, 0u);
  EXPECT_EQ(imported.Find("aten::second").step, 1u);
  EXPECT_EQ(imported.Find("aten::early").step, kNoStep);
  EXPECT_EQ(imported.Find("aten::between").step, kNoStep);
}

TEST(PyTorchTest, ModuleHierarchyIsAPath) {
  const Imported imported = ImportKineto({
      CpuOp(
          "aten::conv", 10, 5,
          R"("Module Hierarchy":"TOP(Net)::forward.layer1(Sequential)::forward.0(a.b.Block)::forward")"),
      CpuOp("aten::self", 20, 5, R"("Module Hierarchy":"TOP(Net)::forward.SELF(Net)::helper")"),
      CpuOp("aten::none", 30, 5, R"("Module Hierarchy":"")"),
  });
  EXPECT_THAT(imported.Names(),
              UnorderedElementsAre("Net/layer1/0/aten::conv", "Net/aten::self", "aten::none"));
}

// Checkpointing runs a module again while the backward pass needs it, without what was around it.
TEST(PyTorchTest, ARecomputedModuleGoesToItsKnownPlace) {
  const std::vector<std::string> forward = {
      Module("Net_0", 0, 100),
      Module("Layer_0", 10, 50),
      CpuOp("aten::mm", 12, 5),
  };
  const std::vector<std::string> backward = {
      CpuOp("autograd::engine::evaluate_function: CheckpointBackward", 200, 50, "", "2"),
      Module("Layer_0", 205, 40, "2"),
      CpuOp("aten::mm", 210, 5, "", "2"),
  };
  for (const bool backward_first : {false, true}) {
    std::vector<std::string> events = backward_first ? backward : forward;
    const auto& rest = backward_first ? forward : backward;
    events.insert(events.end(), rest.begin(), rest.end());
    const Imported imported = ImportKineto(events);
    std::map<Phase, std::string> name_of_phase;
    for (const Op& op : imported.trace.ops) {
      if (imported.trace.strings.Text(imported.kind(op).op) != "aten::mm") continue;
      name_of_phase[imported.kind(op).phase] = imported.trace.QualifiedName(imported.kind(op));
    }
    EXPECT_EQ(name_of_phase[Phase::kForward], "Net_0/Layer_0/aten::mm") << backward_first;
    EXPECT_EQ(name_of_phase[Phase::kBackward], "Net_0/Layer_0/aten::mm") << backward_first;
  }
}

TEST(PyTorchTest, TenThousandNestedOperations) {
  std::vector<std::string> events;
  constexpr int kDepth = 10'000;
  for (int i = 0; i < kDepth; ++i) events.push_back(CpuOp("aten::f", i, 2 * kDepth - 2 * i));
  const Imported imported = ImportKineto(events);
  ASSERT_THAT(imported.trace.ops, SizeIs(kDepth));
  EXPECT_THAT(imported.trace.PathText(imported.kind(imported.trace.ops.back()).path),
              SizeIs(kDepth * std::string_view("aten::f/").size() - 1));
}

TEST(PyTorchTest, WhatIsNoOperationIsSkippedWithAReason) {
  const Imported imported = ImportKineto({
      CpuOp("aten::mm", 1, 1),
      Event("python_function", "torch/nn/functional.py(1): linear", 1, 1),
      Event("gpu_user_annotation", "x", 1, 1),
      Event("overhead", "x", 1, 1),
      Event("cuda_sync", "x", 1, 1),
      Event("Trace", "x", 1, 1),
      Event("", "x", 1, 1),
      R"({"ph":"M","name":"process_name","pid":9})",
      R"({"ph":"s","cat":"fwdbwd","id":1,"ts":1})",
      R"({"ph":"f","cat":"ac2g","id":1,"ts":1})",
      R"({"ph":"i","name":"x","ts":1})",
      R"({"ph":"C","name":"x","ts":1})",
      R"({"ph":"Z"})",
      R"({"name":"no phase"})",
      "[{}]",
      "\"text\"",
  });
  EXPECT_EQ(imported.report().events, 16u);
  EXPECT_EQ(imported.report().operations, 1u);
  EXPECT_EQ(CountOf(imported.report(), NoteClass::kDropped), 3u);
  EXPECT_EQ(CountOf(imported.report(), NoteClass::kSkipped), 12u);
}

TEST(PyTorchTest, BadTimesAreDroppedWithTheirOffset) {
  const std::vector<std::string> events = {
      CpuOp("aten::mm", 1, 1),
      R"({"ph":"X","cat":"cpu_op","name":"x","pid":9,"tid":1,"ts":1})",
      R"({"ph":"X","cat":"cpu_op","name":"x","pid":9,"tid":1,"dur":1})",
      R"({"ph":"X","cat":"cpu_op","name":"x","pid":9,"tid":1,"ts":1,"dur":-1})",
      R"({"ph":"X","cat":"python_function","name":"nn.Module: N_0","pid":9,"tid":1,"ts":"x","dur":1})",
  };
  const std::string text = Trace(events);
  EXPECT_THAT(Notes(ImportKineto(events).report(), NoteClass::kDropped),
              UnorderedElementsAre(fmt::format("missing_dur x1 @{}", text.find(events[1])),
                                   fmt::format("missing_ts x1 @{}", text.find(events[2])),
                                   fmt::format("negative_dur x1 @{}", text.find(events[3])),
                                   fmt::format("ts_not_usable x1 @{}", text.find(events[4]))));
}

TEST(PyTorchTest, SeveralFilesDoNotShareLanes) {
  OpTrace trace;
  const std::string text = Trace({CpuOp("aten::mm", 1, 1)});
  for (int i = 0; i < 2; ++i) {
    ByteSource source = ByteSource::FromMemory(text, "trace");
    ImportOptions options;
    options.format = "pytorch-kineto";
    ASSERT_TRUE(Import(source, options, trace));
  }
  ASSERT_THAT(trace.ops, SizeIs(2));
  EXPECT_NE(trace.ops[0].lane, trace.ops[1].lane);
}

TEST(PyTorchTest, AnEmptyTrace) {
  const Imported imported = ImportKineto({}, R"("schemaVersion":1,"baseTimeNanoseconds":5,)");
  EXPECT_EQ(imported.error, "");
  EXPECT_THAT(imported.trace.ops, IsEmpty());
  EXPECT_EQ(imported.report().events, 0u);
}

TEST(PyTorchParallelTest, ThreadsDoNotChangeTheResult) {
  std::mt19937 random(11);
  std::vector<std::string> events;
  for (int i = 0; i < 15'000; ++i) {
    const double start = i * 10;
    const auto thread = std::to_string(random() % 3);
    if (random() % 5 == 0) {
      events.push_back(Module(fmt::format("Linear_{}", random() % 50), start, 40, thread));
    } else {
      events.push_back(CpuOp(
          fmt::format("aten::op{}", random() % 300), start, 15,
          fmt::format(
              R"("External id":{},"Sequence number":{},"Fwd thread id":{},"filler":"}},{{ {}")", i,
              random() % 100, random() % 2, std::string(60, 'x')),
          thread));
    }
  }
  const Imported one = ImportKineto(events, "", R"(,"baseTimeNanoseconds":1759276818000000000)", 1);
  ASSERT_THAT(one.trace.ops, SizeIs(Gt(10'000u)));
  const Imported four =
      ImportKineto(events, "", R"(,"baseTimeNanoseconds":1759276818000000000)", 4);
  EXPECT_EQ(four.Ops(), one.Ops());
}

TEST(PyTorchTest, CompiledGraphsHaveTheSameNameInEveryRun) {
  const Imported imported = ImportKineto({
      CpuOp("Torch-Compiled Region: 0/0", 0, 50),
      Event("user_annotation",
            "## Call CompiledFxGraph f5bmhinbrckyqlycp4tkacbzs4nbl3ypsou7hm3allvg6f26zos4 ##", 5,
            20),
      CpuOp("aten::addmm", 6, 2),
      CpuOp("CompiledFxGraph short", 60, 2),
  });
  EXPECT_THAT(imported.Names(),
              ElementsAre("Torch-Compiled Region: 0/0",
                          "Torch-Compiled Region: 0/0/## Call CompiledFxGraph ##/aten::addmm",
                          "CompiledFxGraph short"));
}

constexpr std::string_view kRankOne =
    R"("distributedInfo": {"backend": "gloo", "rank": 1, "world_size": 2},)";

TEST(PyTorchTest, ATraceSaysWhichRankItIs) {
  const std::vector<std::string> events = {CpuOp("aten::mm", 0, 5)};
  EXPECT_EQ(ImportKineto(events, kRankOne).report().rank, "1");
  EXPECT_EQ(
      ImportKineto(events, R"("distributedInfo": {"rank": 0, "world_size": 1},)").report().rank,
      "");
  EXPECT_EQ(ImportKineto(events, R"("distributedInfo": {"world_size": 2},)").report().rank, "");
  EXPECT_EQ(ImportKineto(events, R"("distributedInfo": [1, 2],)").report().rank, "");
  EXPECT_EQ(
      ImportKineto(events, "", R"(,"distributedInfo": {"rank": 1, "world_size": 2})").report().rank,
      "1");
  ImportOptions options;
  options.rank = "left";
  const Imported told = ImportText(Trace(events, kRankOne), options);
  EXPECT_EQ(told.report().rank, "left");
  EXPECT_THAT(told.trace.ranks, ElementsAre("left"));
}

TEST(PyTorchTest, RanksShareStepsAndFilesOfOneRankDoNot) {
  OpTrace trace;
  auto add = [&](std::string_view rank, double ts) {
    const std::string text =
        Trace({Event("user_annotation", "ProfilerStep#3", ts, 100), CpuOp("aten::mm", ts + 1, 5)});
    ByteSource source = ByteSource::FromMemory(text, "trace");
    ImportOptions options;
    options.rank = rank;
    ASSERT_TRUE(Import(source, options, trace));
  };
  add("0", 0);
  add("1", 50);
  add("0", 1000);
  add("1", 1050);
  ASSERT_THAT(trace.steps, SizeIs(2));
  EXPECT_EQ(trace.steps[0].start.value, 0);
  EXPECT_EQ(trace.steps[0].end.value, 150'000);
  EXPECT_EQ(trace.steps[1].start.value, 1'000'000);
  EXPECT_THAT(trace.ranks, ElementsAre("0", "1"));
  std::vector<std::pair<uint32_t, uint16_t>> step_and_rank;
  for (const Op& op : trace.ops) step_and_rank.emplace_back(op.step, trace.kinds[op.kind].rank);
  EXPECT_THAT(step_and_rank,
              ElementsAre(std::pair(0u, 0), std::pair(0u, 1), std::pair(1u, 0), std::pair(1u, 1)));
}

TEST(PyTorchTest, AForwardOperationFlowsIntoItsBackwardOne) {
  const Imported imported = ImportKineto({
      CpuOp("aten::linear", 42, 10, kForwardSeven),
      CpuOp("aten::addmm", 43, 5, kForwardSeven),
      CpuOp("autograd::engine::evaluate_function: AddmmBackward0", 200, 30, kBackwardSeven, "2"),
      CpuOp("AddmmBackward0", 205, 20, kBackwardSeven, "2"),
      CpuOp("aten::mm", 206, 5, "", "2"),
      CpuOp("MulBackward0", 300, 5, R"("Sequence number":9,"Fwd thread id":1)", "2"),
  });
  std::vector<std::string> arrows;
  for (const Dataflow& arrow : imported.trace.dataflow) {
    arrows.push_back(fmt::format("{} > {}",
                                 imported.trace.QualifiedName(imported.trace.kinds[arrow.from]),
                                 imported.trace.QualifiedName(imported.trace.kinds[arrow.to])));
  }
  EXPECT_THAT(arrows, ElementsAre("aten::addmm > AddmmBackward0"));
}

}  // namespace
}  // namespace beryl::importers
