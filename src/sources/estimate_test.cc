#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sources/cpu_times.h"
#include "sources/machine_features.h"
#include "sources/machine_testing.h"

namespace beryl::sources {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(ParseCpuLine, TellsWhatIsBusy) {
  CpuJiffies cpu;
  // user nice system idle iowait irq softirq steal guest guest_nice: guests are in user already.
  ASSERT_TRUE(ParseCpuLine("cpu1 1 2 3 100 50 4 5 6 7 8", cpu));
  EXPECT_EQ(cpu.cpu, 1);
  EXPECT_EQ(BusyJiffies(cpu), 15U);
  EXPECT_EQ(IdleJiffies(cpu), 150U);
  EXPECT_TRUE(ParseCpuLine("cpu7 1 1 1 1", cpu));
}

TEST(ParseCpuLine, RefusesWhatIsNone) {
  CpuJiffies cpu;
  for (const char* text : {"", "cpu", "cpu ", "cpu  1 2 3 4", "cpu0", "cpu0 1 2", "cpux 1 2 3 4",
                           "cpu0 -1 2 3 4", "intr 1", "cpu99999999999999999999 1 2 3 4"}) {
    EXPECT_FALSE(ParseCpuLine(text, cpu)) << text;
  }
}

TEST(MemoryUsage, IsWhatIsNotAvailable) {
  EXPECT_DOUBLE_EQ(
      MemoryUsagePercent("MemTotal:  1000 kB\nMemFree: 1 kB\nMemAvailable:    250 kB\n"), 75);
  EXPECT_TRUE(std::isnan(MemoryUsagePercent("MemTotal: 1000 kB\n")));
  EXPECT_TRUE(std::isnan(MemoryUsagePercent("")));
}

TEST(MachineFeatures, TellOfTheTimeSinceTheLastReading) {
  TestMachine machine;
  machine.WriteFile("proc/meminfo", "MemTotal: 1000 kB\nMemAvailable: 900 kB");
  machine.WriteFile("proc/stat", "cpu  50 0 0 450 0 0 0 0 0 0");
  const auto found = machine.Find(FindMachineFeatures);
  ASSERT_TRUE(found);
  FeatureSource& features = *found->features[0];
  std::vector<double> row(2);
  machine.WriteFile("proc/stat", "cpu  100 0 0 900 0 0 0 0 0 0");
  features.Read({}, row);
  EXPECT_TRUE(std::isnan(row[0]));  // there was none before
  EXPECT_DOUBLE_EQ(row[1], 10);
  machine.WriteFile("proc/stat", "cpu  130 0 0 970 0 0 0 0 0 0");
  features.Read({}, row);
  EXPECT_DOUBLE_EQ(row[0], 30);
  features.Read({}, row);
  EXPECT_DOUBLE_EQ(row[0], 30);
}

TEST(Estimate, CountsIdleTimeAndBusyTime) {
  TestMachine machine;
  machine.options().guess = {Watts{0.0}, Watts{100.0}};
  const auto found = machine.Find(FindEstimate);
  ASSERT_TRUE(found && found->power);
  const PowerChannel& channel = found->power->channels()[0];
  EXPECT_EQ(channel.name, "CPU:0");
  EXPECT_EQ(channel.meter.origin, Origin::kEstimated);
  EXPECT_DOUBLE_EQ(*channel.meter.error, 0.5);
  EXPECT_THAT(channel.meter.reads, HasSubstr("100 W with all 2 CPUs"));
  EXPECT_EQ(ReadOnce(*found->power)[0].count, 0U);
  // One of two CPUs for a second: half of the power between idle and full.
  machine.WriteFile("proc/stat",
                    "cpu  100 0 0 900 0 0 0 0 0 0\ncpu0 150 0 0 450 0 0 0 0 0 0\n"
                    "cpu1 50 0 0 450 0 0 0 0 0 0");
  EXPECT_EQ(ReadOnce(*found->power)[0].count, 50000000U);
  // A kernel that takes a tick back.
  machine.WriteFile("proc/stat",
                    "cpu  100 0 0 900 0 0 0 0 0 0\ncpu0 149 0 0 450 0 0 0 0 0 0\n"
                    "cpu1 50 0 0 450 0 0 0 0 0 0");
  EXPECT_EQ(ReadOnce(*found->power)[0].count, 50000000U);
}

TEST(Estimate, CountsOnlyCpusThatRun) {
  TestMachine machine;
  for (const char* cpu : {"cpu0", "cpu1"}) {
    machine.WriteFile(
        std::string("sys/devices/system/cpu/") + cpu + "/topology/physical_package_id", "0");
  }
  for (const char* cpu : {"cpu2", "cpu3"}) {
    std::filesystem::create_directories(machine.Path("sys/devices/system/cpu/") + cpu);
  }
  auto found = machine.Find(FindEstimate);
  ASSERT_TRUE(found && found->power);
  EXPECT_THAT(found->power->channels()[0].meter.reads, HasSubstr("11 W idle to 35 W"));
  EXPECT_THAT(found->power->channels()[0].meter.reads, HasSubstr("all 2 CPUs"));
  // Where only the sum of all is told, the machine says how many.
  machine.WriteFile("proc/stat", "cpu  100 0 0 900 0 0 0 0 0 0");
  found = machine.Find(FindEstimate);
  EXPECT_THAT(found->power->channels()[0].meter.reads, HasSubstr("all 4 CPUs"));
}

TEST(Estimate, IsExactHoweverOftenItIsRead) {
  TestMachine machine;
  machine.options().guess = {Watts{0.0}, Watts{3.0}};
  const auto found = machine.Find(FindEstimate);
  ASSERT_TRUE(found && found->power);
  uint64_t last = 0;
  for (int tick = 1; tick <= 1000; ++tick) {
    machine.WriteFile("proc/stat", "cpu0 " + std::to_string(50 + tick) +
                                       " 0 0 450 0 0 0 0 0 0\ncpu1 50 0 0 450 0 0 0 0 0 0");
    const uint64_t now = ReadOnce(*found->power)[0].count;
    EXPECT_GE(now, last);
    last = now;
  }
  EXPECT_EQ(last, 15000000U);  // 10 s at half of 3 W
}

TEST(Estimate, StatesItsGuess) {
  TestMachine machine;
  auto found = machine.Find(FindEstimate);
  EXPECT_THAT(found->power->channels()[0].meter.reads, HasSubstr("11 W idle to 35 W"));
  EXPECT_THAT(found->power->channels()[0].meter.reads, HasSubstr("a guess"));
  machine.options().guess = {Watts{500.0}, {}};
  found = machine.Find(FindEstimate);
  EXPECT_THAT(found->power->channels()[0].meter.reads, HasSubstr("500 W idle to 500 W"));
}

TEST(Estimate, OnlyForPackagesWithoutAMeter) {
  TestMachine machine;
  machine.WriteFile("sys/devices/system/cpu/cpu0/topology/physical_package_id", "0");
  machine.WriteFile("sys/devices/system/cpu/cpu1/topology/physical_package_id", "1");
  PowerChannel first;
  first.name = "CPU:0";
  first.scope = ChannelScope::kPackage;
  auto found = machine.Find(FindEstimate, {first});
  ASSERT_TRUE(found && found->power);
  EXPECT_THAT(NamesOf(found->power->channels()), ElementsAre("CPU:1"));
  PowerChannel wall;
  wall.name = "wall";
  wall.scope = ChannelScope::kWall;
  found = machine.Find(FindEstimate, {wall});
  EXPECT_FALSE(found->power);
}

TEST(Estimate, WithoutProcItIsRefused) {
  TestMachine machine;
  machine.machine().procfs = machine.Path("none");
  const auto found = machine.Find(FindEstimate);
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->power);
  EXPECT_THAT(found->refused[0].reason, HasSubstr("stat cannot be read"));
}

}  // namespace
}  // namespace beryl::sources
