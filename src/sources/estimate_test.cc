#include <chrono>
#include <cmath>
#include <numeric>
#include <thread>

#include "base/matchers_for_test.h"
#include "sources/busy_counter.h"
#include "sources/cpu_times.h"
#include "sources/machine_features.h"
#include "sources/machine_files.h"
#include "sources/machine_testing.h"

namespace beryl::sources {
namespace {

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
  EXPECT_EQ(MemoryUsagePercent("MemTotal: 999999999999990 kB\nMemAvailable: 0 kB\n"), 100);
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

constexpr int64_t kMs = 1'000'000;
constexpr int64_t kTick = 10 * kMs;

TEST(BusyCounter, CountsIdleTimeAndBusyTime) {
  BusyCounter counter({Watts{0.0}, Watts{50.0}, 2}, kTick);
  EXPECT_EQ(counter.Read(0, 1000 * kTick), 0U);
  // One of two CPUs for a second: half of the power between idle and full.
  EXPECT_EQ(counter.Read(1000 * kMs, 1100 * kTick), 50'000'000U);
  // A kernel that takes a tick back.
  EXPECT_EQ(counter.Read(2000 * kMs, 1099 * kTick), 50'000'000U);
  EXPECT_EQ(counter.Read(3000 * kMs, 1100 * kTick), 50'000'000U);
  EXPECT_EQ(counter.Read(4000 * kMs, 1101 * kTick), 50'500'000U);
  BusyCounter idle({Watts{3.0}, Watts{50.0}, 2}, kTick);
  EXPECT_EQ(idle.Read(7 * kMs, 0), 0U);
  EXPECT_EQ(idle.Read(1007 * kMs, 0), 3'000'000U);
}

// Power between the steps of a counter that is read every 4 ms while some CPUs work all the time.
std::vector<double> PowerSeen(double busy_cpus, int64_t period_ns, int64_t late_ns = 0) {
  BusyCounter counter({Watts{11.0}, Watts{12.0}, 2}, kTick);
  std::vector<double> power;
  int64_t step_ns = 0;
  uint64_t last = 0;
  for (int64_t reading = 0; reading * period_ns < 4'000 * kMs; ++reading) {
    const int64_t now = reading * period_ns + (reading % 3) * late_ns;
    const auto ticks = static_cast<int64_t>(busy_cpus * static_cast<double>(now / kTick));
    const uint64_t count = counter.Read(now, ticks * kTick);
    if (count == last) continue;
    power.push_back(static_cast<double>(count - last) * 1e3 / static_cast<double>(now - step_ns));
    step_ns = now;
    last = count;
  }
  return power;
}

TEST(BusyCounter, NeverLeavesItsCurve) {
  for (const double busy : {0.0, 0.5, 1.0, 1.7, 2.0}) {
    for (const int64_t period : {1 * kMs, 4 * kMs, 7 * kMs, 10 * kMs, 33 * kMs, 200 * kMs}) {
      for (const int64_t late : {int64_t{0}, kMs / 3}) {
        for (const double watts : PowerSeen(busy, period, late)) {
          EXPECT_GE(watts, 11 - 1e-3) << busy << " CPUs, every " << period;
          EXPECT_LE(watts, 35 + 1e-3) << busy << " CPUs, every " << period;
        }
      }
    }
  }
}

TEST(BusyCounter, IsNoSawtooth) {
  const std::vector<double> power = PowerSeen(1, 4 * kMs);
  ASSERT_GT(power.size(), 60U);
  for (const double watts : power) EXPECT_NEAR(watts, 23, 3);
  EXPECT_NEAR(std::accumulate(power.begin(), power.end(), 0.0) / static_cast<double>(power.size()),
              23, 0.2);
}

TEST(BusyCounter, IsExactHoweverOftenItIsRead) {
  BusyCounter counter({Watts{0.0}, Watts{1.5}, 2}, kTick);
  uint64_t last = 0;
  for (int64_t tick = 0; tick <= 1000; ++tick) {
    const uint64_t now = counter.Read(tick * kTick, tick * kTick);
    EXPECT_GE(now, last);
    last = now;
  }
  EXPECT_EQ(last, 15'000'000U);  // 10 s at half of 3 W
}

TEST(Estimate, IsACounterOfBusyTime) {
  TestMachine machine;
  machine.options().guess = {Watts{0.0}, Watts{100.0}};
  const auto found = machine.Find(FindEstimate);
  ASSERT_TRUE(found && found->power);
  const PowerChannel& channel = found->power->channels()[0];
  EXPECT_EQ(channel.name, "CPU:0");
  EXPECT_EQ(channel.meter.origin, Origin::kEstimated);
  EXPECT_DOUBLE_EQ(*channel.meter.error, 0.5);
  EXPECT_DOUBLE_EQ(channel.meter.update_period_us.value_or(0), 50'000);
  EXPECT_THAT(channel.meter.reads, HasSubstr("100 W with all 2 CPUs"));
  EXPECT_EQ(ReadOnce(*found->power)[0].count, 0U);
  machine.WriteFile("proc/stat",
                    "cpu  100 0 0 900 0 0 0 0 0 0\ncpu0 150 0 0 450 0 0 0 0 0 0\n"
                    "cpu1 50 0 0 450 0 0 0 0 0 0");
  // A second of CPU time, but no second has passed.
  const auto start = std::chrono::steady_clock::now();
  std::this_thread::sleep_for(std::chrono::milliseconds(60));
  const uint64_t count = ReadOnce(*found->power)[0].count;
  const std::chrono::duration<double, std::micro> most = std::chrono::steady_clock::now() - start;
  EXPECT_GT(count, 100U * 50'000);
  EXPECT_LE(static_cast<double>(count), 100 * (most.count() + 20'000));
}

TEST(Estimate, TakesTheTimeOfTheReading) {
  TestMachine machine;
  machine.options().guess = {Watts{10.0}, Watts{10.0}};
  const auto found = machine.Find(FindEstimate);
  ASSERT_TRUE(found && found->power);
  const int64_t now_ns = std::chrono::steady_clock::now().time_since_epoch().count();
  found->power->SetTime(now_ns + 1'000 * kMs);
  const uint64_t first = ReadOnce(*found->power)[0].count;
  found->power->SetTime(now_ns + 3'000 * kMs);
  EXPECT_EQ(ReadOnce(*found->power)[0].count - first, 20'000'000U);
}

TEST(Estimate, OfAVirtualMachineIsWider) {
  TestMachine machine;
  machine.WriteFile("proc/cpuinfo", "flags\t\t: fpu vme hypervisor lahf_lm");
  auto found = machine.Find(FindEstimate);
  ASSERT_TRUE(found && found->power);
  EXPECT_DOUBLE_EQ(*found->power->channels()[0].meter.error, 0.75);
  EXPECT_THAT(found->power->channels()[0].meter.reads, HasSubstr("virtual machine"));
  ASSERT_EQ(found->notes.size(), 1U);
  EXPECT_EQ(PlainText(found->notes[0]), "estimate_of_vm cpus=2 idle_w=11 full_w=35");
  // Whoever knows what it draws has said it of this machine.
  machine.options().guess = {Watts{2.0}, Watts{9.0}};
  found = machine.Find(FindEstimate);
  EXPECT_DOUBLE_EQ(*found->power->channels()[0].meter.error, 0.5);
  EXPECT_TRUE(found->notes.empty());
}

TEST(Estimate, VirtualMachinesAreKnownByTheirFirmwareToo) {
  TestMachine machine;
  EXPECT_FALSE(IsVirtual(machine.machine()));
  machine.WriteFile("sys/class/dmi/id/product_name", "PowerEdge R750");
  EXPECT_FALSE(IsVirtual(machine.machine()));
  machine.WriteFile("sys/class/dmi/id/product_name", "KVM Virtual Machine");
  EXPECT_TRUE(IsVirtual(machine.machine()));
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

TEST(Estimate, StatesItsGuess) {
  TestMachine machine;
  auto found = machine.Find(FindEstimate);
  EXPECT_THAT(found->power->channels()[0].meter.reads, HasSubstr("11 W idle to 35 W"));
  EXPECT_THAT(found->power->channels()[0].meter.reads,
              HasSubstr("estimated from the number of CPUs"));
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
  EXPECT_THAT(WhyRefused(machine.Find(FindEstimate)), HasSubstr("stat cannot be read"));
}

}  // namespace
}  // namespace beryl::sources
