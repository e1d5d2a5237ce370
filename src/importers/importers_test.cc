#include "importers/importers.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "importers/import_for_test.h"

namespace beryl::importers {
namespace {

constexpr std::string_view kTimeline = R"({"traceEvents": [
  {"ph":"M","name":"process_name","pid":1,"args":{"name":"/job:localhost/replica:0/task:0/device:CPU:0 Compute"}},
  {"ph":"X","cat":"Op","name":"MatMul","pid":1,"tid":0,"ts":1000,"dur":5,"args":{"name":"a/MatMul","op":"MatMul"}}]})";
constexpr std::string_view kKineto = R"({"schemaVersion": 1, "traceEvents": [
  {"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":1000.5,"dur":5}]})";

std::string FormatOf(std::string_view text) {
  const Imported imported = ImportText(text);
  return imported.error.empty() ? imported.report().format : imported.error;
}

TEST(ImportersTest, RecogniseFormatsByContent) {
  EXPECT_EQ(FormatOf(kTimeline), "tensorflow-timeline");
  EXPECT_EQ(FormatOf(kKineto), "pytorch-kineto");
  EXPECT_EQ(FormatOf(R"({"traceEvents":[],"baseTimeNanoseconds":5})"), "pytorch-kineto");
  EXPECT_EQ(
      FormatOf(R"([{"ph":"X","cat":"Operator","name":"aten::mm","pid":1,"tid":1,"ts":1,"dur":1}])"),
      "pytorch-kineto");
  constexpr std::string_view kLegacy =
      R"([{"name": "ProfilerStep#1", "ph": "X", "ts": 1, "dur": 1, "tid": 1, "pid": "CPU functions"},
          {"name": "aten::mm", "ph": "s", "ts": 1, "tid": 1, "pid": "CPU functions", "id": 0, "cat": "cpu_to_cuda"}])";
  EXPECT_EQ(FormatOf(kLegacy), "pytorch-legacy");
  EXPECT_EQ(FormatOf("\xEF\xBB\xBF" + std::string(kTimeline)), "tensorflow-timeline");
}

TEST(ImportersTest, ATraceWithoutEventsIsRead) {
  for (const char* text : {"[]", R"({"traceEvents":[]})"}) {
    const Imported imported = ImportText(text);
    EXPECT_EQ(imported.error, "");
    EXPECT_THAT(imported.trace.ops, SizeIs(0));
    EXPECT_THAT(imported.trace.steps, SizeIs(0));
  }
}

TEST(ImportersTest, WhatIsNoTraceIsRefusedWithWhatWasExpected) {
  EXPECT_THAT(ImportText("").error, HasSubstr("trace: the file is empty: expected"));
  EXPECT_THAT(ImportText(" \n").error, HasSubstr("trace: the file is empty: expected"));
  EXPECT_THAT(ImportText("{}").error, HasSubstr("not a trace in a known format"));
  EXPECT_THAT(ImportText("null").error, AllOf(HasSubstr("byte 0"), HasSubstr("expected")));
  EXPECT_THAT(ImportText("timestamp_us,device,power_w\n").error, HasSubstr("byte 0"));
  EXPECT_NE(ImportText(R"({"traceEvents":5})").error, "");
}

TEST(ImportersTest, AFormatCanBeNamed) {
  ImportOptions options;
  options.format = "pytorch-kineto";
  EXPECT_EQ(ImportText(kTimeline, options).report().format, "pytorch-kineto");
  options.format = "nonsense";
  EXPECT_THAT(ImportText(kTimeline, options).error,
              AllOf(HasSubstr("'nonsense'"), HasSubstr("tensorflow-timeline")));
}

TEST(ImportersTest, BrokenTextIsAnErrorWithItsByte) {
  std::string text(kKineto);
  const size_t wrong = text.find("\"tid\"");
  text[wrong] = 'x';
  EXPECT_THAT(ImportText(text).error,
              HasSubstr(fmt::format("trace: not valid JSON at byte {}: expected", wrong)));
}

TEST(ImportersTest, ATruncatedFileSaysWhereItBroke) {
  const std::string_view cut = kTimeline.substr(0, kTimeline.size() - 5);
  const Imported imported = ImportText(cut);
  EXPECT_EQ(imported.error, "");
  EXPECT_EQ(imported.report().events, 1u);
  EXPECT_THAT(
      Notes(imported.report(), NoteClass::kDropped),
      ElementsAre(AllOf(StartsWith(fmt::format("file_cut_short byte={} why=expected", cut.size())),
                        HasSubstr(fmt::format("@{}", kTimeline.find("{\"ph\":\"X\""))))));
}

TEST(ImportersTest, SeveralFilesAreStepsOfOneRun) {
  OpTrace trace;
  for (int i = 0; i < 2; ++i) {
    ByteSource source = ByteSource::FromMemory(kTimeline, fmt::format("step{}", i));
    ASSERT_TRUE(Import(source, {}, trace));
  }
  ASSERT_THAT(trace.steps, SizeIs(2));
  ASSERT_THAT(trace.ops, SizeIs(2));
  EXPECT_EQ(trace.ops[0].step, 0u);
  EXPECT_EQ(trace.ops[1].step, 1u);
  EXPECT_EQ(trace.devices, std::vector<std::string>{"CPU:0"});
  EXPECT_EQ(trace.steps[1].start, trace.ops[1].start);
  EXPECT_EQ(trace.steps[1].end, trace.ops[1].end);
  EXPECT_THAT(trace.reports, SizeIs(2));
}

TEST(ImportersTest, EveryFormatIsDescribed) {
  const auto formats = Formats();
  EXPECT_THAT(formats, SizeIs(testing::Ge(2u)));
  for (const FormatDescriptor& format : formats) {
    EXPECT_NE(format.name, "");
    EXPECT_NE(format.what, "");
    EXPECT_NE(format.clock, "");
  }
}

}  // namespace
}  // namespace beryl::importers
