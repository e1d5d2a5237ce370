// The formats of other tools add up to the energy, whatever the names are. tests/exports/run.py
// opens them with the tools.
#include <bit>
#include <functional>

#include "base/crc32c.h"
#include "base/file.h"
#include "base/json.h"
#include "base/matchers_for_test.h"
#include "base/wire_reader.h"
#include "views/export.h"
#include "views/report_testing.h"
#include "views/views.h"

namespace beryl::views {
namespace {

ExportedRun MakeRun(const std::string& name = "layer_*") {
  ExportedRun run;
  run.report = MakeReport(name);
  run.self_s.assign(5, 0.5);
  ReadEnergy cpu;
  cpu.channel = name;
  cpu.within = "wall";
  cpu.times = {Nanos{1'000'000'000}, Nanos{2'000'000'000}, Nanos{3'000'000'000},
               Nanos{5'000'000'000}};
  cpu.energy_j = {1.5, kUnknown, 2.25};
  run.readings = {cpu};
  StepEnergy step;
  step.name = name.empty() ? "step" : name;
  step.start = Nanos{1'000'000'000};
  step.end = Nanos{2'000'000'000};
  step.self_j = {{1, 1.0}, {2, 2.0}};
  step.channel_j = {3.0, kUnknown};
  step.energy_j = 3.0;
  StepEnergy outside = step;
  outside.name = "";
  outside.self_j = {{2, 1.0}};
  run.steps = {step, outside};
  run.dataflow = {{2, 4}, {1, 4}};
  run.traces = {{"/tmp/" + name, "pytorch-kineto", Nanos{1'500}}};
  run.co2e_g_per_kwh = 380;
  return run;
}

// The sum of the doubles in that field of the messages along that path.
double SumOfDoubles(std::string_view bytes, std::vector<uint32_t> path) {
  auto source = ByteSource::FromMemory(bytes, "trace");
  WireReader reader(source);
  double sum = 0;
  const std::function<void(size_t)> walk = [&](size_t depth) {
    while (reader.Next()) {
      if (reader.field() != path[depth]) continue;
      if (depth + 1 == path.size()) {
        sum += std::bit_cast<double>(reader.Unsigned());
      } else if (reader.Enter()) {
        walk(depth + 1);
        reader.Leave();
      }
    }
  };
  walk(0);
  EXPECT_FALSE(reader.truncated());
  EXPECT_TRUE(reader.defects().empty());
  return sum;
}

std::string Bundle(const ExportedRun& run) {
  std::string archive;
  const auto open = [](const std::string& file) -> Result<ByteSource> {
    return ByteSource::FromMemory("[]", file);
  };
  EXPECT_TRUE(WritePerfettoBundle(run, open, [&](std::string_view bytes) -> Status {
                archive += bytes;
                return {};
              }).has_value());
  return archive;
}

TEST(ExportsTest, EveryFormatOfTheListIsWritten) {
  for (const std::string& name : HostileNames()) {
    const ExportedRun run = MakeRun(name);
    for (const auto& [format_name, format] : kExportFormats.Named()) {
      if (format == Format::kXprof) continue;
      const std::string bytes =
          format == Format::kPerfettoBundle ? Bundle(run) : Write(run, format);
      EXPECT_NE(bytes, "") << format_name;
      if (IsBinary(format) || format == Format::kFolded) continue;
      EXPECT_FALSE(json::FindSyntaxError(bytes).has_value()) << format_name;
    }
  }
}

TEST(ExportsTest, ARunWithoutAnythingIsWrittenToo) {
  ExportedRun run = MakeRun();
  run.readings.clear();
  run.steps.clear();
  run.dataflow.clear();
  run.report.channels.clear();
  for (double& joules : run.report.tree.columns.front().self) joules = kUnknown;
  for (const auto& [format_name, format] : kExportFormats.Named()) {
    if (format != Format::kXprof && format != Format::kPerfettoBundle) Write(run, format);
  }
}

TEST(PerfettoTest, WeightsAreTheEnergyAndCountersThePower) {
  const std::string trace = WritePerfetto(MakeRun());
  // Trace.packet.track_event.callstack_weight, and .double_counter_value.
  EXPECT_DOUBLE_EQ(SumOfDoubles(trace, {1, 11, 57}), 4.0);
  // 1.5 W for the first second, 1.125 W for the last two, and once more at their end.
  EXPECT_DOUBLE_EQ(SumOfDoubles(trace, {1, 11, 44}), 1.5 + 1.125 + 1.125);
  EXPECT_THAT(trace, HasSubstr("no readings"));
  EXPECT_THAT(trace, HasSubstr("do not add them up"));
}

TEST(PerfettoTest, TimesBeforeTheOriginOfTheClockAreShifted) {
  ExportedRun run = MakeRun();
  run.readings[0].times = {Nanos{-5'000}, Nanos{0}, Nanos{1}, Nanos{2}};
  const std::string manifest = WritePerfettoManifest(run, "beryl.pftrace", {"trace.json"});
  EXPECT_THAT(manifest, HasSubstr("\"offset_ns\":6500"));
  EXPECT_EQ(WritePerfetto(run).find("\xFF\xFF\xFF\xFF\xFF"), std::string::npos)
      << "no time is negative";
}

TEST(PerfettoTest, FilesOfABundleHaveNamesOfTheirOwn) {
  ExportedRun run = MakeRun();
  run.traces = {{"a/t.json.gz", "", {}},
                {"b/t.json", "", {}},
                {"beryl.pftrace", "", {}},
                {"c/\xC3\xBC\\t.json", "", {}}};
  const std::string archive = Bundle(run);
  for (const char* name : {"PK", "t.json", "3_t.json", "4_beryl.pftrace", "___t.json"}) {
    EXPECT_THAT(archive, HasSubstr(name));
  }
}

TEST(ModelExplorerTest, WhatAModuleTookItselfIsAnOperationInIt) {
  ExportedRun run = MakeRun("a/b");
  run.report.tree.columns.front().self[1] = 0.5;
  const std::string graph = WriteModelExplorer(run);
  EXPECT_THAT(graph, HasSubstr(R"-("id":"1","label":"(self)","namespace":"a|b")-"));
  EXPECT_THAT(graph, HasSubstr(R"("id":"2","label":"MatMul","namespace":"a|b")"));
  EXPECT_THAT(graph, HasSubstr(R"("incomingEdges":[{"sourceNodeId":"2"},{"sourceNodeId":"1"}])"));
  const std::string data = WriteModelExplorerData(run);
  EXPECT_THAT(data, HasSubstr(R"("results":{"1":{"value":0.5},"2":{"value":4}})"))
      << "nothing for what is not known";
}

TEST(TfeventsTest, EveryRecordHasItsChecksums) {
  const std::string file = WriteTfevents(MakeRun());
  const auto number = [&](size_t at, size_t size) {
    uint64_t value = 0;
    for (size_t i = size; i-- > 0;) value = value << 8 | static_cast<unsigned char>(file[at + i]);
    return value;
  };
  size_t at = 0;
  size_t records = 0;
  for (; at < file.size(); ++records) {
    const uint64_t size = number(at, 8);
    EXPECT_EQ(number(at + 8, 4), MaskedCrc32c(file.substr(at, 8)));
    ASSERT_LE(at + 16 + size, file.size());
    const std::string record = file.substr(at + 12, size);
    EXPECT_EQ(number(at + 12 + size, 4), MaskedCrc32c(record));
    if (records == 0) EXPECT_THAT(record, HasSubstr("brain.Event:2"));
    at += 16 + size;
  }
  EXPECT_EQ(at, file.size());
  // The version, two readings, the step on all devices and on CPU:0, three parts of two meters. The
  // plug feeds no operation, and nothing is known of its step.
  EXPECT_EQ(records, 1U + 2 + 1 + 1 + 6);
}

TEST(FirefoxTest, CountsAreWholeAndAddUp) {
  const std::string profile = WriteFirefox(MakeRun("GPU:0"));
  // 3.75 J in picowatt-hours.
  EXPECT_THAT(profile, HasSubstr(R"("count":[0,416666667,0,625000000],"length":4)"));
  EXPECT_THAT(profile, HasSubstr(R"("time":[0,1000,2000,4000])"));
  EXPECT_THAT(profile, HasSubstr("\"gramsOfCO2ePerKWh\":380"));
  EXPECT_THAT(profile, HasSubstr(R"({"type":"NoReadings","name":"GPU:0"})"));
}

}  // namespace
}  // namespace beryl::views
