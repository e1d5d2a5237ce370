// Through importers.h: the importer has no header of its own.
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "importers/import_for_test.h"

namespace beryl::importers {
namespace {

constexpr std::string_view kCpu = "/job:localhost/replica:0/task:0/device:CPU:0 Compute";

std::string ProcessName(std::string_view pid, std::string_view name) {
  return fmt::format(R"({{"ph":"M","name":"process_name","pid":{},"args":{{"name":"{}"}}}})", pid,
                     name);
}

std::string OpEvent(std::string_view pid, std::string_view name, std::string_view ts,
                    std::string_view dur, std::string_view type = "MatMul") {
  return fmt::format(
      R"({{"ph":"X","cat":"Op","name":"{4}","pid":{0},"tid":0,"ts":{2},"dur":{3},"args":{{"name":"{1}","op":"{4}"}}}})",
      pid, name, ts, dur, type);
}

std::string Trace(const std::vector<std::string>& events) {
  return fmt::format(R"({{"traceEvents": [{}]}})", fmt::join(events, ",\n"));
}

Imported ImportTimeline(const std::vector<std::string>& events, int threads = 1) {
  ImportOptions options;
  options.format = "tensorflow-timeline";
  options.threads = threads;
  return ImportText(Trace(events), options);
}

TEST(TensorFlowTest, OperationsKeepNameTypeTimeAndPhase) {
  const Imported imported = ImportTimeline({
      ProcessName("1", kCpu),
      OpEvent("1", "bert/query/MatMul", "1690000000000086", "12"),
      OpEvent("1", "gradients/bert/query/MatMul_grad", "1690000000000100", "3", "MatMulGrad"),
      OpEvent("1", "Adam/update_x", "1690000000000110", "0", "NoOp"),
  });
  EXPECT_THAT(
      imported.Ops(),
      ElementsAre("bert/query/MatMul forward CPU:0 [1690000000000086000,1690000000000098000)",
                  "gradients/bert/query/MatMul_grad backward CPU:0 "
                  "[1690000000000100000,1690000000000103000)",
                  "Adam/update_x optimizer CPU:0 [1690000000000110000,1690000000000110000)"));
  EXPECT_EQ(imported.trace.strings.Text(imported.kind(imported.trace.ops[1]).type), "MatMulGrad");
  EXPECT_EQ(imported.trace.ops[0].lane, kNoLane);
}

// "from > to" of all arrows.
std::vector<std::string> Arrows(const OpTrace& trace) {
  std::vector<std::string> texts;
  for (const Dataflow& arrow : trace.dataflow) {
    texts.push_back(fmt::format("{} > {}", trace.QualifiedName(trace.kinds[arrow.from]),
                                trace.QualifiedName(trace.kinds[arrow.to])));
  }
  return texts;
}

std::string OpWithInputs(std::string_view name, std::string_view ts, std::string_view inputs,
                         std::string_view tid = "0") {
  return fmt::format(
      R"({{"ph":"X","cat":"Op","name":"T","pid":1,"tid":{},"ts":{},"dur":1,"args":{{"name":"{}","op":"T"{}}}}})",
      tid, ts, name, inputs);
}

std::string FlowTo(std::string_view from, std::string_view ts, std::string_view tid = "0") {
  return fmt::format(R"({{"ph":"t","cat":"DataFlow","name":"{}","pid":1,"tid":{},"ts":{},"id":0}})",
                     from, tid, ts);
}

TEST(TensorFlowTest, InputsAreDataflow) {
  const Imported imported = ImportTimeline({
      ProcessName("1", kCpu),
      OpWithInputs("a", "10", ""),
      OpWithInputs("b", "20", R"(,"input0":"a","input1":"^c")"),
      OpWithInputs("s/c", "30", R"(,"input0":"a:1","input1":"b:0","input2":"a","input3":"gone")"),
      // The second time tells nothing new, and flows nothing at all where there are inputs.
      OpWithInputs("b", "40", R"(,"input0":"s/c")"),
      FlowTo("s/c", "40"),
  });
  EXPECT_THAT(Arrows(imported.trace), ElementsAre("a > b", "a > s/c", "b > s/c"));
}

TEST(TensorFlowTest, WithoutInputsFlowsAreDataflow) {
  const std::vector<std::string> events = {
      ProcessName("1", kCpu),           OpWithInputs("a", "10", ""),
      OpWithInputs("b", "20", "", "5"), FlowTo("a", "20", "5"),
      FlowTo("a", "21", "5"),           FlowTo("a", "20", "6"),
      OpWithInputs("c", "20", "", "5"), FlowTo("b", "20", "5"),
  };
  EXPECT_THAT(Arrows(ImportTimeline(events).trace), ElementsAre("a > b", "b > c"));
}

TEST(TensorFlowTest, DataflowDoesNotDependOnChunksAndThreads) {
  for (const bool with_inputs : {false, true}) {
    std::vector<std::string> events = {ProcessName("1", kCpu)};
    for (int i = 0; i < 6000; ++i) {
      const std::string ts = fmt::format("{}", 1000 + i);
      const std::string before = fmt::format("layer_{}/op", (i + 2999) % 3000);
      events.push_back(OpWithInputs(fmt::format("layer_{}/op", i % 3000), ts,
                                    with_inputs ? fmt::format(R"(,"input0":"{}")", before) : ""));
      events.push_back(FlowTo(before, ts));
    }
    const auto one = Arrows(ImportTimeline(events, 1).trace);
    EXPECT_THAT(one, SizeIs(3000));
    EXPECT_EQ(Arrows(ImportTimeline(events, 3).trace), one);
  }
}

TEST(TensorFlowTest, DataflowOfOperationsThatAreNoneIsForgotten) {
  const Imported imported = ImportTimeline({
      ProcessName("1", kCpu),
      ProcessName("2", "/job:localhost/replica:0/task:0/device:CPU:0 Tensors"),
      OpEvent("2", "unused", "5", "1"),
      OpWithInputs("a", "10", R"(,"input0":"unused")"),
      OpWithInputs("b", "20", R"(,"input0":"a")"),
  });
  EXPECT_THAT(Arrows(imported.trace), ElementsAre("a > b"));
}

TEST(TensorFlowTest, KindsAreOfTheRankThatWasTold) {
  OpTrace trace;
  for (const char* rank : {"w0", "w1"}) {
    const std::string text = Trace({ProcessName("1", kCpu), OpEvent("1", "a", "10", "5"),
                                    OpWithInputs("b", "20", R"(,"input0":"a")")});
    ByteSource source = ByteSource::FromMemory(text, "trace");
    ImportOptions options;
    options.rank = rank;
    ASSERT_TRUE(Import(source, options, trace));
  }
  EXPECT_THAT(trace.ranks, ElementsAre("w0", "w1"));
  ASSERT_THAT(trace.kinds, SizeIs(4));
  EXPECT_EQ(trace.kinds[0].rank, 0);
  EXPECT_EQ(trace.kinds[3].rank, 1);
  // No arrow leads from one rank's operations to another's.
  EXPECT_THAT(trace.dataflow, ElementsAre(Dataflow{0, 1}, Dataflow{2, 3}));
  EXPECT_THAT(trace.steps, SizeIs(1));
}

TEST(TensorFlowTest, OddTimesAreReadOrCounted) {
  std::vector<std::string> events = {
      ProcessName("1", kCpu),
      OpEvent("1", "float", "1000.125", "0.5"),
      OpEvent("1", "string", "\"2000\"", "\"3\""),
      OpEvent("1", "far", "2000000000000000", "7"),
      OpEvent("1", "exponent", "1e3", "1"),
      OpEvent("1", "negative", "1000", "-1"),
      OpEvent("1", "bad_ts", "\"soon\"", "1"),
      OpEvent("1", "null_ts", "null", "1"),
      OpEvent("1", "bad_dur", "1000", "[1]"),
      OpEvent("1", "too_far", "99999999999999999999", "1"),
      R"({"ph":"X","name":"MatMul","pid":1,"dur":1,"args":{"name":"no_ts"}})",
      R"({"ph":"X","name":"MatMul","pid":1,"ts":1,"args":{"name":"no_dur"}})",
  };
  const std::string text = Trace(events);
  const Imported imported = ImportTimeline(events);
  EXPECT_THAT(
      imported.Ops(),
      ElementsAre("float forward CPU:0 [1000125,1000625)", "string forward CPU:0 [2000000,2003000)",
                  "far forward CPU:0 [2000000000000000000,2000000000000007000)",
                  "exponent forward CPU:0 [1000000,1001000)"));
  EXPECT_THAT(Notes(imported.report(), NoteClass::kDropped),
              UnorderedElementsAre(fmt::format("negative_dur x1 @{}", text.find(events[5])),
                                   fmt::format("ts_not_usable x3 @{}", text.find(events[6])),
                                   fmt::format("dur_not_usable x1 @{}", text.find(events[8])),
                                   fmt::format("missing_ts x1 @{}", text.find(events[10])),
                                   fmt::format("missing_dur x1 @{}", text.find(events[11]))));
  EXPECT_THAT(Notes(imported.report(), NoteClass::kRepaired),
              ElementsAre(fmt::format("time_as_string x1 @{}", text.find(events[2]))));
}

TEST(TensorFlowTest, OnlyComputeIsWork) {
  const Imported imported = ImportTimeline({
      ProcessName("1", kCpu),
      ProcessName("2", "/job:localhost/replica:0/task:0/device:CPU:0 Tensors"),
      ProcessName("3", "Allocators"),
      OpEvent("1", "work", "1000", "1"),
      OpEvent("2", "tensor", "1000", "1"),
      OpEvent("3", "memory", "1000", "1"),
      OpEvent("4", "who", "1000", "1"),
      R"({"ph":"X","name":"MatMul","ts":1,"dur":1,"args":{"name":"no_pid"}})",
      R"({"ph":"s","cat":"DataFlow","pid":1,"ts":1000,"id":1})",
      R"({"ph":"O","cat":"Tensor","pid":2,"ts":1000,"id":1})",
      R"({"ph":"C","name":"counter","pid":3,"ts":1000})",
      R"({"name":"no phase"})",
      "17",
  });
  EXPECT_THAT(imported.Names(), ElementsAre("work"));
  EXPECT_EQ(imported.report().events, 13u);
  EXPECT_EQ(CountOf(imported.report(), NoteClass::kDropped), 4u);
  EXPECT_THAT(Notes(imported.report(), NoteClass::kDropped),
              testing::Contains(HasSubstr("process_not_named")));
}

TEST(TensorFlowTest, MetadataMayComeLateAndTwice) {
  const Imported imported = ImportTimeline({
      OpEvent("7", "early", "1000", "1"),
      ProcessName("7", kCpu),
      ProcessName("7", kCpu),
      ProcessName("7", "/device:GPU:9 Compute"),
  });
  EXPECT_THAT(imported.Ops(), ElementsAre("early forward CPU:0 [1000000,1001000)"));
  EXPECT_THAT(Notes(imported.report(), NoteClass::kRepaired),
              UnorderedElementsAre(HasSubstr("process_named_twice x1"),
                                   HasSubstr("process_named_otherwise x1")));
}

TEST(TensorFlowTest, AGpusStreamsAreItsWorkAndItsProcessIsLaunches) {
  const Imported imported = ImportTimeline({
      ProcessName("1", "/job:localhost/replica:0/task:0/device:GPU:0 Compute"),
      ProcessName("2", "/device:GPU:0/stream:7 Compute"),
      ProcessName("3", "/device:GPU:0/stream:all Compute"),
      ProcessName("4", "/device:GPU:0/memcpy Compute"),
      OpEvent("1", "launch", "1000", "1"),
      OpEvent("2", "kernel", "1001", "1"),
      OpEvent("3", "kernel", "1001", "1"),
      OpEvent("4", "copy", "1002", "1"),
  });
  EXPECT_THAT(imported.Ops(), ElementsAre("launch forward CPU:0 [1000000,1001000)",
                                          "kernel forward GPU:0 [1001000,1002000)"));
  EXPECT_EQ(CountOf(imported.report(), NoteClass::kSkipped), 6u);
}

TEST(TensorFlowTest, TasksOfOneFileAreDevicesOfTheirOwn) {
  const Imported imported = ImportTimeline({
      ProcessName("1", "/job:worker/replica:0/task:0/device:CPU:0 Compute"),
      ProcessName("2", "/job:worker/replica:0/task:1/device:CPU:0 Compute"),
      OpEvent("1", "x", "1000", "1"),
      OpEvent("2", "x", "1000", "1"),
  });
  EXPECT_THAT(imported.trace.devices, UnorderedElementsAre("job:worker/replica:0/task:0/CPU:0",
                                                           "job:worker/replica:0/task:1/CPU:0"));
}

TEST(TensorFlowTest, WithoutArgsNameTheEventsNameStands) {
  const Imported imported = ImportTimeline({
      ProcessName("1", kCpu),
      R"({"ph":"X","name":"MatMul","pid":1,"ts":1,"dur":1,"args":{}})",
      R"({"ph":"X","name":"Mul","pid":1,"ts":1,"dur":1})",
      R"({"ph":"X","name":"Add","pid":1,"ts":1,"dur":1,"args":[1,{"name":"no"}]})",
      R"({"ph":"X","pid":1,"ts":1,"dur":1,"args":{"op":"Sub"}})",
  });
  EXPECT_THAT(imported.Names(), ElementsAre("MatMul", "Mul", "Add"));
  EXPECT_THAT(Notes(imported.report(), NoteClass::kDropped), ElementsAre(HasSubstr("no_name x1")));
}

TEST(TensorFlowTest, NamesMayHoldAnyBytes) {
  const Imported imported = ImportTimeline({
      ProcessName("1", kCpu),
      OpEvent("1", "a\\\"b\\\\c\\u00e9/},{/🙂", "1000", "1"),
      OpEvent("1", "bad\xff\xc3\x02/x", "1000", "1"),
  });
  EXPECT_THAT(imported.Names(), ElementsAre("a\"b\\cé/},{/🙂", "bad?? /x"));
  EXPECT_THAT(Notes(imported.report(), NoteClass::kRepaired),
              ElementsAre(HasSubstr("not_utf8 x3")));
}

TEST(TensorFlowTest, OneNameMayHaveTwoTypes) {
  const Imported imported = ImportTimeline({
      ProcessName("1", kCpu),
      OpEvent("1", "x", "1000", "1", "Mul"),
      OpEvent("1", "x", "1001", "1", "Add"),
      OpEvent("1", "x", "1002", "1", "Mul"),
  });
  ASSERT_THAT(imported.trace.ops, SizeIs(3));
  EXPECT_EQ(imported.trace.ops[0].kind, imported.trace.ops[2].kind);
  EXPECT_NE(imported.trace.ops[0].kind, imported.trace.ops[1].kind);
}

TEST(TensorFlowParallelTest, ThreadsDoNotChangeTheResult) {
  // Several chunks, names that are new in each, processes named at the end.
  std::mt19937 random(7);
  std::vector<std::string> events;
  for (int i = 0; i < 20'000; ++i) {
    const auto pid = std::to_string(random() % 3);
    events.push_back(OpEvent(pid, fmt::format("layer_{}/op_{}", i / 1000, random() % 500),
                             std::to_string(1'000'000 + i), std::to_string(random() % 50),
                             random() % 2 == 0 ? "Mul" : "Add"));
  }
  for (int pid = 0; pid < 3; ++pid) {
    events.push_back(
        ProcessName(std::to_string(pid),
                    fmt::format("/job:localhost/replica:0/task:0/device:CPU:{} Compute", pid)));
  }
  const Imported one = ImportTimeline(events, 1);
  ASSERT_THAT(one.trace.ops, SizeIs(20'000));
  const Imported four = ImportTimeline(events, 4);
  EXPECT_EQ(four.Ops(), one.Ops());
  EXPECT_EQ(four.trace.devices, one.trace.devices);
  EXPECT_EQ(Notes(four.report(), NoteClass::kSkipped), Notes(one.report(), NoteClass::kSkipped));
}

TEST(TensorFlowTest, RealTimelinesAddUp) {
  for (int step = 0; step < 3; ++step) {
    const std::string path =
        fmt::format("../shared/data/tensorflow/bert_train_timeline_step{}.json", step);
    auto source = ByteSource::Open(path);
    if (!source) GTEST_SKIP() << "the sample traces are not here: " << source.error().message;
    OpTrace trace;
    auto ok = Import(*source, {}, trace);
    ASSERT_TRUE(ok) << ok.error().message;
    EXPECT_EQ(trace.reports[0].format, "tensorflow-timeline");
    ExpectEventsAddUp(trace.reports[0]);
    EXPECT_EQ(CountOf(trace.reports[0], NoteClass::kDropped), 0u);
    std::vector<uint64_t> by_phase(kPhaseCount);
    for (const Op& op : trace.ops) ++by_phase[static_cast<size_t>(trace.kinds[op.kind].phase)];
    EXPECT_THAT(by_phase, testing::Each(testing::Gt(0u)));
  }
}

}  // namespace
}  // namespace beryl::importers
