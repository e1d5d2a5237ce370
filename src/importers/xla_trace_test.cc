#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "importers/import_for_test.h"

namespace beryl::importers {
namespace {

constexpr std::string_view kHost =
    R"({"ph":"M","pid":701,"name":"process_name","args":{"name":"/host:CPU"}})";
constexpr std::string_view kGpu =
    R"({"ph":"M","pid":1,"name":"process_name","args":{"name":"/device:GPU:0"}},)"
    R"({"ph":"M","pid":1,"tid":14,"name":"thread_name","args":{"name":"Stream #14"}},)"
    R"({"ph":"M","pid":1,"tid":90,"name":"thread_name","args":{"name":"XLA Ops"}})";

Imported ImportEvents(std::string_view events, ImportOptions options = {}) {
  Imported imported = ImportText(
      fmt::format(R"({{"displayTimeUnit":"ns","traceEvents":[{},{}]}})", kHost, events), options);
  EXPECT_EQ(imported.error, "");
  if (imported.error.empty()) {
    EXPECT_EQ(imported.report().format, "xla-trace");
  }
  return imported;
}

TEST(XlaTraceTest, InstructionsAndOperationsAreReadMachineryIsNot) {
  const Imported imported = ImportEvents(
      R"({"ph":"X","pid":701,"tid":1,"ts":0.5,"dur":2.25,"name":"dot.1","args":{"hlo_op":"dot.1","hlo_module":"jit_f"}},)"
      R"({"ph":"X","pid":701,"tid":1,"ts":3,"dur":1,"name":"MatMul","args":{"long_name":"gradient_tape/net/MatMul:MatMul"}},)"
      R"({"ph":"X","pid":701,"tid":1,"ts":5,"dur":1,"name":"end: dot.1"},)"
      R"({"ph":"X","pid":701,"tid":1,"ts":5,"dur":1,"name":"Prefetch","args":{"long_name":"Iterator::Root::Prefetch"}},)"
      R"({})");
  EXPECT_THAT(imported.Ops(), ElementsAre("jit_f/dot.1 forward CPU:0 [500,2750)",
                                          "gradient_tape/net/MatMul backward CPU:0 [3000,4000)"));
  EXPECT_EQ(imported.trace.clock, "the start of the profile");
  EXPECT_EQ(CountOf(imported.report(), NoteClass::kDropped), 0u);
}

TEST(XlaTraceTest, NamesMayComeAfterTheEvents) {
  const Imported imported = ImportEvents(
      R"({"ph":"X","pid":1,"tid":90,"ts":0,"dur":9,"name":"fusion"},)"
      R"({"ph":"X","pid":1,"tid":14,"ts":0,"dur":9,"name":"k","args":{"tf_op":"a/Mul:Mul"}},)" +
      std::string(kGpu));
  EXPECT_THAT(imported.Ops(), ElementsAre("a/Mul forward GPU:0 [0,9000)"));
  EXPECT_EQ(imported.report().device_events, 1u);
  EXPECT_EQ(imported.report().tied, 1u);
}

TEST(XlaTraceTest, StepsAreEventsWithANumber) {
  const Imported imported = ImportEvents(
      R"({"ph":"X","pid":701,"tid":2,"ts":0,"dur":10,"name":"train","args":{"step_num":"0"}},)"
      R"({"ph":"X","pid":701,"tid":2,"ts":10,"dur":10,"name":"train","args":{"step_num":"1"}},)"
      R"({"ph":"X","pid":701,"tid":1,"ts":12,"dur":2,"name":"a","args":{"hlo_op":"a","hlo_module":"m"}},)"
      R"({"ph":"X","pid":701,"tid":1,"ts":25,"dur":2,"name":"b","args":{"hlo_op":"b","hlo_module":"m","group_id":"7"}})");
  ASSERT_THAT(imported.trace.steps, SizeIs(2));
  EXPECT_EQ(imported.trace.ops[0].step, 1u);
  EXPECT_EQ(imported.trace.ops[1].step, kNoStep);
}

TEST(XlaTraceTest, AGroupSaysTheStepWhateverTheTime) {
  const Imported imported = ImportEvents(
      R"({"ph":"X","pid":701,"tid":2,"ts":0,"dur":10,"name":"train","args":{"step_num":"0","group_id":"3"}},)"
      R"({"ph":"X","pid":701,"tid":2,"ts":10,"dur":10,"name":"train","args":{"step_num":"1","group_id":"4"}},)"
      R"({"ph":"X","pid":1,"tid":14,"ts":12,"dur":2,"name":"k","args":{"tf_op":"a/Mul:Mul","group_id":"3"}},)" +
      std::string(kGpu));
  ASSERT_THAT(imported.trace.ops, SizeIs(1));
  EXPECT_EQ(imported.trace.ops[0].step, 0u);
}

TEST(XlaTraceTest, BadEventsAreCounted) {
  const Imported imported =
      ImportEvents(R"({"ph":"X","pid":5,"tid":1,"ts":0,"dur":1,"name":"a","args":{"hlo_op":"a"}},)"
                   R"({"ph":"X","pid":701,"tid":1,"dur":1,"name":"a","args":{"hlo_op":"a"}},)"
                   R"({"ph":"X","pid":701,"tid":1,"ts":0,"dur":1},)"
                   R"({"pid":701,"tid":1,"ts":0,"dur":1,"name":"a"}, 5)");
  EXPECT_THAT(imported.trace.ops, SizeIs(0));
  EXPECT_EQ(CountOf(imported.report(), NoteClass::kDropped), 5u);
}

TEST(XlaTraceTest, ATimelineIsStillATimeline) {
  const Imported imported = ImportText(R"({"traceEvents": [
    {"ph":"M","name":"process_name","pid":1,"args":{"name":"/host:CPU Compute"}},
    {"ph":"M","name":"process_name","pid":2,"args":{"name":"/device:GPU:0/stream:all Compute"}}]})");
  EXPECT_EQ(imported.report().format, "tensorflow-timeline");
}

TEST(XlaTraceParallelTest, ReadingChangesNothing) {
  std::string events;
  for (int i = 0; i < 20'000; ++i) {
    events += fmt::format(
        R"({{"ph":"X","pid":{},"tid":{},"ts":{},"dur":1,"name":"op.{}","args":{{"hlo_op":"op.{}","hlo_module":"m{}"}}}},)",
        i % 3 == 0 ? 1 : 701, i % 3 == 0 ? 14 : i % 5, i * 2, i % 97, i % 97, i % 2);
  }
  events += kGpu;
  const Imported one = ImportEvents(events);
  ImportOptions options;
  options.threads = 4;
  const Imported four = ImportEvents(events, options);
  ASSERT_THAT(one.trace.ops, SizeIs(20'000));
  EXPECT_EQ(one.Ops(), four.Ops());
}

}  // namespace
}  // namespace beryl::importers
