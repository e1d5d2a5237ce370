#include <unistd.h>

#include "base/matchers_for_test.h"
#include "sources/machine_testing.h"

namespace beryl::sources {
namespace {

TEST(RaplPowercap, TellsZonesByNameNotByIndex) {
  TestMachine machine;
  // psys comes first, dram is zone 0, packages are the wrong way round.
  machine.AddZone("intel-rapl:0", "psys", 10);
  machine.AddZone("intel-rapl:1", "package-1", 20);
  machine.AddZone("intel-rapl:2", "package-0", 30, 65532610987);
  machine.AddZone("intel-rapl:2:0", "dram", 40, 0);
  machine.AddZone("intel-rapl:2:1", "core", 50);
  machine.AddZone("intel-rapl:2:2", "uncore", 60);
  const auto found = machine.Find(FindRaplPowercap);
  ASSERT_TRUE(found && found->power);
  const auto& channels = found->power->channels();
  EXPECT_THAT(NamesOf(channels),
              ElementsAre("psys", "CPU:1", "CPU:0", "DRAM:0", "CORE:0", "UNCORE:0"));
  EXPECT_EQ(channels[2].meter.wrap, 65532610987U);
  EXPECT_EQ(channels[3].meter.wrap, std::nullopt);
  EXPECT_EQ(channels[3].scope, ChannelScope::kDram);
  EXPECT_EQ(channels[2].meter.unit, "uJ");
  const auto readings = ReadOnce(*found->power);
  EXPECT_EQ(readings[0].count, 10U);
  EXPECT_EQ(readings[3].count, 40U);
  EXPECT_TRUE(found->refused.empty());
}

TEST(RaplPowercap, CountsEachZoneOnceNestedAndFlat) {
  TestMachine machine;
  machine.AddZone("intel-rapl/intel-rapl:0", "package-0", 1);
  machine.AddZone("intel-rapl/intel-rapl:0/intel-rapl:0:0", "core", 2);
  machine.AddZone("intel-rapl/intel-rapl:0/intel-rapl:0:1", "dram", 3);
  const std::string folder = machine.Path("sys/class/powercap/");
  for (const char* zone : {"intel-rapl:0", "intel-rapl:0/intel-rapl:0:1"}) {
    const std::filesystem::path target = folder + "intel-rapl/" + zone;
    std::filesystem::create_directory_symlink(target, folder + target.filename().string());
  }
  // A loop, as `device` and `subsystem` links of /sys make.
  std::filesystem::create_directory_symlink(folder, folder + "intel-rapl/intel-rapl:0/rapl");
  const auto found = machine.Find(FindRaplPowercap);
  ASSERT_TRUE(found && found->power);
  EXPECT_THAT(NamesOf(found->power->channels()), UnorderedElementsAre("CPU:0", "CORE:0", "DRAM:0"));
  EXPECT_TRUE(found->duplicates.empty());
}

TEST(RaplPowercap, PartsOfAPackageHaveItsRange) {
  TestMachine machine;
  machine.AddZone("intel-rapl:0", "package-0", 1, 65532610987);
  machine.AddZone("intel-rapl:0:0", "core", 2, 0);
  machine.AddZone("intel-rapl:0:1", "dram", 3, 0);  // may count in another unit
  machine.AddZone("intel-rapl:1", "package-1", 4, 0);
  const auto found = machine.Find(FindRaplPowercap);
  ASSERT_TRUE(found && found->power);
  std::vector<std::optional<uint64_t>> wraps;
  for (const PowerChannel& channel : found->power->channels()) wraps.push_back(channel.meter.wrap);
  EXPECT_THAT(wraps, ElementsAre(65532610987U, 65532610987U, std::nullopt, std::nullopt));
}

TEST(RaplPowercap, AFileThatSaysNothingIsRefused) {
  struct Case {
    const char* text;
    const char* reason;
  };
  for (const Case& one :
       {Case{"", "energy_uj: it is empty"}, Case{"banana", "'banana' is not a number"},
        Case{"262143328851", "above its maximum"}}) {
    TestMachine machine;
    machine.AddZone("intel-rapl:0", "package-0", 1);
    machine.AddZone("intel-rapl:0:0", "core", 1);
    machine.WriteFile("sys/class/powercap/intel-rapl:0/energy_uj", one.text);
    const auto found = machine.Find(FindRaplPowercap);
    ASSERT_TRUE(found && found->power);
    EXPECT_THAT(NamesOf(found->power->channels()), ElementsAre("CORE:0"));
    ASSERT_EQ(found->refused.size(), 1U);
    EXPECT_THAT(found->refused[0].reason, HasSubstr("1 of 2 zones"));
    EXPECT_THAT(found->refused[0].reason, HasSubstr(one.reason));
  }
}

// Some kernels make a zone for each die of AMD's, all of which read what the package took.
TEST(RaplPowercap, DiesOfAmdsAreThePackage) {
  TestMachine machine;
  machine.WriteFile("proc/cpuinfo", "processor\t: 0\nvendor_id\t: AuthenticAMD");
  machine.AddZone("intel-rapl:0", "package-0-die-0", 1);
  machine.AddZone("intel-rapl:0:0", "core", 1);
  machine.AddZone("intel-rapl:1", "package-0-die-1", 1);
  machine.AddZone("intel-rapl:2", "package-1-die-0", 1);
  const auto found = machine.Find(FindRaplPowercap);
  ASSERT_TRUE(found && found->power);
  EXPECT_THAT(NamesOf(found->power->channels()), ElementsAre("CPU:0", "CORE:0", "CPU:1"));
  ASSERT_EQ(found->duplicates.size(), 1U);
  EXPECT_EQ(found->duplicates[0].reads, "intel-rapl:1/energy_uj");
}

TEST(RaplPowercap, DiesOfAPackageAreTheirOwn) {
  TestMachine machine;
  machine.AddZone("intel-rapl:0", "package-0-die-0", 1);
  machine.AddZone("intel-rapl:1", "package-0-die-1", 2);
  machine.AddZone("intel-rapl:1:0", "dram", 3);
  const auto found = machine.Find(FindRaplPowercap);
  ASSERT_TRUE(found && found->power);
  EXPECT_THAT(NamesOf(found->power->channels()),
              ElementsAre("CPU:0:die0", "CPU:0:die1", "DRAM:0:die1"));
}

TEST(RaplPowercap, MmioIsADuplicateUnlessMsrCannotBeRead) {
  TestMachine machine;
  machine.AddZone("intel-rapl-mmio:0", "package-0", 1);
  machine.AddZone("intel-rapl:0", "package-0", 2);
  const auto found = machine.Find(FindRaplPowercap);
  ASSERT_TRUE(found && found->power);
  ASSERT_EQ(found->power->channels().size(), 1U);
  EXPECT_EQ(found->power->channels()[0].meter.reads, "intel-rapl:0/energy_uj");
  ASSERT_EQ(found->duplicates.size(), 1U);
  EXPECT_EQ(found->duplicates[0].reads, "intel-rapl-mmio:0/energy_uj");
  EXPECT_EQ(found->duplicates[0].channel, "CPU:0");

  std::filesystem::remove(machine.Path("sys/class/powercap/intel-rapl:0/energy_uj"));
  const auto without = machine.Find(FindRaplPowercap);
  ASSERT_TRUE(without && without->power);
  EXPECT_EQ(without->power->channels()[0].meter.reads, "intel-rapl-mmio:0/energy_uj");
  ASSERT_EQ(without->refused.size(), 1U);
}

TEST(RaplPowercap, WhatPerfReadsIsADuplicate) {
  TestMachine machine;
  machine.AddZone("intel-rapl:0", "package-0", 2);
  machine.AddZone("intel-rapl:0:0", "dram", 2);
  PowerChannel taken;
  taken.name = "CPU:0";
  taken.meter.source = "rapl-perf";
  const auto found = machine.Find(FindRaplPowercap, {taken});
  ASSERT_TRUE(found && found->power);
  EXPECT_THAT(NamesOf(found->power->channels()), ElementsAre("DRAM:0"));
  EXPECT_THAT(found->duplicates[0].used, HasSubstr("rapl-perf"));
}

TEST(RaplPowercap, RefusesOnceWithTheRemedy) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may read everything";
  TestMachine machine;
  for (const char* zone : {"0", "1", "2"}) {
    machine.AddZone(std::string("intel-rapl:") + zone, std::string("package-") + zone, 1);
    std::filesystem::permissions(
        machine.Path(std::string("sys/class/powercap/intel-rapl:") + zone + "/energy_uj"),
        std::filesystem::perms::none);
  }
  const auto found = machine.Find(FindRaplPowercap);
  ASSERT_THAT(WhyRefused(found), AllOf(HasSubstr("3 of 3 zones"), HasSubstr("CVE-2020-8694")));
  EXPECT_THAT(found->refused[0].remedy, HasSubstr("udev"));
  EXPECT_THAT(found->refused[0].remedy, HasSubstr("setcap"));
  EXPECT_THAT(found->refused[0].remedy, HasSubstr("beryl monitor"));
}

TEST(RaplPowercap, SurvivesFoldersInPlaceOfFiles) {
  TestMachine machine;
  machine.AddZone("intel-rapl:0", "package-0", 2);
  machine.AddZone("intel-rapl:1", "package-1", 2);
  std::filesystem::remove(machine.Path("sys/class/powercap/intel-rapl:0/energy_uj"));
  std::filesystem::create_directory(machine.Path("sys/class/powercap/intel-rapl:0/energy_uj"));
  machine.WriteFile("sys/class/powercap/intel-rapl:2", "not a folder");
  machine.WriteFile("sys/class/powercap/intel-rapl:3/energy_uj", "1");  // no name
  const auto found = machine.Find(FindRaplPowercap);
  ASSERT_TRUE(found && found->power);
  EXPECT_THAT(NamesOf(found->power->channels()), ElementsAre("CPU:1", "intel-rapl:3:unnamed"));
  EXPECT_THAT(found->refused[0].reason, HasSubstr("1 of 3 zones"));
}

TEST(RaplPowercap, NothingThereIsSaid) {
  TestMachine machine;
  const auto found = machine.Find(FindRaplPowercap);
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->power);
  ASSERT_EQ(found->refused.size(), 1U);
  EXPECT_THAT(found->refused[0].remedy, HasSubstr("modprobe"));
}

}  // namespace
}  // namespace beryl::sources
