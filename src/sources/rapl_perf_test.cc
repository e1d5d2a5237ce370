#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sources/machine_testing.h"

namespace beryl::sources {
namespace {

using ::testing::HasSubstr;

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
    EXPECT_THAT(found->refused[0].remedy, HasSubstr("cap_perfmon"));
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

TEST(RaplPerf, SaysWhyItIsRefused) {
  TestMachine machine;
  machine.WriteFile("proc/sys/kernel/perf_event_paranoid", "4");
  machine.WriteFile(kPmu + std::string("type"), "4294967295");  // no such PMU
  machine.WriteFile(kPmu + std::string("cpumask"), "0");
  AddEvent(machine, "energy-pkg", "event=0x02", "2.3283064365386962890625e-10");
  AddEvent(machine, "energy-psys", "event=0x05", "2.3283064365386962890625e-10");
  const auto found = machine.Find(FindRaplPerf);
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->power);
  ASSERT_EQ(found->refused.size(), 1U);
  EXPECT_THAT(found->refused[0].reason, HasSubstr("2 of its counters"));
  EXPECT_THAT(found->refused[0].reason, HasSubstr("perf_event_paranoid is 4"));
  EXPECT_FALSE(found->refused[0].remedy.empty());
}

TEST(RaplPerf, PassesOverEventsThatCannotBeUnderstood) {
  TestMachine machine;
  machine.WriteFile(kPmu + std::string("type"), "1");
  AddEvent(machine, "energy-pkg", "config=banana", "1e-9");
  AddEvent(machine, "energy-ram", "event=0x00", "zero");
  AddEvent(machine, "energy-gpu", "event=", "1e-9");
  AddEvent(machine, "energy-cores", "event=0x00", "-1");
  const auto found = machine.Find(FindRaplPerf);
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->power);
  EXPECT_THAT(found->refused[0].reason, HasSubstr("no RAPL events"));
}

}  // namespace
}  // namespace beryl::sources
