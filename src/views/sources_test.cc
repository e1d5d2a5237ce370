#include <cmath>

#include "base/matchers_for_test.h"
#include "views/views.h"

namespace beryl::views {
namespace {

SourceReport SomeMeters() {
  SourceReport report;
  PowerChannel counter;
  counter.name = "CPU:0";
  counter.scope = ChannelScope::kPackage;
  counter.kind = ChannelKind::kEnergyCounter;
  counter.meter.source = "rapl-powercap";
  counter.meter.reads = "intel-rapl:0/energy_uj";
  counter.meter.unit = "uJ";
  counter.meter.per_count = 1e-6;
  counter.meter.wrap = 262143328850;
  counter.meter.update_period_us = 1000;
  counter.meter.moves = true;
  PowerChannel gauge;
  gauge.name = "wall";
  gauge.scope = ChannelScope::kWall;
  gauge.meter.source = "meter";
  gauge.meter.reads = "lines, \"quoted\"";
  gauge.meter.unit = "uW";
  report.found = {counter, gauge};
  report.within = {"psys", ""};
  report.seen_w = {20, std::nan("")};
  report.smallest_j = {0.02, std::nan("")};
  report.duplicates = {{"rapl-powercap", "intel-rapl-mmio:0/energy_uj", "CPU:0", "intel-rapl:0"}};
  report.refused = {{"nvml", "no library", "install the driver"}};
  report.checks = {{SourceCheck::About::kMoving, "the counter of CPU:0 moves",
                    SourceCheck::Verdict::kGood, "every 1 ms"}};
  report.cpu_time = "schedstat";
  report.features = {"cpu_util"};
  report.provenance.machine = "a machine";
  report.provenance.tool = "beryl 0";
  return report;
}

TEST(SourcesView, JsonKeepsItsContract) {
  const std::string json = Write(SomeMeters(), Format::kJson, {});
  EXPECT_THAT(json, HasSubstr(R"("found":[{"source":"rapl-powercap",)"
                              R"("device":"CPU:0","scope":"package","kind":"counter",)"
                              R"("unit":"uJ","wrap":262143328850,"update_period_us":1000,)"
                              R"("within":"psys","moves":true)"));
  // What is not known is null, never 0.
  EXPECT_THAT(json, HasSubstr(R"("update_period_us":null,"within":null,"moves":null)"));
  EXPECT_THAT(json, HasSubstr(R"("seen_w":null,"smallest_j":null)"));
  EXPECT_THAT(json, HasSubstr(R"({"source":"nvml","reason":"no library",)"
                              R"("remedy":"install the driver"})"));
  EXPECT_THAT(json, HasSubstr(R"("verdict":"good")"));
}

TEST(SourcesView, TableHasEveryBlock) {
  SourceReport report = SomeMeters();
  std::string table = Write(report, Format::kTable, {});
  for (const char* text : {"found", "CPU:0", "20.0 W", "20.0 mJ", "1.00 ms", "duplicates, not read",
                           "remedy: install the driver", "checks", "schedstat"}) {
    EXPECT_THAT(table, HasSubstr(text));
  }
  EXPECT_THAT(table, Not(HasSubstr("nan")));
  report.found[0].meter.moves = false;
  EXPECT_THAT(Write(report, Format::kTable, {}), HasSubstr("still\n"));
  EXPECT_THAT(Write(SourceReport{}, Format::kTable, {}), HasSubstr("no meter can be read"));
}

TEST(SourcesView, CsvLeavesEmptyWhatIsNotKnown) {
  const std::string csv = Write(SomeMeters(), Format::kCsv, {});
  EXPECT_THAT(csv, HasSubstr("rapl-powercap,CPU:0,package,counter,uJ,262143328850,1000,psys,true"));
  EXPECT_THAT(csv, HasSubstr("\"lines, \"\"quoted\"\"\",1,,,measured,,"));
}

}  // namespace
}  // namespace beryl::views
