#include <string>
#include <utility>
#include <vector>

#include "base/matchers_for_test.h"
#include "sources/machine_testing.h"

namespace beryl::sources {
namespace {

using Files = std::vector<std::pair<std::string, std::string>>;  // names and contents

void AddDevice(const TestMachine& machine, const std::string& folder, const Files& files) {
  for (const auto& [name, content] : files) {
    machine.WriteFile("sys/class/" + folder + "/" + name, content);
  }
}

TEST(Hwmon, AmdGpusComeAfterNvidias) {
  TestMachine machine;
  AddDevice(machine, "hwmon/hwmon3",
            {{"name", "amdgpu"}, {"power1_average", "35000000"}, {"power1_input", "36000000"}});
  AddDevice(machine, "hwmon/hwmon10",
            {{"name", "amdgpu"}, {"energy1_input", "1000"}, {"power1_input", "37000000"}});
  PowerChannel nvidia;
  nvidia.name = "GPU:0";
  const auto found = machine.Find(FindHwmon, {nvidia});
  ASSERT_TRUE(found && found->power);
  const auto& channels = found->power->channels();
  EXPECT_THAT(NamesOf(channels), ElementsAre("GPU:1", "GPU:2"));
  EXPECT_EQ(channels[0].kind, ChannelKind::kPowerGauge);
  EXPECT_THAT(channels[0].meter.reads, HasSubstr("power1_average"));
  EXPECT_EQ(channels[1].kind, ChannelKind::kEnergyCounter);
  EXPECT_EQ(found->duplicates.size(), 2U);
  EXPECT_EQ(ReadOnce(*found->power)[0].count, 35000000U);
  auto* const opinion = dynamic_cast<SecondOpinion*>(found->power.get());
  ASSERT_TRUE(opinion);
  EXPECT_DOUBLE_EQ(opinion->OtherWatts(1), 37);
}

TEST(Hwmon, AmdSocketsArePackages) {
  TestMachine machine;
  AddDevice(machine, "hwmon/hwmon0",
            {{"name", "amd_energy"},
             {"energy1_input", "1"},
             {"energy1_label", "Ecore000"},
             {"energy65_input", "5"},
             {"energy65_label", "Esocket0"},
             {"energy66_input", "6"},
             {"energy66_label", "Esocket1"}});
  PowerChannel rapl;
  rapl.name = "CPU:1";
  rapl.meter.source = "rapl-powercap";
  const auto found = machine.Find(FindHwmon, {rapl});
  ASSERT_TRUE(found && found->power);
  EXPECT_THAT(NamesOf(found->power->channels()), ElementsAre("CPU:0"));
  ASSERT_EQ(found->duplicates.size(), 1U);
  EXPECT_EQ(found->duplicates[0].channel, "CPU:1");
  EXPECT_THAT(found->duplicates[0].used, HasSubstr("rapl-powercap"));
}

TEST(Hwmon, BoardsAndRails) {
  TestMachine machine;
  AddDevice(machine, "hwmon/hwmon0",
            {{"name", "power_meter"},
             {"power1_average", "250000000"},
             {"power1_average_interval", "1000"}});
  AddDevice(machine, "hwmon/hwmon1",
            {{"name", "ina3221"},
             {"power1_input", "9000000"},
             {"power1_label", "VDD_IN"},
             {"power2_input", "3000000"},
             {"power2_label", "VDD_CPU_GPU_CV"}});
  AddDevice(machine, "hwmon/hwmon2", {{"name", "coretemp"}, {"temp1_input", "40000"}});
  AddDevice(machine, "hwmon/hwmon3", {{"name", "BAT0"}, {"power1_input", "40000"}});
  machine.WriteFile("sys/class/power_supply/BAT0/type", "Battery");
  std::filesystem::create_directories(machine.Path("sys/class/hwmon/hwmon1/power3_input"));
  const auto found = machine.Find(FindHwmon);
  ASSERT_TRUE(found && found->power);
  const auto& channels = found->power->channels();
  EXPECT_THAT(NamesOf(channels), UnorderedElementsAre("wall", "psys", "ina3221:VDD_CPU_GPU_CV"));
  EXPECT_EQ(channels[0].name, "wall");
  EXPECT_EQ(channels[0].meter.update_period_us, 1e6);
  EXPECT_EQ(channels[0].meter.lag, Seconds{0.5});
  EXPECT_EQ(channels[1].meter.lag, Seconds{});
  ASSERT_EQ(found->refused.size(), 1U);
  EXPECT_THAT(found->refused[0].reason, HasSubstr("1 sensor"));
}

TEST(Hwmon, AFileThatSaysNothingIsRefused) {
  TestMachine machine;
  AddDevice(machine, "hwmon/hwmon0", {{"name", "amdgpu"}, {"power1_average", ""}});
  EXPECT_THAT(WhyRefused(machine.Find(FindHwmon)), HasSubstr("it is empty"));
}

TEST(Hwmon, NothingThereIsNotWorthAWord) {
  TestMachine machine;
  const auto found = machine.Find(FindHwmon);
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->power);
  EXPECT_TRUE(found->refused.empty());
}

TEST(Battery, IsReadWhileItGives) {
  TestMachine machine;
  AddDevice(machine, "power_supply/AC", {{"type", "Mains"}});
  AddDevice(machine, "power_supply/BAT0",
            {{"type", "Battery"}, {"status", "Discharging"}, {"power_now", "7500000"}});
  AddDevice(machine, "power_supply/BAT1",
            {{"type", "Battery"},
             {"status", "Discharging"},
             {"current_now", "500000"},
             {"voltage_now", "12000000"}});
  AddDevice(machine, "power_supply/mouse",
            {{"type", "Battery"}, {"scope", "Device"}, {"status", "Discharging"}});
  const auto found = machine.Find(FindBattery);
  ASSERT_TRUE(found && found->power);
  EXPECT_THAT(NamesOf(found->power->channels()), ElementsAre("battery"));
  EXPECT_EQ(found->power->channels()[0].scope, ChannelScope::kWall);
  const MeterReading reading = ReadOnce(*found->power)[0];
  EXPECT_EQ(reading.state, ReadState::kOk);
  EXPECT_EQ(reading.count, 13500000U);
  EXPECT_TRUE(found->refused.empty());
  // Some drivers say by the sign that it is discharging.
  machine.WriteFile("sys/class/power_supply/BAT0/power_now", "-7500000");
  machine.WriteFile("sys/class/power_supply/BAT1/current_now", "-500000");
  EXPECT_EQ(ReadOnce(*found->power)[0].count, 13500000U);
  // One after the other.
  machine.WriteFile("sys/class/power_supply/BAT0/status", "Not charging");
  EXPECT_EQ(ReadOnce(*found->power)[0].count, 6000000U);
  // On mains it is charged, and no part of what the machine takes.
  machine.WriteFile("sys/class/power_supply/BAT0/status", "Charging");
  EXPECT_EQ(ReadOnce(*found->power)[0].state, ReadState::kGone);
  machine.WriteFile("sys/class/power_supply/BAT0/status", "Full");
  machine.WriteFile("sys/class/power_supply/BAT1/status", "Unknown");
  EXPECT_EQ(ReadOnce(*found->power)[0].state, ReadState::kGone);
  machine.WriteFile("sys/class/power_supply/BAT0/status", "Discharging");
  EXPECT_EQ(ReadOnce(*found->power)[0].count, 7500000U);
}

TEST(Battery, OneThatRestsTakesOverLater) {
  TestMachine machine;
  for (const char* battery : {"power_supply/BAT0", "power_supply/BAT1"}) {
    AddDevice(machine, battery,
              {{"type", "Battery"}, {"status", "Not charging"}, {"power_now", "7500000"}});
  }
  machine.WriteFile("sys/class/power_supply/BAT1/status", "Discharging");
  const auto found = machine.Find(FindBattery);
  ASSERT_TRUE(found && found->power);
  EXPECT_TRUE(found->refused.empty());
  EXPECT_EQ(ReadOnce(*found->power)[0].count, 7500000U);
  machine.WriteFile("sys/class/power_supply/BAT1/status", "Not charging");
  machine.WriteFile("sys/class/power_supply/BAT0/status", "Discharging");
  EXPECT_EQ(ReadOnce(*found->power)[0].count, 7500000U);
}

TEST(Battery, OneThatDoesNotTellSpoilsTheSum) {
  TestMachine machine;
  for (const char* battery : {"power_supply/BAT0", "power_supply/BAT1"}) {
    AddDevice(machine, battery, {{"type", "Battery"}, {"status", "Discharging"}});
  }
  machine.WriteFile("sys/class/power_supply/BAT0/power_now", "7500000");
  EXPECT_THAT(WhyRefused(machine.Find(FindBattery)), HasSubstr("BAT1"));
}

TEST(Battery, OnMainsItIsRefused) {
  TestMachine machine;
  machine.WriteFile("sys/class/power_supply/BAT0/type", "Battery");
  machine.WriteFile("sys/class/power_supply/BAT0/status", "Charging");
  machine.WriteFile("sys/class/power_supply/BAT0/power_now", "7500000");
  EXPECT_THAT(WhyRefused(machine.Find(FindBattery)), HasSubstr("Charging"));
}

}  // namespace
}  // namespace beryl::sources
