#include "store/store.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <random>

#include <fmt/format.h>

#include "base/matchers_for_test.h"
#include "store/load_for_test.h"
#include "store/ops_block.h"

namespace beryl::store {
namespace {

// A run with something of everything: nested names, two devices, gaps, wraps, notes, dataflow.
StoredRun MakeRun(size_t operations, uint64_t seed = 1) {
  std::mt19937_64 random(seed);
  StoredRun run;
  OpTrace& ops = run.ops;
  ops.clock = "epoch";
  ops.anchors.push_back({Nanos{-5}, Nanos{1'690'000'000'000'000'000}});
  for (int layer = 0; layer < 3; ++layer) {
    const PathId scope = ops.paths.Intern(
        kRootPath, ops.strings.Intern(fmt::format("layer_{}", layer)), PathKind::kModule);
    for (const char* name : {"MatMul", "Add"}) {
      OpKind kind;
      kind.scope = scope;
      kind.op = kind.type = ops.strings.Intern(name);
      kind.path = ops.paths.Intern(scope, kind.op, PathKind::kOperation);
      kind.shapes = ops.strings.Intern("[[2, 3]]");
      if (name[0] == 'M') kind.dtype = ops.strings.Intern("c10::Half");
      kind.phase = static_cast<Phase>(layer);
      ops.kinds.push_back(kind);
    }
  }
  ops.dataflow = {{0, 1}, {1, 2}};
  ops.DeviceNumber("CPU:0");
  ops.DeviceNumber("GPU:0");
  ops.StepNumber("step 1", Nanos{7});
  ops.StepNumber("step 2", Nanos{9});
  ops.steps[1].end = Nanos{500};
  for (size_t i = 0; i < operations; ++i) {
    Op op;
    op.start = Nanos{1'690'000'000'000'000'000 + static_cast<int64_t>(random() % 1'000'000'000)};
    op.end = op.start + Nanos{static_cast<int64_t>(random() % 100'000)};
    op.kind = static_cast<uint32_t>(random() % ops.kinds.size());
    op.device = static_cast<uint16_t>(random() % 2);
    op.lane = op.device == 1 ? kNoLane : static_cast<uint32_t>(random() % 3);
    op.step = random() % 5 == 0 ? kNoStep : static_cast<uint32_t>(random() % 2);
    ops.ops.push_back(op);
  }
  ImportReport report;
  report.file = "trace.json";
  report.format = "tensorflow-timeline";
  report.events = 17;
  report.operations = operations;
  report.tied = 3;
  report.Count(NoteKind::kMetadata, 12, 4);
  ops.reports.push_back(report);
  PowerChannel gauge;
  gauge.name = "CPU:0";
  gauge.scope = ChannelScope::kPackage;
  for (int i = 0; i < 300; ++i) {
    gauge.times.push_back(Nanos{1'690'000'000'000'000'000 + i * 4'000'000});
    gauge.values.push_back(40.0 + static_cast<double>(random() % 1000) / 7);
  }
  PowerChannel counter = gauge;
  counter.name = "GPU:0";
  counter.scope = ChannelScope::kGpu;
  counter.kind = ChannelKind::kEnergyCounter;
  for (size_t i = 1; i < counter.values.size(); ++i) counter.values[i] += counter.values[i - 1];
  counter.gaps = {{3, GapReason::kCounterWentDown}, {250, GapReason::kNotTold}};
  counter.wraps = 2;
  run.power.channels = {gauge, counter};
  run.power.report.file = "power.csv";
  run.context.ops_files = {"trace.json"};
  run.context.power_files = {"power.csv"};
  run.notes = {{NoteKind::kPartlyKnown, "CPU:0", {1.5, 10, NoteValue(), GapReason::kNotRead}}};
  run.notes[0].source = "power.csv";
  run.notes[0].count = 3;
  run.notes[0].first = "line 7";
  return run;
}

std::string Saved(const StoredRun& run) {
  const std::string path =
      std::filesystem::temp_directory_path() / fmt::format("beryl-store-{}.beryl", ::getpid());
  {
    auto file = GrowingFile::Open(path);
    EXPECT_TRUE(file);
    EXPECT_TRUE(Save(run, *file));
  }
  std::string bytes = BytesOfFile(path);
  std::filesystem::remove(path);
  return bytes;
}

std::string TextOf(const OpTrace& trace, const Op& op) {
  const OpKind& kind = trace.kinds[op.kind];
  return fmt::format("{} {} {} {} {} {} {} {} {}", op.start.value, op.end.value,
                     trace.QualifiedName(kind), trace.strings.Text(kind.shapes),
                     trace.strings.Text(kind.dtype), PhaseName(kind.phase),
                     trace.devices[op.device], op.lane == kNoLane ? "-" : std::to_string(op.lane),
                     op.step == kNoStep ? "-" : trace.steps[op.step].name);
}

// All operations as text, in order of start.
std::vector<std::string> Texts(const OpTrace& trace) {
  std::vector<Op> ops;
  EXPECT_EQ(trace.ForEachSpan(
                [&](std::span<const Op> some) { ops.insert(ops.end(), some.begin(), some.end()); }),
            0U);
  std::stable_sort(ops.begin(), ops.end(),
                   [](const Op& a, const Op& b) { return a.start < b.start; });
  std::vector<std::string> texts;
  for (const Op& op : ops) texts.push_back(TextOf(trace, op));
  return texts;
}

TEST(StoreTest, ARunComesBackAsItWas) {
  const StoredRun run = MakeRun(50'000);
  const StoredRun loaded = Loaded(Saved(run));
  EXPECT_EQ(Texts(loaded.ops), Texts(run.ops));
  EXPECT_EQ(loaded.ops.dataflow, run.ops.dataflow);
  EXPECT_EQ(loaded.ops.steps[1].end, Nanos{500});
  EXPECT_EQ(loaded.ops.anchors.front().epoch, run.ops.anchors.front().epoch);
  ASSERT_EQ(loaded.power.channels.size(), 2U);
  EXPECT_EQ(loaded.power.channels[1].times, run.power.channels[1].times);
  EXPECT_EQ(loaded.power.channels[1].values, run.power.channels[1].values);
  EXPECT_EQ(loaded.power.channels[1].gaps, run.power.channels[1].gaps);
  EXPECT_EQ(loaded.power.channels[1].kind, ChannelKind::kEnergyCounter);
  EXPECT_EQ(loaded.power.channels[1].wraps, 2U);
  ASSERT_EQ(loaded.ops.reports.size(), 1U);
  EXPECT_EQ(loaded.ops.reports[0].tied, 3U);
  EXPECT_EQ(loaded.ops.reports[0].notes, run.ops.reports[0].notes);
  EXPECT_THAT(loaded.context.ops_files, ElementsAre("trace.json"));
  EXPECT_EQ(loaded.notes, run.notes) << "kind, subject, values, count and place";
}

// The checksums of such a file are right: somebody made it, or a meter was broken.
TEST(StoreTest, ReadingsThatNoMeterGivesAreDamage) {
  const auto spoil = [](size_t channel, size_t reading, double value) {
    StoredRun run = MakeRun(10);
    run.power.channels[channel].values[reading] = value;
    return Loaded(Saved(run));
  };
  for (const auto& [channel, value] : std::vector<std::pair<size_t, double>>{
           {0, -8e136}, {0, 1e302}, {0, 2e9}, {1, -8e136}, {1, 1e302}, {1, 1e17}, {1, 0}}) {
    const StoredRun run = spoil(channel, 100, value);
    EXPECT_THAT(run.power.channels, SizeIs(channel)) << value;
    ASSERT_FALSE(run.ops.reports.empty());
    EXPECT_EQ(run.ops.reports.back().notes.at(0).kind, NoteKind::kRunFileBlockNotRead) << value;
  }
  // A gauge may well read nothing, and a counter may start anywhere behind a gap.
  EXPECT_THAT(spoil(0, 100, 0).power.channels, SizeIs(2));
}

TEST(StoreTest, AGlanceKnowsWhatTheOperationsAre) {
  const StoredRun run = MakeRun(40'000);
  const OpGlance glance = Loaded(Saved(run)).ops.Glance();
  const OpGlance expected = run.ops.Glance();
  ASSERT_EQ(glance.devices.size(), 2U);
  for (size_t device = 0; device < 2; ++device) {
    EXPECT_EQ(glance.devices[device].count, expected.devices[device].count);
    EXPECT_EQ(glance.devices[device].start, expected.devices[device].start);
    EXPECT_EQ(glance.devices[device].end, expected.devices[device].end);
  }
}

TEST(StoreTest, ARunWithoutOperationsComesBack) {
  const StoredRun loaded = Loaded(Saved(MakeRun(0)));
  EXPECT_EQ(loaded.ops.Glance().All().count, 0U);
  EXPECT_EQ(loaded.power.channels.size(), 2U);
}

TEST(StoreTest, CutAnywhereTheWholeBlocksBeforeAreThere) {
  const StoredRun run = MakeRun(3 * kOpsInBlock);
  const std::string bytes = Saved(run);
  const std::vector<std::string> all = Texts(run.ops);
  size_t most = 0;
  for (size_t cut = 16; cut < bytes.size(); cut += bytes.size() / 23) {
    const std::string part = bytes.substr(0, cut);
    const StoredRun loaded = Loaded(part);
    const std::vector<std::string> texts = Texts(loaded.ops);
    EXPECT_EQ(texts.size() % kOpsInBlock, 0U);
    EXPECT_TRUE(std::equal(texts.begin(), texts.end(), all.begin()));
    most = std::max(most, texts.size());
    const ImportReport& report = loaded.ops.reports.back();
    EXPECT_EQ(report.format, "beryl-run");
    ASSERT_FALSE(report.notes.empty());
    EXPECT_THAT(PlainText(report.notes[0]), HasSubstr("run_file_"));
    EXPECT_LE(report.notes[0].first_byte, cut);
  }
  EXPECT_EQ(most, 2 * kOpsInBlock);
}

TEST(StoreTest, AnyByteThatChangesIsNoticed) {
  const StoredRun run = MakeRun(500);
  const std::string bytes = Saved(run);
  for (size_t at = 16; at < bytes.size(); at += 3) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x41);
    const StoredRun loaded = Loaded(damaged);
    ASSERT_FALSE(loaded.ops.reports.empty());
    // Bytes of a header that nobody reads may change.
    if (loaded.ops.reports.back().format != "beryl-run") {
      EXPECT_EQ(Texts(loaded.ops), Texts(run.ops)) << at;
    }
  }
}

TEST(StoreTest, OtherFilesAreRefused) {
  StoredRun run;
  auto source = ByteSource::FromMemory("{\"traceEvents\": []}", "trace.json");
  auto ok = Load(source, {}, run);
  ASSERT_FALSE(ok);
  EXPECT_THAT(ok.error().message, HasSubstr("trace.json: not a run file; beryl import writes one"));
}

TEST(StoreTest, AFileOfALaterVersionIsRefused) {
  std::string bytes = Saved(MakeRun(1));
  bytes[8] = 9;
  StoredRun run;
  auto source = ByteSource::FromMemory(bytes, "run.beryl");
  auto ok = Load(source, {}, run);
  ASSERT_FALSE(ok);
  EXPECT_THAT(ok.error().message, HasSubstr("version 9, written by a later beryl"));
}

TEST(StoreTest, SeveralFilesAreTheRanksOfOneRun) {
  const std::string first = Saved(MakeRun(1000, 1));
  const std::string second = Saved(MakeRun(1000, 2));
  StoredRun run;
  for (const auto& [bytes, name] : {std::pair(&first, "r0"), std::pair(&second, "r1")}) {
    auto source = ByteSource::FromMemory(*bytes, name);
    LoadOptions options;
    options.rank = options.machine = name;
    ASSERT_TRUE(Load(source, options, run));
  }
  EXPECT_THAT(run.ops.ranks, ElementsAre("r0", "r1"));
  EXPECT_THAT(run.ops.devices, ElementsAre("r0/CPU:0", "r0/GPU:0", "r1/CPU:0", "r1/GPU:0"));
  EXPECT_EQ(run.power.channels[3].name, "r1/GPU:0");
  EXPECT_EQ(run.ops.ops.size(), 2000U);
  EXPECT_EQ(run.ops.steps.size(), 2U) << "ranks go through the same steps";
  EXPECT_EQ(run.ops.kinds[run.ops.ops.back().kind].rank, 1);
  for (size_t i = 0; i < 1000; ++i) {
    const uint32_t first_lane = run.ops.ops[i].lane;
    const uint32_t second_lane = run.ops.ops[1000 + i].lane;
    EXPECT_TRUE(first_lane == kNoLane || first_lane < 3);
    EXPECT_TRUE(second_lane == kNoLane || second_lane >= 3);
  }
}

TEST(StoreTest, TimesAtTheEndsOfTheRangeSurvive) {
  StoredRun run = MakeRun(2);
  run.ops.ops[0].start = Nanos{-kFarthestTime};
  run.ops.ops[0].end = Nanos{-kFarthestTime + 1};
  run.ops.ops[1].start = run.ops.ops[1].end = Nanos{kFarthestTime};
  EXPECT_EQ(Texts(Loaded(Saved(run)).ops), Texts(run.ops));
}

TEST(StoreTest, ABlockThatLiesAboutItsTimesIsNotUnpacked) {
  StoredRun run = MakeRun(100);
  std::sort(run.ops.ops.begin(), run.ops.ops.end(),
            [](const Op& a, const Op& b) { return a.start < b.start; });
  auto numbers = std::make_shared<OpNumbers>();
  numbers->kinds = 1;  // there are more in the block
  numbers->devices = {0, 1};
  numbers->steps = {0, 1};
  RunFileOps packed;
  ASSERT_TRUE(packed.Add(EncodeOps(run.ops.ops), numbers));
  std::vector<Op> ops;
  EXPECT_FALSE(packed.Unpack(0, ops));
  EXPECT_THAT(ops, IsEmpty());
  numbers->kinds = 6;
  EXPECT_TRUE(packed.Unpack(0, ops));
  EXPECT_EQ(ops.size(), 100U);
  EXPECT_FALSE(packed.Add(EncodeOps(run.ops.ops), numbers)) << "goes back in time";
}

}  // namespace
}  // namespace beryl::store
