#include "base/matchers_for_test.h"
#include "sources/machine_testing.h"

namespace beryl::sources {
namespace {

constexpr const char* kPmu = "sys/bus/event_source/devices/power/";

void AddEvent(const TestMachine& machine, const std::string& event, const std::string& config,
              const std::string& scale) {
  machine.WriteFile(kPmu + ("events/" + event), config);
  machine.WriteFile(kPmu + ("events/" + event + ".scale"), scale);
  machine.WriteFile(kPmu + ("events/" + event + ".unit"), "Joules");
}

// The kernel's own CPU clock stands in for RAPL: nanoseconds as if they were energy.
TEST(RaplPerf, ReadsACounterOfTheKernel) {
  TestMachine machine;
  machine.WriteFile(kPmu + std::string("type"), "1");
  machine.WriteFile(kPmu + std::string("cpumask"), "0");
  AddEvent(machine, "energy-pkg", "event=0x00", "1e-9");
  const auto found = machine.Find(FindRaplPerf);
  ASSERT_TRUE(found);
  if (!found->power) {
    ASSERT_EQ(found->refused.size(), 1U);
    EXPECT_THAT(found->refused[0].remedy, AnyOf(HasSubstr("cap_perfmon"), HasSubstr("PERFMON")));
    GTEST_SKIP() << "perf_event_open is not allowed here: " << found->refused[0].reason;
  }
  ASSERT_EQ(found->power->channels().size(), 1U);
  const PowerChannel& channel = found->power->channels()[0];
  EXPECT_EQ(channel.name, "CPU:0");
  EXPECT_EQ(channel.meter.source, "rapl-perf");
  EXPECT_DOUBLE_EQ(channel.meter.per_count, 1e-9);
  const MeterReading before = ReadOnce(*found->power)[0];
  EXPECT_EQ(before.state, ReadState::kOk);
  MeterReading after = before;
  for (int i = 0; i < 100000 && after.count == before.count; ++i)
    after = ReadOnce(*found->power)[0];
  EXPECT_GT(after.count, before.count);
}

// The files of a machine with two packages, as the kernel writes them; the CPU clock stands in.
class TwoPackages : public ::testing::Test {
 protected:
  void SetUp() override {
    machine_.WriteFile(kPmu + std::string("type"), "1");
    machine_.WriteFile(kPmu + std::string("cpumask"), "0-1");
    for (const char* event : {"energy-pkg", "energy-ram"}) {
      AddEvent(machine_, event, "event=0x00", "2.3283064365386962890625e-10");
    }
    SetPackage(0, 0, 0);
    SetPackage(1, 1, 0);
  }
  void SetPackage(int cpu, int package, int die) {
    const std::string folder = "sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/";
    machine_.WriteFile(folder + "physical_package_id", std::to_string(package));
    machine_.WriteFile(folder + "die_id", std::to_string(die));
  }
  // Empty where perf_event_open is not allowed, or there is one CPU.
  std::vector<std::string> Names() {
    const auto found = machine_.Find(FindRaplPerf);
    if (!found || !found->power || !found->refused.empty()) return {};
    EXPECT_EQ(found->power->channels()[0].meter.unit, "2^-32 J");
    EXPECT_EQ(found->power->channels()[0].meter.per_count, 0x1p-32);
    return NamesOf(found->power->channels());
  }
  TestMachine machine_;
};

TEST_F(TwoPackages, AreTwoPlaces) {
  const auto names = Names();
  if (names.empty()) GTEST_SKIP() << "perf_event_open is not allowed here";
  EXPECT_THAT(names, ElementsAre("CPU:0", "CPU:1", "DRAM:0", "DRAM:1"));
  machine_.WriteFile(kPmu + std::string("cpumask"), "0,1");
  EXPECT_EQ(Names(), names);
}

TEST_F(TwoPackages, OrTwoDiesOfOne) {
  SetPackage(1, 0, 1);
  const auto names = Names();
  if (names.empty()) GTEST_SKIP() << "perf_event_open is not allowed here";
  EXPECT_THAT(names, ElementsAre("CPU:0:die0", "CPU:0:die1", "DRAM:0:die0", "DRAM:0:die1"));
  // Each of AMD's dies would tell of the whole package.
  machine_.WriteFile("proc/cpuinfo", "vendor_id\t: AuthenticAMD");
  EXPECT_THAT(Names(), ElementsAre("CPU:0", "DRAM:0"));
}

TEST(RaplPerf, SaysWhyItIsRefused) {
  TestMachine machine;
  machine.WriteFile("proc/sys/kernel/perf_event_paranoid", "4");
  machine.WriteFile(kPmu + std::string("type"), "4294967295");  // no such PMU
  machine.WriteFile(kPmu + std::string("cpumask"), "0");
  AddEvent(machine, "energy-pkg", "event=0x02", "2.3283064365386962890625e-10");
  AddEvent(machine, "energy-psys", "event=0x05", "2.3283064365386962890625e-10");
  const auto found = machine.Find(FindRaplPerf);
  ASSERT_THAT(WhyRefused(found),
              AllOf(HasSubstr("2 of its counters"), HasSubstr("perf_event_paranoid is 4")));
  EXPECT_FALSE(found->refused[0].remedy.empty());
}

TEST(RaplPerf, PassesOverEventsThatCannotBeUnderstood) {
  TestMachine machine;
  machine.WriteFile(kPmu + std::string("type"), "1");
  AddEvent(machine, "energy-pkg", "config=banana", "1e-9");
  AddEvent(machine, "energy-ram", "event=0x00", "zero");
  AddEvent(machine, "energy-gpu", "event=", "1e-9");
  AddEvent(machine, "energy-cores", "event=0x00", "-1");
  EXPECT_THAT(WhyRefused(machine.Find(FindRaplPerf)), HasSubstr("no RAPL events"));
}

}  // namespace
}  // namespace beryl::sources
