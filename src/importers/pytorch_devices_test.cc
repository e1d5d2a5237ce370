// What runs on accelerators in a trace of PyTorch.
#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "importers/pytorch_for_test.h"

namespace beryl::importers {
namespace {

std::string Launch(double ts, int correlation) {
  return Event("cuda_runtime", "cudaLaunchKernel", ts, 1,
               fmt::format(R"("correlation":{})", correlation));
}
std::string Kernel(std::string_view name, double ts, std::string_view args,
                   std::string_view cat = "kernel") {
  return fmt::format(
      R"({{"ph":"X","cat":"{}","name":"{}","pid":0,"tid":7,"ts":{},"dur":5,"args":{{{}}}}})", cat,
      name, ts, args);
}

TEST(PyTorchTest, KernelsAreTiedToTheOperationThatLaunchedThem) {
  const Imported imported = ImportKineto({
      Module("Net_0", 0, 100),
      CpuOp("aten::mm", 10, 20, R"("External id":3)"),
      Launch(12, 55),
      CpuOp("aten::copy_", 40, 20, R"("External id":4)"),
      Kernel("gemm", 200, R"("device":0,"correlation":55,"External id":99)"),
      Kernel("Memcpy HtoD", 210, R"("device":1,"correlation":77,"External id":4)", "gpu_memcpy"),
      Kernel("lost", 220, R"("device":0,"correlation":78)"),
      Kernel("Memset", 230, R"("device":0)", "gpu_memset"),
  });
  EXPECT_EQ(imported.report().device_events, 4u);
  EXPECT_EQ(imported.report().with_correlation, 3u);
  EXPECT_EQ(imported.report().tied, 2u);
  EXPECT_THAT(imported.Ops(), Contains("Net_0/aten::mm forward GPU:0 [200000,205000)"));
  EXPECT_THAT(imported.Ops(), Contains("Net_0/aten::copy_ forward GPU:1 [210000,215000)"));
  EXPECT_THAT(imported.PathOf("lost"), StartsWith("(not tied to an operation)/"));
  EXPECT_THAT(Notes(imported.report(), NoteClass::kRepaired),
              ElementsAre(HasSubstr("device_event_not_tied x2")));
  for (const Op& op : imported.trace.ops) {
    EXPECT_EQ(op.lane == kNoLane, imported.trace.devices[op.device] != "CPU:0");
  }
}

TEST(PyTorchTest, AKernelHasThePhaseAndStepOfItsLauncher) {
  const Imported imported = ImportKineto({
      Event("user_annotation", "ProfilerStep#1", 0, 100),
      CpuOp("autograd::engine::evaluate_function: MmBackward0", 10, 20),
      Launch(12, 55),
      Event("user_annotation", "ProfilerStep#2", 100, 100),
      Kernel("gemm", 150, R"("device":0,"correlation":55)"),
  });
  const auto on_gpu =
      std::find_if(imported.trace.ops.begin(), imported.trace.ops.end(),
                   [&](const Op& op) { return imported.trace.devices[op.device] == "GPU:0"; });
  ASSERT_NE(on_gpu, imported.trace.ops.end());
  EXPECT_EQ(imported.kind(*on_gpu).phase, Phase::kBackward);
  EXPECT_EQ(imported.trace.steps[on_gpu->step].name, "ProfilerStep#1");
}

TEST(PyTorchTest, DeviceEventsWithoutADevice) {
  const Imported imported = ImportKineto({
      R"({"ph":"X","cat":"kernel","name":"by pid","pid":2,"tid":7,"ts":1,"dur":1})",
      R"({"ph":"X","cat":"kernel","name":"nowhere","pid":"GPU","tid":7,"ts":1,"dur":1})",
      R"({"ph":"X","cat":"kernel","name":"nothing","ts":1,"dur":1})",
      R"({"ph":"X","cat":"kernel","name":"huge","pid":1e300,"ts":1,"dur":1})",
  });
  EXPECT_THAT(imported.Names(), Contains("by pid"));
  EXPECT_THAT(imported.trace.devices, Contains("GPU:2"));
  EXPECT_THAT(Notes(imported.report(), NoteClass::kDropped),
              ElementsAre(HasSubstr("device_event_without_device x3")));
}

TEST(PyTorchTest, OldCategoryNamesAreKnown) {
  const Imported imported = ImportKineto({
      Event("Operator", "aten::mm", 10, 20, R"("external id":3)"),
      Event("Runtime", "cudaLaunchKernel", 12, 1, R"("correlation":5)"),
      Kernel("gemm", 50, R"("device":0,"correlation":5)", "Kernel"),
      Kernel("copy", 60, R"("device":0,"external id":3)", "Memcpy"),
      Kernel("set", 70, R"("device":0)", "Memset"),
  });
  EXPECT_EQ(imported.report().operations, 5u);
  EXPECT_EQ(imported.report().tied, 2u);
}

std::string Labelled(std::string_view pid, std::string_view label,
                     std::string_view name = "process_labels") {
  return fmt::format(R"({{"ph":"M","name":"{}","pid":{},"tid":0,"ts":0,"args":{{"{}":"{}"}}}})",
                     name, pid, name == "process_labels" ? "labels" : "name", label);
}
std::string On(std::string_view pid, std::string_view cat, std::string_view name, double ts,
               std::string_view args = "") {
  return fmt::format(
      R"({{"ph":"X","cat":"{}","name":"{}","pid":{},"tid":7,"ts":{},"dur":2,"args":{{{}}}}})", cat,
      name, pid, ts, args);
}
std::vector<std::string> DevicesOf(const Imported& imported) {
  std::vector<std::string> texts;
  for (const Op& op : imported.trace.ops) {
    texts.push_back(fmt::format("{} {}", imported.trace.strings.Text(imported.kind(op).op),
                                imported.trace.devices[op.device]));
  }
  return texts;
}

TEST(PyTorchTest, EveryAcceleratorsWorkIsBookedOnIt) {
  const Imported imported = ImportKineto({
      Labelled("9", "CPU"),
      Labelled("0", "GPU 0"),
      Labelled("3", "XPU 3"),
      Labelled("70", "HPU 1"),
      Labelled("88", "NPU"),
      Labelled("4", "MTIA 4", "process_name"),
      On("0", "kernel", "gemm", 10),
      On("0", "gpu_memcpy", "copy", 20, R"("device":2)"),
      On("3", "kernel", "xgemm", 30),
      On("70", "hpu_op", "mme", 40),
      On("88", "", "AscendMatMul", 50),
      On("5", "mtia_ccp_events", "ccp", 60),
      On("4", "mtia_workloadd", "load", 70),
      On("6", "mlu_memset", "set", 80),
  });
  EXPECT_THAT(DevicesOf(imported),
              ElementsAre("gemm GPU:0", "copy GPU:2", "xgemm XPU:3", "mme HPU:1",
                          "AscendMatMul NPU:0", "ccp MTIA:5", "load MTIA:4", "set MLU:6"));
  EXPECT_EQ(imported.report().device_events, 8u);
  EXPECT_EQ(imported.report().tied, 0u);
}

TEST(PyTorchTest, EveryAcceleratorsRuntimeIsTheHostsWork) {
  std::vector<std::string> events = {Labelled("9", "CPU")};
  for (const char* cat :
       {"cuda_runtime", "cuda_driver", "mtia_runtime", "xpu_runtime", "xpu_driver", "mlu_runtime",
        "privateuse1_runtime", "privateuse1_driver", "glow_runtime", "hpu_op"}) {
    events.push_back(On("9", cat, cat, 10.0 * static_cast<double>(events.size())));
  }
  const Imported imported = ImportKineto(events);
  EXPECT_THAT(imported.trace.ops, SizeIs(10));
  EXPECT_THAT(imported.trace.devices, ElementsAre("CPU:0"));
  EXPECT_EQ(imported.report().device_events, 0u);
}

TEST(PyTorchTest, ABareKernelIsTheOnlyRuntimesAccelerator) {
  const Imported xpu = ImportKineto({On("9", "xpu_runtime", "launch", 0, R"("correlation":1)"),
                                     On("0", "kernel", "gemm", 10, R"("correlation":1)")});
  EXPECT_THAT(xpu.trace.devices, ElementsAre("CPU:0", "XPU:0"));
  EXPECT_EQ(xpu.report().tied, 1u);
  const Imported both =
      ImportKineto({On("9", "xpu_runtime", "launch", 0), On("9", "cuda_runtime", "launch", 5),
                    On("0", "kernel", "gemm", 10)});
  EXPECT_THAT(both.trace.devices, ElementsAre("CPU:0", "GPU:0"));
}

TEST(PyTorchTest, OfAnUnknownCategoryTheProcessDecides) {
  const Imported imported = ImportKineto({
      Labelled("9", "CPU"),
      Labelled("0", "GPU 0"),
      // In a container the program may be process 1, which is also a GPU's.
      Labelled("1", "GPU 1"),
      Labelled("1", "CPU"),
      Labelled("2", "NPU"),
      Labelled("2", "Overlap Analysis", "process_name"),
      On("0", "brand_new", "on the device", 10),
      On("9", "brand_new", "on the host", 20),
      On("1", "brand_new", "on who knows what", 30),
      On("77", "brand_new", "on nobody's process", 40),
      On("2", "brand_new", "Computing", 50),
  });
  EXPECT_THAT(DevicesOf(imported), ElementsAre("on the device GPU:0"));
  EXPECT_THAT(Notes(imported.report(), NoteClass::kSkipped),
              Contains(StartsWith("other_category x4 @")));
}

TEST(PyTorchTest, WhatAnAcceleratorOnlyRecordsIsNoWork) {
  std::vector<std::string> events = {Labelled("0", "GPU 0")};
  for (const char* cat :
       {"gpu_user_annotation", "mlu_user_annotation", "overhead", "cuda_sync", "xpu_sync",
        "cuda_event", "cuda_profiler_range", "xpu_scope_profiler", "mtia_counters"}) {
    events.push_back(On("0", cat, cat, 10));
  }
  const Imported imported = ImportKineto(events);
  EXPECT_THAT(imported.trace.ops, IsEmpty());
  EXPECT_EQ(CountOf(imported.report(), NoteClass::kSkipped), 10u);
}

TEST(PyTorchTest, AllKernelsOfACudaGraphGoToWhatLaunchedIt) {
  std::vector<std::string> events = {
      Module("Net_0", 0, 100),
      CpuOp("GraphReplay", 10, 20),
      Event("cuda_runtime", "cudaGraphLaunch", 12, 5, R"("correlation":5)"),
      // Replayed by the module itself, without an operation around the call.
      Event("cuda_runtime", "cudaGraphLaunch", 50, 5, R"("correlation":6)"),
  };
  for (int node = 0; node < 3; ++node) {
    for (const int launch : {5, 6}) {
      events.push_back(
          On("0", "kernel", fmt::format("k{}", node), 100.0 * launch + 10.0 * node,
             fmt::format(R"("correlation":{},"graph node id":{},"device":0)", launch, node)));
    }
  }
  const Imported imported = ImportKineto(events);
  EXPECT_EQ(imported.report().device_events, 6u);
  EXPECT_EQ(imported.report().tied, 6u);
  std::multiset<std::string> paths;
  for (const Op& op : imported.trace.ops) {
    if (imported.trace.devices[op.device] == "GPU:0") {
      paths.insert(imported.trace.PathText(imported.kind(op).path));
    }
  }
  EXPECT_THAT(paths,
              UnorderedElementsAre("Net_0/GraphReplay/k0", "Net_0/GraphReplay/k1",
                                   "Net_0/GraphReplay/k2", "Net_0/k0", "Net_0/k1", "Net_0/k2"));
}

}  // namespace
}  // namespace beryl::importers
