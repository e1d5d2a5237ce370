#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/wire_for_test.h"
#include "importers/import_for_test.h"

namespace beryl::importers {
namespace {

constexpr int64_t kStart = 1'700'000'000'000'000'000;

// A stat: the number of its name, and a value.
std::string Number(int64_t id, int64_t value) { return WireNumber(1, id) + WireNumber(4, value); }
std::string Text(int64_t id, std::string_view text) {
  return WireNumber(1, id) + WireBytes(5, text);
}
std::string Reference(int64_t id, int64_t to) { return WireNumber(1, id) + WireNumber(7, to); }

// Times in nanoseconds.
std::string Event(int64_t name, int64_t start, int64_t duration,
                  const std::vector<std::string>& stats = {}) {
  std::string event =
      WireNumber(1, name) + WireNumber(2, start * 1000) + WireNumber(3, duration * 1000);
  for (const std::string& stat : stats) event += WireBytes(4, stat);
  return WireBytes(4, event);
}

std::string Line(std::string_view name, const std::string& events, int64_t thread = 1,
                 int64_t timestamp_ns = 0) {
  return WireBytes(
      3, WireNumber(1, thread) + WireBytes(2, name) + WireNumber(3, timestamp_ns) + events);
}

std::string EventName(int64_t id, std::string_view name, std::string_view display = "",
                      const std::vector<std::string>& stats = {}) {
  std::string message = WireNumber(1, id) + WireBytes(2, name);
  if (!display.empty()) message += WireBytes(4, display);
  for (const std::string& stat : stats) message += WireBytes(5, stat);
  return WireBytes(4, WireNumber(1, id) + WireBytes(2, message));
}

std::string StatName(int64_t id, std::string_view name) {
  return WireBytes(5, WireNumber(1, id) + WireBytes(2, WireNumber(1, id) + WireBytes(2, name)));
}

std::string Plane(std::string_view name, const std::string& content) {
  return WireBytes(1, WireBytes(2, name) + content);
}

std::string Environment(int64_t start = kStart) {
  return Plane("Task Environment", StatName(1, "profile_start_time") +
                                       WireBytes(6, WireNumber(1, 1) + WireNumber(3, start)));
}

TEST(XPlaneTest, AnOperationHasItsNameTimesAndPlace) {
  const std::string space =
      Plane("/host:CPU",
            Line("tf_Compute/1", Event(1, 100, 50) + Event(2, 200, 10), 1, 1000) +
                EventName(1, "StatefulPartitionedCall/net/dense/MatMul:MatMul", "MatMul") +
                EventName(2, "ExecutorState::Process")) +
      Environment();
  const Imported imported = ImportText(space);
  ASSERT_EQ(imported.error, "");
  EXPECT_EQ(imported.report().format, "xplane");
  EXPECT_THAT(imported.Ops(), ElementsAre(fmt::format("net/dense/MatMul forward CPU:0 [{},{})",
                                                      kStart + 1100, kStart + 1150)));
  EXPECT_EQ(imported.trace.strings.Text(imported.kind(imported.trace.ops[0]).type), "MatMul");
  EXPECT_EQ(imported.trace.clock, "epoch");
  EXPECT_THAT(Notes(imported.report(), NoteClass::kSkipped),
              ElementsAre(HasSubstr("runtime_work x1")));
}

TEST(XPlaneTest, PicosecondsAreRoundedSoThatNestingStays) {
  std::string event = WireNumber(1, 1) + WireNumber(2, 1999) + WireNumber(3, 1500);
  const Imported imported = ImportText(
      Plane("/host:CPU", Line("a", WireBytes(4, event)) + EventName(1, "a:A")) + Environment(0));
  EXPECT_THAT(imported.Ops(), ElementsAre("a forward CPU:0 [1,3)"));
}

TEST(XPlaneTest, ThreadsAreLanesWithTheOuterOperationFirst) {
  const std::string names = EventName(1, "outer:A") + EventName(2, "inner:B");
  const Imported imported = ImportText(
      Plane("/host:CPU", Line("t1", Event(2, 10, 5) + Event(1, 0, 100) + Event(2, 0, 10), 1) +
                             Line("t2", Event(2, 0, 10), 2) + names));
  EXPECT_THAT(imported.Names(), ElementsAre("outer", "inner", "inner", "inner"));
  const auto& ops = imported.trace.ops;
  EXPECT_EQ(ops[0].lane, ops[1].lane);
  EXPECT_EQ(ops[0].lane, ops[2].lane);
  EXPECT_NE(ops[0].lane, ops[3].lane);
  EXPECT_EQ(imported.trace.clock, "the start of the profile");
}

TEST(XPlaneTest, LanesOfSeveralFilesDoNotMeet) {
  const std::string space =
      Plane("/host:CPU", Line("t1", Event(1, 0, 10)) + EventName(1, "a:A")) + Environment();
  OpTrace trace;
  for (int i = 0; i < 2; ++i) {
    ByteSource source = ByteSource::FromMemory(space, "file");
    ASSERT_TRUE(Import(source, {}, trace));
  }
  ASSERT_THAT(trace.ops, SizeIs(2));
  EXPECT_NE(trace.ops[0].lane, trace.ops[1].lane);
}

TEST(XPlaneTest, NamesAreNumberedByPlane) {
  const Imported imported =
      ImportText(Plane("/host:CPU", Line("t", Event(1, 0, 10)) + EventName(1, "host:A")) +
                 Plane("/device:GPU:0", Line("Stream #1", Event(1, 5, 10, {Text(1, "host:A")})) +
                                            EventName(1, "kernel") + StatName(1, "tf_op")));
  EXPECT_THAT(imported.Ops(),
              ElementsAre("host forward CPU:0 [0,10)", "host forward GPU:0 [5,15)"));
  EXPECT_EQ(imported.trace.PathText(imported.kind(imported.trace.ops[1]).path), "host/kernel");
}

TEST(XPlaneTest, NumbersOfNamesMayBeAnything) {
  const int64_t big = int64_t{7} << 40;
  const Imported imported =
      ImportText(Plane("/host:CPU", Line("t", Event(big, 0, 10) + Event(-5, 20, 10)) +
                                        EventName(big, "a:A") + EventName(-5, "b:B")));
  EXPECT_THAT(imported.Names(), ElementsAre("a", "b"));
}

TEST(XPlaneTest, NamesMayComeBeforeTheEvents) {
  const Imported imported =
      ImportText(Plane("/host:CPU", EventName(1, "a:A") + Line("t", Event(1, 0, 10))));
  EXPECT_THAT(imported.Names(), ElementsAre("a"));
}

TEST(XPlaneTest, StatsAreTextsOrReferences) {
  const std::string stats = StatName(1, "hlo_op") + StatName(2, "hlo_module") +
                            StatName(3, "dot.1") + StatName(4, "jit_f");
  const Imported imported = ImportText(
      Plane("/host:CPU", Line("t", Event(1, 0, 10, {Reference(1, 3), Reference(2, 4)}) +
                                       Event(1, 20, 10, {Text(1, "dot.2"), Text(2, "jit_g")})) +
                             EventName(1, "dot") + stats));
  EXPECT_THAT(imported.Names(), ElementsAre("jit_f/dot.1", "jit_g/dot.2"));
  EXPECT_EQ(imported.trace.strings.Text(imported.kind(imported.trace.ops[0]).type), "dot");
}

TEST(XPlaneTest, EagerOperationsAreThoseThatCallNoFunction) {
  const Imported imported = ImportText(
      Plane("/host:CPU",
            Line("python", Event(1, 0, 10, {Text(1, "MatMul"), Number(2, 0)}) +
                               Event(1, 20, 10, {Text(1, "__inference_f_3"), Number(2, 1)}) +
                               Event(1, 40, 10, {Text(1, "ReluGrad"), Number(2, 0)}) +
                               Event(1, 60, 10, {Text(1, "PrefetchDataset"), Number(2, 0)})) +
                EventName(1, "EagerExecute") + StatName(1, "eager_op") + StatName(2, "is_func")));
  EXPECT_THAT(imported.Ops(),
              ElementsAre("MatMul forward CPU:0 [0,10)", "ReluGrad backward CPU:0 [40,50)"));
}

TEST(XPlaneTest, StepsAreMarkedOnTheHost) {
  const Imported imported = ImportText(
      Plane("/host:CPU",
            Line("python", Event(1, 0, 100, {Number(1, 4)}) + Event(3, 10, 50, {Number(1, 9)}) +
                               Event(1, 100, 100, {Number(1, 5)})) +
                Line("t", Event(2, 20, 10) + Event(2, 110, 10) + Event(2, 500, 10), 2) +
                EventName(1, "train") + EventName(2, "a:A") + EventName(3, "inside") +
                StatName(1, "step_num")));
  ASSERT_THAT(imported.trace.steps, SizeIs(2));
  EXPECT_EQ(imported.trace.steps[0].name, "train 4");
  EXPECT_EQ(imported.trace.steps[1].end, Nanos{200});
  EXPECT_EQ(imported.trace.ops[0].step, 0u);
  EXPECT_EQ(imported.trace.ops[1].step, 1u);
  EXPECT_EQ(imported.trace.ops[2].step, kNoStep);
}

TEST(XPlaneTest, TheHostIsTheRankUnlessOneIsGiven) {
  const std::string space = Plane("/host:CPU", Line("t", Event(1, 0, 10)) + EventName(1, "a:A")) +
                            WireBytes(4, "worker-3");
  EXPECT_EQ(ImportText(space).report().rank, "worker-3");
  EXPECT_EQ(ImportText(space).trace.ranks, std::vector<std::string>{"worker-3"});
  ImportOptions options;
  options.rank = "7";
  EXPECT_EQ(ImportText(space, options).report().rank, "7");
  OpTrace trace;
  for (const char* rank : {"0", "1"}) {
    options.rank = rank;
    ByteSource source = ByteSource::FromMemory(space, "file");
    ASSERT_TRUE(Import(source, options, trace));
  }
  EXPECT_EQ(trace.ranks, (std::vector<std::string>{"0", "1"}));
  EXPECT_EQ(trace.kinds[trace.ops[0].kind].rank, 0);
  EXPECT_EQ(trace.kinds[trace.ops[1].kind].rank, 1);
}

TEST(XPlaneTest, ALinesTimesMayCountFromTheEpoch) {
  const Imported imported =
      ImportText(Plane("/host:CPU", Line("t", Event(1, 5, 10), 1, kStart + 100) +
                                        Line("u", Event(1, 5, 10), 2, 200) + EventName(1, "a:A")) +
                 Environment());
  EXPECT_EQ(imported.trace.ops[0].start.value, kStart + 105);
  EXPECT_EQ(imported.trace.ops[1].start.value, kStart + 205);
}

TEST(XPlaneTest, StreamsOfAGpuHaveLanesOnlyWhereTheyNest) {
  const std::string names = EventName(1, "kernel");
  const Imported flat = ImportText(
      Plane("/device:GPU:1", Line("Stream #1", Event(1, 0, 10) + Event(1, 8, 10)) + names));
  EXPECT_EQ(flat.trace.ops[0].lane, kNoLane);
  EXPECT_EQ(flat.trace.ops[1].lane, kNoLane);
  EXPECT_EQ(flat.trace.devices, std::vector<std::string>{"GPU:1"});
  const Imported nested = ImportText(
      Plane("/device:GPU:1", Line("Stream #1", Event(1, 0, 10) + Event(1, 2, 5)) + names));
  EXPECT_NE(nested.trace.ops[0].lane, kNoLane);
  EXPECT_EQ(nested.trace.ops[0].lane, nested.trace.ops[1].lane);
  EXPECT_EQ(flat.report().device_events, 2u);
  EXPECT_EQ(flat.report().tied, 0u);
  EXPECT_THAT(Notes(flat.report(), NoteClass::kRepaired),
              ElementsAre(HasSubstr("device_event_not_tied x2")));
}

TEST(XPlaneTest, CoarseLinesCountWhereThereAreNoFinerOnes) {
  const std::string names = EventName(1, "what");
  auto ops = [&](const std::string& lines) {
    return ImportText(Plane("/device:TPU:0", lines + names)).trace.ops.size();
  };
  const std::string two = Event(1, 0, 10) + Event(1, 20, 10);
  const std::string modules = Line("XLA Modules", Event(1, 0, 30));
  EXPECT_EQ(ops(modules), 1u);
  EXPECT_EQ(ops(modules + Line("Framework Ops", two)), 2u);
  EXPECT_EQ(ops(modules + Line("XLA Ops", two) + Line("XLA TraceMe", two)), 2u);
  EXPECT_EQ(ops(modules + Line("XLA Ops", "") + Line("Framework Name Scope", two)), 1u);
  EXPECT_EQ(ops(Line("Steps", two)), 0u);
}

TEST(XPlaneTest, BadEventsAreCountedAndLocated) {
  std::string sum = WireNumber(1, 1) + WireNumber(5, 3);
  std::string negative = WireNumber(1, 1) + WireNumber(2, 0) + WireNumber(3, -1);
  std::string far = WireNumber(1, 1) + WireNumber(2, INT64_MAX) + WireNumber(3, 10);
  std::string wrong_kind = WireBytes(1, "x") + WireBytes(2, "y");
  const Imported imported = ImportText(Plane(
      "/host:CPU",
      Line("t", WireBytes(4, sum) + WireBytes(4, negative) + WireBytes(4, far) +
                    WireBytes(4, wrong_kind) + Event(9, 0, 1) + WireNumber(4, 5) + Event(1, 0, 1)) +
          EventName(1, "a:A")));
  EXPECT_THAT(imported.Names(), ElementsAre("a"));
  EXPECT_THAT(Notes(imported.report(), NoteClass::kDropped),
              ElementsAre(HasSubstr("negative_duration x1"), HasSubstr("time_out_of_range x1"),
                          HasSubstr("event_name_not_in_file x2")));
  EXPECT_THAT(Notes(imported.report(), NoteClass::kSkipped),
              ElementsAre(HasSubstr("sum_of_events x1")));
}

TEST(XPlaneTest, ABrokenLineCostsItselfOnly) {
  const std::string broken =
      WireBytes(3, WireNumber(1, 1) + Event(1, 0, 5) + WireTag(4, 2) + WireVarint(1'000'000) + "x");
  const Imported imported =
      ImportText(Plane("/host:CPU", broken + Line("t", Event(1, 20, 5), 2) + EventName(1, "a:A")));
  EXPECT_THAT(imported.Ops(), ElementsAre("a forward CPU:0 [0,5)", "a forward CPU:0 [20,25)"));
  EXPECT_THAT(Notes(imported.report(), NoteClass::kRepaired),
              ElementsAre(HasSubstr("message_broken a field that leads out of its message x1")));
}

TEST(XPlaneTest, AStartTimeOutOfRangeIsNotUsed) {
  const Imported imported = ImportText(
      Plane("/host:CPU", Line("t", Event(1, 0, 10)) + EventName(1, "a:A")) + Environment(-1));
  EXPECT_EQ(imported.trace.ops[0].start.value, 0);
  EXPECT_THAT(Notes(imported.report(), NoteClass::kRepaired),
              ElementsAre(HasSubstr("start_time_not_used")));
}

TEST(XPlaneTest, OtherBytesAreNotTakenForOne) {
  EXPECT_THAT(ImportText("\n{\"a\": 5}").error, HasSubstr("not a trace in a known format"));
  EXPECT_THAT(ImportText("\n\x05hello").error, HasSubstr("not JSON at byte 1"));
  EXPECT_THAT(ImportText("timestamp_us,device\n").error, HasSubstr("not JSON at byte 0"));
  EXPECT_THAT(ImportText(WireBytes(1, WireBytes(9, "x"))).error, HasSubstr("not JSON"));
  EXPECT_THAT(ImportText(std::string(1000, '\xFF')).error, HasSubstr("not JSON at byte 0"));
  EXPECT_THAT(ImportText(std::string("\x7f"
                                     "ELF\x02\x01\x01\0\0\0",
                                     10))
                  .error,
              HasSubstr("not JSON"));
  // A JSON trace that starts with an empty line.
  EXPECT_EQ(ImportText("\n{\"traceEvents\":[]}").error, "");
}

// Whatever is cut off, the rest is read, and what is missing is said.
TEST(XPlaneTest, AFileMayBeCutAnywhere) {
  namespace fs = std::filesystem;
  int files = 0;
  for (const char* name : {"host", "programs", "gpu", "tpu"}) {
    const fs::path path =
        fs::path("tests/golden") / fmt::format("xplane-{}", name) / "ops.xplane.pb";
    auto source = ByteSource::Open(path);
    ASSERT_TRUE(source) << source.error().message;
    const auto bytes = ReadAll(*source, 1 << 20);
    ASSERT_TRUE(bytes);
    ++files;
    ImportOptions options;
    options.format = "xplane";
    const size_t whole = ImportText(*bytes, options).trace.ops.size();
    EXPECT_GT(whole, 0u);
    for (size_t size = 0; size < bytes->size(); size += 3) {
      const Imported imported = ImportText(std::string_view(*bytes).substr(0, size), options);
      // The first bytes of a file do not show its format.
      if (imported.error.ends_with("no operation was found")) continue;
      EXPECT_EQ(imported.error, "");
      EXPECT_LE(imported.trace.ops.size(), whole);
      if (imported.trace.ops.size() < whole && size > 0) {
        const auto dropped = Notes(imported.report(), NoteClass::kDropped);
        // Between two planes nothing shows that there was more.
        const bool told = !dropped.empty() && dropped.front().starts_with("file_cut_short");
        EXPECT_TRUE(told || dropped.empty()) << size;
      }
    }
  }
  EXPECT_EQ(files, 4);
}

TEST(XPlaneTest, RealTrainingIsReadInFull) {
  const std::string path = "../shared/data/tensorflow/keras_lstm_tf2.21.xplane.pb";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not there";
  auto source = ByteSource::Open(path);
  ASSERT_TRUE(source);
  OpTrace trace;
  ASSERT_TRUE(Import(*source, {}, trace));
  const ImportReport& report = trace.reports.back();
  ExpectEventsAddUp(report);
  EXPECT_EQ(report.events, 21934u);
  // 3447 of the graph, 19 eager ones.
  EXPECT_EQ(report.operations, 3466u);
  EXPECT_EQ(CountOf(report, NoteClass::kDropped), 0u);
  EXPECT_GT(trace.ops.front().start.value, 1'794'794'174'000'000'000);
  std::vector<int> phases(kPhaseCount);
  for (const Op& op : trace.ops) ++phases[static_cast<size_t>(trace.kinds[op.kind].phase)];
  for (const int count : phases) EXPECT_GT(count, 100);
}

}  // namespace
}  // namespace beryl::importers
