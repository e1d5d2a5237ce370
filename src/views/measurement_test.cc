#include <cmath>

#include "base/matchers_for_test.h"
#include "views/draw/xml_testing.h"
#include "views/views.h"

namespace beryl::views {
namespace {

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
              HasSubstr("\n80.0 J ours, 80.0% of 100 J of the machine in 10.0 s, 10.0 W\n"));
}

TEST(MeasurementViewTest, OursComesFirstWithItsOwnIntervalThenARunThenTheCosts) {
  Measurement measured = MakeMeasurement();
  measured.total.origin = Origin::kEstimated;
  measured.total.low = Joules{50};
  measured.total.high = Joules{150};
  measured.total.ours_low = Joules{40};
  measured.total.ours_high = Joules{120};
  measured.run.energy_of = EnergyOf::kOurs;
  measured.run.energy = {5, Joules{16}, Joules{0.8}};
  measured.run.time = {5, Seconds{2}, Seconds{0.1}};
  measured.costs.emplace();
  measured.costs->electricity.currency = "EUR";
  measured.costs->ours = {2, 1, 3, 0.5, 0.8};
  measured.costs->machine = {4, 2, 6, 1, 1.6};
  ViewOptions wide;
  wide.width = 160;
  EXPECT_THAT(
      Write(measured, Format::kTable, wide),
      HasSubstr(
          "\nan estimate: 80.0 J (40.0 J to 120 J) ours, 80.0% of 100 J (50.0 J to 150 J) of the "
          "machine in 10.0 s, 10.0 W\n"
          "a run of the command: 16.0 J ± 800 mJ (5.0%) ours in 2.00 s ± 100 ms (5.0%), over 5 "
          "rounds\n"
          "ours: 2 (1 to 3) kWh, 0.5 EUR, 0.8 kg CO2e\n"
          "the machine: 4 (2 to 6) kWh, 1 EUR, 1.6 kg CO2e\n"));
  EXPECT_THAT(Write(measured, Format::kSummary, wide), HasSubstr("\nours: 2 (1 to 3) kWh"));
  const std::string json = Write(measured, Format::kJson, {});
  EXPECT_THAT(json, HasSubstr(R"("ours_j":80,"ours_low_j":40,"ours_high_j":120)"));
  EXPECT_THAT(json, HasSubstr(R"("run":{"energy_of":"ours","energy_j":{"n":5,"mean":16,)"));
  EXPECT_THAT(json, HasSubstr(R"("costs":{"ours":{"kwh":2,"kwh_low":1,"kwh_high":3,)"));
}

TEST(MeasurementViewTest, SmallCostsAreInSmallUnits) {
  Measurement measured = MakeMeasurement();
  measured.costs.emplace();
  measured.costs->electricity.currency = "USD";
  measured.costs->ours = {4.924e-6, std::nullopt, std::nullopt, 6.5e-7, 1.58e-4};
  measured.costs->machine = {4.128e-4, 2e-4, 6e-4, 5.4e-4, 0};
  ViewOptions wide;
  wide.width = 160;
  EXPECT_THAT(Write(measured, Format::kTable, wide),
              HasSubstr("ours: 4.924 mWh, under 0.0001 USD, 0.158 g CO2e\n"
                        "the machine: 0.4128 (0.2 to 0.6) Wh, 0.00054 USD, 0 kg CO2e\n"));
}

TEST(MeasurementViewTest, RoundsWithoutEnergyAreNotCountedAsIfTheyHadIt) {
  Measurement measured = MakeMeasurement();
  measured.run.time = {3, Seconds{2}, std::nullopt};
  measured.run.energy = {1, Joules{16}, std::nullopt};
  EXPECT_THAT(Write(measured, Format::kSummary, {}),
              HasSubstr("a run of the command: 16.0 J of the machine in 2.00 s, over 3 rounds; "
                        "energy is known for 1\n"));
  measured.run.energy = {};
  EXPECT_THAT(Write(measured, Format::kSummary, {}),
              HasSubstr("a run of the command: 2.00 s, over 3 rounds; its energy is unknown\n"));
}

TEST(MeasurementViewTest, OfAWholeMachineNothingIsCalledOurs) {
  Measurement measured = MakeMeasurement();
  measured.recording.command.clear();
  measured.costs.emplace();
  const std::string text = Write(measured, Format::kTable, {});
  EXPECT_THAT(text, HasSubstr("\n100 J in 10.0 s, 10.0 W\n"));
  EXPECT_THAT(text, Not(HasSubstr("ours:")));
}

TEST(MeasurementViewTest, OursThatIsNotKnownIsSaid) {
  Measurement measured = MakeMeasurement();
  measured.total.ours = std::nullopt;
  measured.total.all_split = false;
  EXPECT_THAT(Write(measured, Format::kSummary, {}),
              HasSubstr("100 J of the machine in 10.0 s, 10.0 W; which part of it is ours is "
                        "unknown\n"));
  measured.total.ours = Joules{8};
  measured.total.split = Joules{10};
  EXPECT_THAT(Write(measured, Format::kSummary, {}),
              HasSubstr("8.00 J ours, of the 10.0 J that can be divided; 100 J of the machine"));
}

TEST(MeasurementViewTest, AnEstimateIsCalledOne) {
  Measurement measured = MakeMeasurement();
  measured.devices[0].origin = Origin::kEstimated;
  measured.total.origin = Origin::kEstimated;
  measured.devices[0].low = measured.total.low = Joules{50};
  measured.devices[0].high = measured.total.high = Joules{150};
  const std::string text = Write(measured, Format::kTable, {});
  EXPECT_THAT(text, HasSubstr("of 100 J (50.0 J to 150 J) of the machine in"));
  EXPECT_THAT(text, HasSubstr("estimated, ±50"));
}

TEST(MeasurementViewTest, UnknownIsNeverZero) {
  Measurement measured = MakeMeasurement();
  measured.devices[0].energy = std::nullopt;
  measured.devices[0].mean_power = std::nullopt;
  measured.devices[0].split = {};
  measured.devices[0].rest = std::nullopt;
  measured.total = {};
  EXPECT_THAT(Write(measured, Format::kTable, {}), HasSubstr("no energy is known for 10.0 s"));
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
              HasSubstr("80.0 J ours, 80.0% of at least 100 J of the machine in 10.0 s, 10.0 W, "
                        "without CPU:0 for"));
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
  EXPECT_THAT(picture, HasSubstr("energy unknown for 2.50 s: the counter stood still"));
  EXPECT_THAT(picture, Not(HasSubstr("<train>")));
}

TEST(MeasurementViewTest, NothingAtAllCanBeShown) {
  for (const Format format : {Format::kTable, Format::kJson, Format::kCsv, Format::kSvg}) {
    EXPECT_FALSE(Write(Measurement(), format, {}).empty());
  }
}

}  // namespace
}  // namespace beryl::views
