// What is the whole of what was measured, and what is part of it.
#include "account/account.h"
#include "account/recording_testing.h"
#include "base/matchers_for_test.h"
#include "types/note_testing.h"

namespace beryl::account {
namespace {

// What contains a device and what it contains is shown, never added.
TEST(MeasureTest, NothingIsCountedTwice) {
  PowerChannel core = TestCounter("CORE:0", std::vector<double>(250, 30.0));
  core.meter.within = "CPU:0";
  PowerChannel package = TestCounter("CPU:0", std::vector<double>(250, 50.0));
  package.meter.within = "psys";
  const PowerTrace power = Trace({TestCounter("psys", std::vector<double>(250, 80.0)), core,
                                  package, TestCounter("DRAM:0", std::vector<double>(250, 5.0))});
  const Measurement measured = Measure(power, {}, {});
  ASSERT_EQ(measured.devices.size(), 2U);
  EXPECT_EQ(measured.devices[0].device, "CPU:0");
  EXPECT_THAT(measured.devices[0].channels, ElementsAre("psys", "CORE:0", "CPU:0"));
  EXPECT_EQ(measured.devices[1].device, "DRAM:0");
  EXPECT_EQ(measured.channels.size(), 4U);
  EXPECT_THAT(measured.whole.channels, ElementsAre("psys"));
  EXPECT_NEAR(ValueOrNan(measured.whole.energy), 80, 1e-9);
  EXPECT_NEAR(ValueOrNan(measured.whole.devices), 55, 1e-9);
  EXPECT_NEAR(ValueOrNan(measured.whole.rest), 25, 1e-9);
  EXPECT_FALSE(measured.devices[0].split.ours);
  EXPECT_THAT(Plain(measured.notes), Contains(HasSubstr("cpu_use_not_recorded")));
}

TEST(MeasureTest, TheWallIsADeviceOnlyIfNothingBehindItWasMeasured) {
  PowerChannel guess = TestCounter("CPU:0", std::vector<double>(250, 50.0));
  guess.meter.origin = Origin::kEstimated;
  guess.meter.error = 0.5;
  const PowerChannel wall = TestCounter("wall", std::vector<double>(250, 100.0));
  const Measurement only_guess = Measure(Trace({guess}), {}, {});
  EXPECT_EQ(only_guess.devices.at(0).origin, Origin::kEstimated);
  EXPECT_NEAR(ValueOrNan(only_guess.devices[0].low), 25, 1e-9);
  EXPECT_NEAR(ValueOrNan(only_guess.devices[0].high), 75, 1e-9);
  const Measurement with_wall = Measure(Trace({guess, wall}), {}, {});
  ASSERT_EQ(with_wall.devices.size(), 1U);
  EXPECT_EQ(with_wall.devices[0].device, "wall");
  EXPECT_THAT(Plain(with_wall.notes), Contains(HasSubstr("container_stands_in wall")));
  const Measurement with_gpu =
      Measure(Trace({guess, wall, TestCounter("GPU:0", std::vector<double>(250, 30.0))}), {}, {});
  EXPECT_EQ(with_gpu.devices.size(), 2U);
  EXPECT_THAT(with_gpu.whole.channels, ElementsAre("wall"));
  EXPECT_NEAR(ValueOrNan(with_gpu.whole.rest), 20, 1e-9);
}

// psys does not feed a card: both are measured, and nothing is counted twice.
TEST(MeasureTest, ABoardBesideAGpuIsADevice) {
  PowerChannel guess = TestCounter("CPU:0", std::vector<double>(250, 50.0));
  guess.meter.origin = Origin::kEstimated;
  const PowerChannel board = TestCounter("psys", std::vector<double>(250, 160.0));
  const PowerChannel gpu = TestCounter("GPU:0", std::vector<double>(250, 30.0));
  const Measurement measured = Measure(Trace({board, gpu, guess}), {}, {});
  ASSERT_EQ(measured.devices.size(), 2U);
  EXPECT_NEAR(ValueOrNan(measured.total.energy), 190, 1e-9);
  EXPECT_EQ(measured.total.origin, Origin::kMeasured);
  EXPECT_THAT(measured.total.missing, IsEmpty());
  EXPECT_THAT(measured.whole.channels, IsEmpty());
  const PowerChannel wall = TestCounter("wall", std::vector<double>(250, 250.0));
  const Measurement behind = Measure(Trace({board, gpu, wall}), {}, {});
  EXPECT_NEAR(ValueOrNan(behind.total.energy), 190, 1e-9);
  EXPECT_NEAR(ValueOrNan(behind.whole.rest), 60, 1e-9);
  EXPECT_THAT(behind.total.missing, IsEmpty());
}

TEST(MeasureTest, ATotalSaysWhatIsMissing) {
  const PowerChannel wall = TestCounter("wall", std::vector<double>(250, 250.0));
  const PowerChannel gpu = TestCounter("GPU:0", std::vector<double>(250, 30.0));
  const Measurement measured = Measure(Trace({wall, gpu}), {}, {});
  EXPECT_NEAR(ValueOrNan(measured.total.energy), 30, 1e-9);
  EXPECT_THAT(measured.total.missing, ElementsAre("the CPUs, which only wall reads"));
  EXPECT_THAT(Plain(measured.notes), Contains(HasSubstr("cpus_only_in_container wall")));
  PowerChannel package = TestCounter("CPU:0", std::vector<double>(250, 30.0));
  package.gaps = {{100}};
  const PowerChannel still = TestCounter("DRAM:0", std::vector<double>(250, 0.0));
  EXPECT_THAT(Measure(Trace({package, still}), {}, {}).total.missing,
              ElementsAre("CPU:0 for 4.00 ms", "DRAM:0"));
}

PowerChannel Steady(std::string name, double watts) {
  return TestCounter(std::move(name), std::vector<double>(250, watts));
}

TEST(MeasureTest, PlugsAreAddedUpAndAMeterOfThemAllIsNot) {
  const Measurement plugs = Measure(Trace({Steady("wall:1", 100), Steady("wall:2", 50)}), {}, {});
  EXPECT_NEAR(ValueOrNan(plugs.total.energy), 150, 1e-9);
  EXPECT_THAT(Plain(plugs.notes), Not(Contains(HasSubstr("may_read_the_same wall:2"))));
  const Measurement both = Measure(Trace({Steady("wall", 140), Steady("wall:1", 150)}), {}, {});
  EXPECT_NEAR(ValueOrNan(both.total.energy), 150, 1e-9);
  EXPECT_THAT(Plain(both.notes), Contains("may_read_the_same wall others=wall:1"));
}

TEST(MeasureTest, TwoPlugsAreTheWholeOfWhatTheyFeed) {
  const Measurement measured = Measure(Trace({Steady("wall:1", 100), Steady("CPU:0", 120),
                                              Steady("wall:2", 60), Steady("GPU:0", 30)}),
                                       {}, {});
  EXPECT_NEAR(ValueOrNan(measured.total.energy), 150, 1e-9);
  EXPECT_THAT(measured.whole.channels, ElementsAre("wall:1", "wall:2"));
  EXPECT_NEAR(ValueOrNan(measured.whole.energy), 160, 1e-9);
  EXPECT_NEAR(ValueOrNan(measured.whole.rest), 10, 1e-9);
  EXPECT_EQ(measured.channels[1].within, "wall:1 + wall:2");
  EXPECT_THAT(measured.devices[0].channels, ElementsAre("wall:1", "CPU:0", "wall:2"));
}

TEST(MeasureTest, APlugThatToldNothingIsMissing) {
  PowerChannel silent = Steady("wall:2", 0);
  const Measurement plugs = Measure(Trace({Steady("wall:1", 100), silent}), {}, {});
  EXPECT_NEAR(ValueOrNan(plugs.total.energy), 100, 1e-9);
  EXPECT_THAT(plugs.total.missing, ElementsAre("wall:2"));
  const Measurement behind =
      Measure(Trace({Steady("wall:1", 100), silent, Steady("CPU:0", 80)}), {}, {});
  EXPECT_THAT(behind.total.missing, IsEmpty());
  EXPECT_FALSE(behind.whole.rest);
  EXPECT_THAT(Plain(behind.notes), Contains("container_silent wall:2 others=wall:1"));
}

// A battery that gives feeds the machine, whatever comes from the plug at the same time.
TEST(MeasureTest, ABatteryBesideAPlugIsAdded) {
  const Measurement measured = Measure(
      Trace({Steady("wall", 20), Steady("battery", 30), Steady("psys", 40), Steady("CPU:0", 25)}),
      {}, {});
  EXPECT_NEAR(ValueOrNan(measured.total.energy), 25, 1e-9);
  EXPECT_THAT(measured.whole.channels, ElementsAre("wall", "battery"));
  EXPECT_NEAR(ValueOrNan(measured.whole.energy), 50, 1e-9);
  EXPECT_EQ(measured.channels[2].within, "wall + battery");
}

// What a rack reads is not added to what its machines read.
TEST(MeasureTest, AMeterOfSeveralMachinesIsTheirWhole) {
  std::vector<PowerChannel> channels = {Steady("rack", 250), Steady("node1/wall", 100),
                                        Steady("node2/wall", 120)};
  channels[1].meter.within = channels[2].meter.within = "rack";
  EXPECT_NEAR(Measure(Trace(channels), {}, {}).total.energy->value, 250, 1e-9);
  channels.push_back(Steady("node1/CPU:0", 60));
  channels.push_back(Steady("node2/CPU:0", 70));
  const Measurement measured = Measure(Trace(channels), {}, {});
  EXPECT_NEAR(ValueOrNan(measured.total.energy), 130, 1e-9);
  EXPECT_NEAR(ValueOrNan(measured.whole.rest), 120, 1e-9);
}

}  // namespace
}  // namespace beryl::account
