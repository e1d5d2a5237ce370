// Through importers.h: the importer has no header of its own.
#include <random>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "importers/import_for_test.h"

namespace beryl::importers {
namespace {

std::string Call(std::string_view name, double ts, double dur, std::string_view tid = "1",
                 std::string_view pid = "CPU functions") {
  return fmt::format(
      R"({{"name": "{}", "ph": "X", "ts": {}, "dur": {}, "tid": {}, "pid": "{}", "args": {{}}}})",
      name, ts, dur, tid, pid);
}
std::string Kernel(std::string_view name, double ts, double dur, std::string_view device = "0") {
  return Call(name, ts, dur, device, "CUDA functions");
}
std::string FlowFrom(std::string_view name, double ts, int id, std::string_view tid = "1") {
  return fmt::format(
      R"({{"name": "{}", "ph": "s", "ts": {}, "tid": {}, "pid": "CPU functions", "id": {}, "cat": "cpu_to_cuda", "args": {{}}}})",
      name, ts, tid, id);
}
std::string FlowTo(std::string_view name, double ts, int id, std::string_view device = "0") {
  return fmt::format(
      R"({{"name": "{}", "ph": "f", "ts": {}, "tid": {}, "pid": "CUDA functions", "id": {}, "cat": "cpu_to_cuda", "args": {{}}}})",
      name, ts, device, id);
}

std::string Array(const std::vector<std::string>& events) {
  return fmt::format("[{}]", fmt::join(events, ", "));
}
// Recognised, not told.
Imported ImportLegacy(const std::vector<std::string>& events, int threads = 1) {
  ImportOptions options;
  options.threads = threads;
  Imported imported = ImportText(Array(events), options);
  EXPECT_EQ(imported.error, "");
  if (imported.error.empty()) {
    EXPECT_EQ(imported.report().format, "pytorch-legacy");
  }
  return imported;
}

TEST(PyTorchLegacyTest, CallsNestInTheirThread) {
  const Imported imported = ImportLegacy({
      Call("aten::linear", 542.5, 40),
      Call("aten::addmm", 545, 30),
      Call("aten::mm", 546, 1, "2"),
  });
  EXPECT_THAT(imported.Ops(), ElementsAre("aten::linear forward CPU:0 [542500,582500)",
                                          "aten::addmm forward CPU:0 [545000,575000)",
                                          "aten::mm forward CPU:0 [546000,547000)"));
  EXPECT_EQ(imported.PathOf("aten::addmm"), "aten::linear/aten::addmm");
  EXPECT_EQ(imported.PathOf("aten::mm"), "aten::mm");
  EXPECT_EQ(imported.trace.ops[0].lane, imported.trace.ops[1].lane);
  EXPECT_NE(imported.trace.ops[0].lane, imported.trace.ops[2].lane);
  EXPECT_EQ(imported.trace.clock, "the start of the profile");
}

TEST(PyTorchLegacyTest, OfCallsThatTakeTheSameTimeTheLaterWrittenIsTheCaller) {
  const Imported imported = ImportLegacy({Call("aten::copy_", 10, 5), Call("aten::to", 10, 5)});
  EXPECT_EQ(imported.PathOf("aten::copy_"), "aten::to/aten::copy_");
}

TEST(PyTorchLegacyTest, SaysWhatWouldGiveModules) {
  EXPECT_TRUE(SaysNoModules(ImportLegacy({Call("aten::add", 10, 5)}).report()));
  EXPECT_FALSE(SaysNoModules(ImportLegacy({Kernel("k", 10, 5)}).report())) << "nothing could";
}

TEST(PyTorchLegacyTest, NamesTellThePhase) {
  const Imported imported = ImportLegacy({
      Call("addmm", 0, 5),
      Call("AddmmBackward", 10, 5),
      Call("mm", 11, 2),
      Call("torch::autograd::AccumulateGrad", 20, 5),
      Call("add_", 21, 2),
      Call("torch::autograd::GraphRoot", 28, 1),
      Call("autograd::engine::evaluate_function: AddBackward0", 30, 9),
      Call("ProfilerStep#4", 35, 30),
      Call("Optimizer.step#SGD.step", 40, 9),
      Call("aten::add_", 41, 2),
  });
  EXPECT_THAT(
      imported.Ops(),
      ElementsAre("addmm forward CPU:0 [0,5000)", "AddmmBackward backward CPU:0 [10000,15000)",
                  "mm backward CPU:0 [11000,13000)",
                  "torch::autograd::AccumulateGrad backward CPU:0 [20000,25000)",
                  "add_ backward CPU:0 [21000,23000)",
                  "torch::autograd::GraphRoot backward CPU:0 [28000,29000)",
                  "autograd::engine::evaluate_function: AddBackward0 backward CPU:0 "
                  "[30000,39000)",
                  "Optimizer.step#SGD.step/aten::add_ optimizer CPU:0 [41000,43000)"));
  ASSERT_THAT(imported.trace.steps, SizeIs(1));
  EXPECT_EQ(imported.trace.steps[0].name, "ProfilerStep#4");
}

TEST(PyTorchLegacyTest, FlowsTieKernelsToTheirOperators) {
  const Imported imported = ImportLegacy({
      Call("conv2d", 10, 30),
      FlowFrom("conv2d", 10, 0),
      FlowTo("conv2d", 110, 0, "1"),
      Kernel("conv2d", 110, 60, "1"),
      Call("cudnn_convolution", 12, 20),
      FlowFrom("cudnn_convolution", 12, 1),
      FlowTo("cudnn_convolution", 120, 1, "1"),
      Kernel("cudnn_convolution", 120, 40, "1"),
      // Read from nvprof: kernels proper, which do not enclose one another.
      FlowFrom("cudnn_convolution", 12, 2),
      FlowTo("volta_gemm", 125, 2, "1"),
      Kernel("volta_gemm", 125, 40, "1"),
      Kernel("memset", 300, 5, "0"),
  });
  EXPECT_EQ(imported.report().device_events, 4u);
  EXPECT_EQ(imported.report().with_correlation, 3u);
  EXPECT_EQ(imported.report().tied, 3u);
  std::vector<std::string> kernels;
  std::vector<uint32_t> lanes;
  for (const Op& op : imported.trace.ops) {
    if (imported.trace.devices[op.device] == "CPU:0") continue;
    kernels.push_back(imported.trace.devices[op.device] + " " +
                      imported.trace.PathText(imported.kind(op).path));
    lanes.push_back(op.lane);
  }
  EXPECT_THAT(kernels,
              ElementsAre("GPU:1 conv2d/conv2d", "GPU:1 conv2d/cudnn_convolution/cudnn_convolution",
                          "GPU:1 conv2d/cudnn_convolution/volta_gemm",
                          "GPU:0 (not tied to an operation)/memset"));
  EXPECT_EQ(lanes[0], lanes[1]);
  EXPECT_NE(lanes[0], kNoLane);
  EXPECT_NE(lanes[0], imported.trace.ops[0].lane);
  EXPECT_EQ(lanes[2], kNoLane);
  EXPECT_EQ(lanes[3], kNoLane);
}

TEST(PyTorchLegacyTest, OfLikeEventsTheOneNextToTheFlowIsMeant) {
  std::vector<std::string> events;
  for (int i = 0; i < 3; ++i) {
    events.push_back(Call("outer", 10, 0));
    events.push_back(FlowFrom("outer", 10, i));
    events.push_back(FlowTo("k", 20, i));
    events.push_back(Kernel("k", 20, 1));
  }
  const Imported imported = ImportLegacy(events);
  EXPECT_EQ(imported.report().tied, 3u);
  EXPECT_THAT(imported.trace.ops, SizeIs(6));
}

TEST(PyTorchLegacyTest, LaunchesWithoutTheirKernelAreCounted) {
  const Imported imported = ImportLegacy(
      {Call("aten::mm", 10, 5), FlowFrom("aten::mm", 10, 0), FlowFrom("aten::mm", 10, 1)});
  EXPECT_THAT(Notes(imported.report(), NoteClass::kSkipped),
              Contains(StartsWith("launch_of_unseen_kernel x2 @")));
}

TEST(PyTorchLegacyTest, OtherAcceleratorsAndRemoteNodesAreDevicesOfTheirOwn) {
  const Imported imported = ImportLegacy({
      Call("aten::mm", 10, 5),
      Call("MatMulV2", 20, 5, "3", "NPU functions"),
      Call("rpc_async#add", 30, 5, "\" node_id:2, thread_id:1 \""),
      Call("forward", 40, 5, "1", "CPU Functions"),
      Call("who knows", 50, 5, "1", "elsewhere"),
  });
  EXPECT_THAT(imported.trace.devices,
              testing::UnorderedElementsAre("CPU:0", "NPU:3", "node2/CPU:0"));
  EXPECT_THAT(Notes(imported.report(), NoteClass::kSkipped),
              ElementsAre(StartsWith("neither_host_nor_device x1 @")));
}

TEST(PyTorchLegacyTest, VeryManyThreadsStayApart) {
  std::vector<std::string> events;
  for (int i = 0; i < 2000; ++i) {
    const std::string thread = fmt::format("{}", 1 + i % 500);
    events.push_back(Call("inner", 10 * i + 1, 2, thread));
    events.push_back(Kernel("k", 10 * i + 5, 2, fmt::format("{}", i % 90)));
    events.push_back(Call("outer", 10 * i, 20'000, thread));
  }
  const Imported imported = ImportLegacy(events);
  std::set<uint32_t> lanes;
  for (const Op& op : imported.trace.ops) {
    if (op.lane != kNoLane) lanes.insert(op.lane);
  }
  EXPECT_THAT(lanes, SizeIs(500));
  EXPECT_THAT(imported.trace.devices, SizeIs(91));
  EXPECT_EQ(imported.PathOf("inner"), "outer/inner");
}

TEST(PyTorchLegacyTest, NumbersOfFlowsAreReadHoweverTheyAreWritten) {
  std::vector<std::string> events;
  for (const std::string_view number : {"7", "7.0", "700e-2"}) {
    events.push_back(Call("outer", 10, 0));
    for (const std::string& flow : {FlowFrom("outer", 10, 7), FlowTo("k", 20, 7)}) {
      events.push_back(
          std::regex_replace(flow, std::regex("\"id\": 7"), fmt::format("\"id\": {}", number)));
    }
    events.push_back(Kernel("k", 20, 1));
    EXPECT_EQ(ImportLegacy(events).report().tied, 1u) << number;
    events.clear();
  }
}

TEST(PyTorchLegacyTest, BadEventsAreCountedWithTheirPlace) {
  const std::vector<std::string> events = {
      Call("good", 0, 1),
      R"({"name": "no ts", "ph": "X", "dur": 1, "tid": 1, "pid": "CPU functions"})",
      R"({"name": "no dur", "ph": "X", "ts": 1, "tid": 1, "pid": "CPU functions"})",
      Call("negative", 5, -1),
      Kernel("no device", 5, 1, "\"x\""),
      Kernel("device far out", 5, 1, "99999"),
      R"({"name": "no ph", "ts": 1, "dur": 1, "pid": "CPU functions"})",
      R"({"name": "x", "ph": "s", "ts": 1, "pid": "CPU functions"})",
      R"({"name": "x", "ph": "f", "id": "one", "ts": 1, "pid": "CUDA functions"})",
      R"({"name": "x", "ph": "f", "id": 7, "ts": 1, "pid": "CUDA functions"})",
      "7",
  };
  const Imported imported = ImportLegacy(events);
  EXPECT_THAT(imported.Names(), ElementsAre("good"));
  EXPECT_EQ(CountOf(imported.report(), NoteClass::kDropped), 7u);
  EXPECT_EQ(CountOf(imported.report(), NoteClass::kSkipped), 3u);
}

TEST(PyTorchLegacyTest, AFileThatIsCutShortIsUsedAsFarAsItGoes) {
  const std::string text = Array({Call("a", 0, 5), Call("b", 10, 5), Call("c", 20, 5)});
  for (size_t size = text.size() - 1; size > text.size() - 60; --size) {
    const Imported imported = ImportText(text.substr(0, size));
    ASSERT_EQ(imported.error, "") << size;
    EXPECT_THAT(imported.trace.ops, SizeIs(size + 1 == text.size() ? 3 : 2)) << size;
  }
}

TEST(PyTorchLegacyTest, TheResultDoesNotDependOnThreads) {
  std::mt19937 random(5);
  std::vector<std::string> events;
  for (int i = 0; i < 8000; ++i) {
    const double ts = i * 10.0;
    events.push_back(Call("aten::linear", ts, 9, fmt::format("{}", random() % 3)));
    if (random() % 2 == 0) {
      events.push_back(FlowFrom("aten::linear", ts, i, fmt::format("{}", random() % 3)));
      events.push_back(FlowTo("gemm", ts + 5, i));
      events.push_back(Kernel("gemm", ts + 5, 3));
    }
  }
  const Imported one = ImportLegacy(events, 1);
  EXPECT_GT(one.report().tied, 500u);
  const Imported three = ImportLegacy(events, 3);
  EXPECT_EQ(one.Ops(), three.Ops());
  EXPECT_EQ(one.report().tied, three.report().tied);
}

TEST(PyTorchLegacyTest, RealTraceIsRead) {
  auto source =
      ByteSource::Open("../shared/data/pytorch/distilbert_infer_torch1.13_no_kineto.json");
  if (!source) GTEST_SKIP() << "the sample traces are not here: " << source.error().message;
  OpTrace trace;
  ASSERT_TRUE(Import(*source, {}, trace));
  EXPECT_EQ(trace.reports[0].format, "pytorch-legacy");
  EXPECT_EQ(trace.reports[0].operations, 2028u);
  ASSERT_EQ(trace.reports[0].notes.size(), 1U);
  EXPECT_EQ(trace.reports[0].notes[0].kind, NoteKind::kNoModules);
}

}  // namespace
}  // namespace beryl::importers
