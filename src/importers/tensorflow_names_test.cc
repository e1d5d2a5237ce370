#include "importers/tensorflow_names.h"

#include <vector>

#include <gtest/gtest.h>

namespace beryl::importers {
namespace {

TEST(TensorFlowNamesTest, TellPhases) {
  struct Case {
    const char* name;
    const char* type;
    Phase phase;
  };
  const std::vector<Case> cases = {
      {"bert/encoder/layer_0/query/MatMul", "MatMul", Phase::kForward},
      {"MatMul", "MatMul", Phase::kForward},
      {"gradients/bert/MatMul_grad/MatMul", "MatMul", Phase::kBackward},
      {"gradients_1/bert/MatMul_grad/MatMul", "MatMul", Phase::kBackward},
      {"ConstantFolding/gradients/x_grad/Shape", "Const", Phase::kBackward},
      {"training/Adam/gradients/gradients/dense/MatMul_grad", "MatMul", Phase::kBackward},
      {"gradient_tape/model/MatMul", "MatMul", Phase::kBackward},
      {"Adam/update_x", "NoOp", Phase::kOptimizer},
      {"x/kernel/Adam_1", "VarHandleOp", Phase::kOptimizer},
      {"x/kernel/Adam/read", "Identity", Phase::kOptimizer},
      {"AdamWeightDecayOptimizer/mul", "Mul", Phase::kOptimizer},
      {"update", "ResourceApplyAdam", Phase::kOptimizer},
      {"update", "ApplyMomentum", Phase::kOptimizer},
      {"update", "ResourceSparseApplyFtrl", Phase::kOptimizer},
      {"Apply/me", "Apply", Phase::kForward},
      {"my_gradients_scope/x", "Mul", Phase::kForward},
      {"madam/x", "Mul", Phase::kForward},
      {"adamant/x", "Mul", Phase::kForward},
      {"", "", Phase::kForward},
  };
  for (const Case& expected : cases) {
    EXPECT_EQ(TensorFlowPhase(expected.name, expected.type), expected.phase)
        << expected.name << " " << expected.type;
  }
}

TEST(TensorFlowNamesTest, TakeProcessNamesApart) {
  const auto process =
      ParseProcessName("/job:worker/replica:0/task:1/device:GPU:0/stream:7 Compute");
  EXPECT_TRUE(process.compute);
  EXPECT_EQ(process.task, "job:worker/replica:0/task:1");
  EXPECT_EQ(process.device, "GPU:0");
  EXPECT_EQ(process.stream, "stream:7");

  EXPECT_EQ(ParseProcessName("/device:GPU:1/memcpy Compute").stream, "memcpy");
  EXPECT_EQ(ParseProcessName("/job:localhost/replica:0/task:0/gpu:3 Compute").device, "GPU:3");
  EXPECT_EQ(ParseProcessName("/job:localhost/gpu:0 (Tesla K40) Compute").device, "GPU:0");
  for (const char* name : {"/job:localhost/replica:0/task:0/device:CPU:0 Tensors", "Allocators",
                           " Compute", "Compute", "", "/job:localhost Compute"}) {
    EXPECT_FALSE(ParseProcessName(name).compute) << name;
  }
}

TEST(TensorFlowNamesTest, StreamsAreWhatAGpuRan) {
  const auto launches = ParseProcessName("/job:localhost/replica:0/task:0/device:GPU:0 Compute");
  const auto all = ParseProcessName("/device:GPU:0/stream:all Compute");
  const auto seven = ParseProcessName("/device:GPU:0/stream:7 Compute");
  const auto copies = ParseProcessName("/device:GPU:0/memcpy Compute");

  const TensorFlowLayout with_numbers({launches, all, seven, copies});
  EXPECT_TRUE(with_numbers.IsRepetition(all));
  EXPECT_TRUE(with_numbers.IsRepetition(copies));
  EXPECT_FALSE(with_numbers.IsRepetition(seven));
  EXPECT_FALSE(with_numbers.IsRepetition(launches));
  EXPECT_EQ(with_numbers.DeviceName(launches), "CPU:0");
  EXPECT_EQ(with_numbers.DeviceName(seven), "GPU:0");

  const TensorFlowLayout collected({launches, all});
  EXPECT_FALSE(collected.IsRepetition(all));
  EXPECT_EQ(collected.DeviceName(all), "GPU:0");

  const TensorFlowLayout no_streams({launches});
  EXPECT_EQ(no_streams.DeviceName(launches), "GPU:0");
}

TEST(TensorFlowNamesTest, DevicesOfSeveralTasksAreToldApart) {
  const auto first = ParseProcessName("/job:worker/replica:0/task:0/device:CPU:0 Compute");
  const auto second = ParseProcessName("/job:worker/replica:0/task:1/device:CPU:0 Compute");
  const auto other = ParseProcessName("/job:worker/replica:0/task:1/device:GPU:0 Compute");
  const TensorFlowLayout layout({first, second, other});
  EXPECT_EQ(layout.DeviceName(first), "job:worker/replica:0/task:0/CPU:0");
  EXPECT_EQ(layout.DeviceName(second), "job:worker/replica:0/task:1/CPU:0");
  EXPECT_EQ(layout.DeviceName(other), "GPU:0");
}

TEST(TensorFlowNamesTest, TheQualifiedNameIsTheNameAsItStands) {
  for (const char* name : {"a/b/c", "x", "/a", "a/", "a//b", "/", "//", "層/🙂"}) {
    OpTrace trace;
    const OpKind kind =
        MakeTensorFlowKind(trace, trace.strings.Intern(name), trace.strings.Intern("MatMul"));
    EXPECT_EQ(trace.QualifiedName(kind), name);
    EXPECT_EQ(trace.strings.Text(kind.type), "MatMul");
  }
}

}  // namespace
}  // namespace beryl::importers
