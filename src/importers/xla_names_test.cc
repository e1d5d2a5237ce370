#include "importers/xla_names.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace beryl::importers {
namespace {

TEST(XlaNamesTest, AnOperationOfTensorFlowIsANameAndAType) {
  const auto parsed =
      ParseTensorFlowEvent("StatefulPartitionedCall/net/dense-1/MatMul_2:_MklMatMul");
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->name, "StatefulPartitionedCall/net/dense-1/MatMul_2");
  EXPECT_EQ(parsed->type, "_MklMatMul");
  EXPECT_TRUE(ParseTensorFlowEvent("GatherV2:GatherV2"));
  EXPECT_TRUE(ParseTensorFlowEvent("a/b.c/_33/x>y:Mul"));
  for (const char* machinery :
       {"ThreadpoolListener::Record", "ExecutorState::Process", "Iterator::Root::Prefetch",
        "EagerLocalExecute: MatMul", "end: dot.73", "$train.py:12 fit", "PjitFunction(train_step)",
        "NVTX:range:kernel", "MatMul:", ":MatMul", "MatMul", "", "a b/MatMul:MatMul",
        "net/MatMul:matmul", "http://host:80"}) {
    EXPECT_FALSE(ParseTensorFlowEvent(machinery)) << machinery;
  }
  EXPECT_TRUE(IsFunctionType("__inference_train_step_42"));
  EXPECT_FALSE(IsFunctionType("_FusedMatMul"));
}

std::string PathOf(std::string_view text) {
  const auto name = ParseFrameworkName(text);
  if (!name) return "(none)";
  return name->path + (name->type.empty() ? "" : " type " + name->type) +
         (name->backward ? " backward" : "") + (name->differentiated ? " differentiated" : "");
}

TEST(XlaNamesTest, TransformationsAreTakenOffScopes) {
  EXPECT_EQ(PathOf("jit(train_step)/jvp(Net)/Dense_0/dot_general"),
            "train_step/Net/Dense_0/dot_general differentiated");
  EXPECT_EQ(PathOf("jit(train_step)/transpose(jvp(Net))/Dense_0/dot_general"),
            "train_step/Net/Dense_0/dot_general backward differentiated");
  EXPECT_EQ(PathOf("jit(f)/jit(main)/vmap(jvp(Block/Dense_0))/add"),
            "f/Block/Dense_0/add differentiated");
  EXPECT_EQ(PathOf("jit(f)/jvp()/while/body/jit(relu)/max"),
            "f/while/body/relu/max differentiated");
  EXPECT_EQ(PathOf("jit(f)/transpose(jvp(jit(_take)))/scatter-add"),
            "f/_take/scatter-add backward differentiated");
  EXPECT_EQ(PathOf("pmap(step)/shard_map/add"), "step/shard_map/add");
}

TEST(XlaNamesTest, RecomputationStaysInItsPlace) {
  EXPECT_EQ(
      PathOf("jit(f)/transpose(jvp(Net))/jvp(Net)/checkpoint/rematted_computation/block_0/mul"),
      "f/Net/block_0/mul backward differentiated");
  EXPECT_EQ(PathOf("jit(f)/jvp(Net)/checkpoint/block_0/custom_vjp_call/mul"),
            "f/Net/block_0/mul differentiated");
  // A layer that is really called what the one around it is called.
  EXPECT_EQ(PathOf("jit(f)/Dense/Dense/mul"), "f/Dense/Dense/mul");
  // An operation that is only called like a mark.
  EXPECT_EQ(PathOf("jit(f)/Net/remat"), "f/Net/remat");
}

TEST(XlaNamesTest, TypesAndParametersAreNoPartOfAScope) {
  EXPECT_EQ(PathOf("net/dense_1/MatMul:MatMul"), "net/dense_1/MatMul type MatMul");
  EXPECT_EQ(PathOf("jit(f)/Net/add:"), "f/Net/add");
  EXPECT_EQ(PathOf("jit(f)/Net/dot_general[dimension_numbers=(((1,), (0,)), ((), ())) a/b=c]"),
            "f/Net/dot_general");
  EXPECT_EQ(PathOf("jit(f)/Net/...hqk,...khd->...qhd/dot_general"),
            "f/Net/...hqk,...khd->...qhd/dot_general");
}

TEST(XlaNamesTest, WhatIsNoOperationHasNoPath) {
  for (const char* text :
       {"", "XlaModule:", "Thunk:", "p['params']['Dense_0']['kernel']", "jit()"}) {
    EXPECT_EQ(PathOf(text), "(none)") << text;
  }
  // Brackets that do not match break nothing.
  for (const char* text : {"jit(f/add", "jit)f(/add", "((((", "))))", "a[/]b", "[", "]/a"}) {
    PathOf(text);
  }
  PathOf(std::string(100'000, '(') + "/" + std::string(100'000, ')'));
  std::string nested = "x";
  for (int i = 0; i < 1000; ++i) nested = "jit(" + nested + ")";
  PathOf(nested + "/add");
}

TEST(XlaNamesTest, DevicesArePartOfAPlanesName) {
  EXPECT_EQ(DeviceOfPlane("/device:GPU:0"), "GPU:0");
  EXPECT_EQ(DeviceOfPlane("/device:TPU:1 (TPU v4, core 0)"), "TPU:1");
  EXPECT_EQ(DeviceOfPlane("/device:TPU:3 SparseCore 1"), "TPU:3");
  EXPECT_EQ(DeviceOfPlane("/job:worker/task:1/device:GPU:2"), "GPU:2");
  for (const char* none :
       {"/host:CPU", "Task Environment", "#Chip0 TPU Non-Core HBM", "/device:"}) {
    EXPECT_FALSE(DeviceOfPlane(none)) << none;
  }
  EXPECT_TRUE(IsHostPlane("/host:CPU"));
  EXPECT_FALSE(IsHostPlane("/device:GPU:0"));
}

TEST(XlaNamesTest, LinesOfADeviceAreToldApartByName) {
  EXPECT_EQ(DeviceLineOf("Stream #14(Kernel,MemcpyH2D)"), DeviceLine::kStream);
  EXPECT_EQ(DeviceLineOf("XLA Ops"), DeviceLine::kOps);
  EXPECT_EQ(DeviceLineOf("XLA Modules - from #14"), DeviceLine::kModules);
  EXPECT_EQ(DeviceLineOf("Steps"), DeviceLine::kSteps);
  EXPECT_EQ(DeviceLineOf("Framework Name Scope"), DeviceLine::kRepetition);
  EXPECT_EQ(DeviceLineOf("Stepsister"), DeviceLine::kOther);
  EXPECT_EQ(DeviceLineOf("queue 3"), DeviceLine::kOther);
}

TEST(XlaNamesTest, AModulesNumberIsInBrackets) {
  EXPECT_EQ(ParseModuleName("jit_step(154)").name, "jit_step");
  EXPECT_EQ(ParseModuleName("jit_step(154)").program, 154);
  EXPECT_EQ(ParseModuleName("jit_step").name, "jit_step");
  EXPECT_FALSE(ParseModuleName("jit_step").program);
  EXPECT_EQ(ParseModuleName("f(x)").name, "f(x)");
  EXPECT_EQ(ParseModuleName("f()").name, "f()");
  // Numbers are fingerprints of 64 bits at times.
  EXPECT_EQ(ParseModuleName("f(18446744073709551615)").program, -1);
}

}  // namespace
}  // namespace beryl::importers
