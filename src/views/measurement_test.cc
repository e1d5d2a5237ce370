#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "views/views.h"
#include "views/xml_testing.h"

namespace beryl::views {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Measurement MakeMeasurement() {
  Measurement measured;
  measured.duration = Seconds{10};
  measured.recording.command = {"python3", "<train>.py"};
  measured.recording.period = Nanos{4'000'000};
  measured.recording.exit_code = 0;
  DeviceEnergy cpu;
  cpu.device = "CPU:0";
  cpu.source = "rapl-powercap";
  cpu.energy = Joules{100};
  cpu.mean_power = Watts{10};
  cpu.known_time = Seconds{10};
  cpu.split = {Joules{80}, Joules{15}, Joules{1}, Joules{4}};
  cpu.rest = Joules{20};
  cpu.channels = {"CPU:0", "CORE:0"};
  cpu.slices_w = {10, 10, kUnknown, 10};
  cpu.gaps = {{Seconds{5}, Seconds{2.5}, GapReason::kCounterStoodStill}};
  measured.devices = {cpu};
  measured.total.energy = measured.total.split = Joules{100};
  measured.total.mean_power = Watts{10};
  measured.total.ours = Joules{80};
  ChannelEnergy core;
  core.name = "CORE:0";
  core.scope = ChannelScope::kCore;
  core.within = "CPU:0";
  core.energy = Joules{60};
  ChannelEnergy package;
  package.name = "CPU:0";
  package.energy = Joules{100};
  measured.channels = {package, core};
  measured.processes = {{7, "python3", TaskOwner::kWatched, 3, Seconds{9.5}, {80}},
                        {8, "beryl", TaskOwner::kRecorder, 2, Seconds{0.1}, {1}}};
  measured.features = {{"cpu_util", "", "%", 45}, {"gpu_energy", "", "J", std::nullopt}};
  measured.notes = {{NoteKind::kClockSet, "", {2.5}}};
  return measured;
}

TEST(MeasurementViewTest, TheHeadlineSaysWhatAndWhose) {
  EXPECT_THAT(Write(MakeMeasurement(), Format::kTable, {}),
              HasSubstr("100 J in 10.0 s, 10.0 W; 80.0 J (80.0%) of it ours"));
}

TEST(MeasurementViewTest, AnEstimateIsCalledOne) {
  Measurement measured = MakeMeasurement();
  measured.devices[0].origin = Origin::kEstimated;
  measured.total.origin = Origin::kEstimated;
  measured.devices[0].low = measured.total.low = Joules{50};
  measured.devices[0].high = measured.total.high = Joules{150};
  const std::string text = Write(measured, Format::kTable, {});
  EXPECT_THAT(text, HasSubstr("an estimate: 100 J (50.0 J to 150 J) in 10.0 s"));
  EXPECT_THAT(text, HasSubstr("estimated, ±50"));
}

TEST(MeasurementViewTest, UnknownIsNeverZero) {
  Measurement measured = MakeMeasurement();
  measured.devices[0].energy = std::nullopt;
  measured.devices[0].mean_power = std::nullopt;
  measured.devices[0].split = {};
  measured.devices[0].rest = std::nullopt;
  measured.total = {};
  EXPECT_THAT(Write(measured, Format::kTable, {}), HasSubstr("no energy is known of 10.0 s"));
  const std::string json = Write(measured, Format::kJson, {});
  EXPECT_THAT(json, HasSubstr(R"("energy_j":null,"low_j":null)"));
  EXPECT_THAT(json, HasSubstr(R"("gpu_energy":null)"));
  EXPECT_THAT(json, HasSubstr(R"("missed_ticks":null)"));
  EXPECT_THAT(Write(measured, Format::kCsv, {}), HasSubstr("CPU:0,,,,,10,,,,,,measured"));
}

TEST(MeasurementViewTest, ATotalWithoutAllIsAtLeastThat) {
  Measurement measured = MakeMeasurement();
  EXPECT_THAT(Write(measured, Format::kJson, {}), HasSubstr(R"("complete":true,"missing":[])"));
  measured.total.missing = {"CPU:0 for 2.50 s", "the CPUs, which only wall reads"};
  EXPECT_THAT(Write(measured, Format::kTable, {}),
              HasSubstr("at least 100 J in 10.0 s, 10.0 W, without CPU:0 for 2.50 s and the"));
  EXPECT_THAT(Write(measured, Format::kJson, {}),
              HasSubstr(R"("complete":false,"missing":["CPU:0 for 2.50 s",)"));
}

TEST(MeasurementViewTest, ThePlotsOfTheMostEnergyAreShownAndTheOthersNamed) {
  Measurement measured = MakeMeasurement();
  measured.devices[0].energy = Joules{1};
  for (const char* name : {"DRAM:0", "GPU:0", "GPU:1", "GPU:2"}) {
    measured.devices.push_back(measured.devices[0]);
    measured.devices.back().device = name;
    measured.devices.back().energy = Joules{100};
  }
  EXPECT_THAT(Write(measured, Format::kTable, {}), HasSubstr("and 1 more: CPU:0\n"));
}

TEST(MeasurementViewTest, EveryFeatureHasItsName) {
  Measurement measured = MakeMeasurement();
  EXPECT_THAT(
      Write(measured, Format::kJson, {}),
      HasSubstr(R"("features":{"cpu_util":45,"mem_usg":null,"gpu_util":null,"gm_usg":null,)"
                R"("g_clk":null,"gm_clk":null,"latency":null,"gpu_energy":null,"gpus":{}})"));
  measured.features.push_back({"gpu_util", "GPU:0", "%", 70});
  EXPECT_THAT(Write(measured, Format::kJson, {}),
              HasSubstr(R"("gpu_util":70,"gm_usg":null,"g_clk":null)"));
  measured.features.push_back({"gpu_util", "GPU:1", "%", 30});
  EXPECT_THAT(Write(measured, Format::kJson, {}),
              HasSubstr(R"("gpu_util":null,"gm_usg":null,"g_clk":null,"gm_clk":null,)"
                        R"("latency":null,"gpu_energy":null,"gpus":{"GPU:0":{"gpu_util":70},)"));
}

TEST(MeasurementViewTest, MissedTicksAreNoneOfThoseThatWereTaken) {
  Measurement measured = MakeMeasurement();
  measured.overhead_cpu_pct = 0.5;
  measured.recording.cost.ticks = 749;
  measured.recording.cost.late = 157;
  measured.recording.cost.missed = 125;
  EXPECT_THAT(Write(measured, Format::kTable, {}),
              HasSubstr("749 ticks, 157 late; 125 more missed"));
}

TEST(MeasurementViewTest, WhatADeviceContainsIsListedUnderIt) {
  const std::string json = Write(MakeMeasurement(), Format::kJson, {});
  EXPECT_THAT(json, HasSubstr(R"("ours_j":80,"rest_j":20,"others_j":15)"));
  EXPECT_THAT(json, HasSubstr(R"("channels":[{"channel":"CPU:0")"));
  EXPECT_THAT(json, HasSubstr(R"({"channel":"CORE:0","scope":"core")"));
  EXPECT_THAT(Write(MakeMeasurement(), Format::kTable, {}),
              HasSubstr("also read, not added: CORE:0 60.0 J (in CPU:0)"));
}

TEST(MeasurementViewTest, AGapIsDrawnAsOne) {
  EXPECT_THAT(Write(MakeMeasurement(), Format::kTable, {}), HasSubstr("?????"));
  const std::string picture = Write(MakeMeasurement(), Format::kSvg, {});
  EXPECT_EQ(WrongWithXml(picture), "");
  EXPECT_THAT(picture, HasSubstr("nothing is known for 2.50 s: the counter stood still"));
  EXPECT_THAT(picture, Not(HasSubstr("<train>")));
}

TEST(MeasurementViewTest, NothingAtAllCanBeShown) {
  for (const Format format : {Format::kTable, Format::kJson, Format::kCsv, Format::kSvg}) {
    EXPECT_FALSE(Write(Measurement(), format, {}).empty());
  }
}

}  // namespace
}  // namespace beryl::views
