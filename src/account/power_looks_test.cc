#include "account/power_looks.h"

#include "base/matchers_for_test.h"
#include "types/unknown.h"

namespace beryl::account {
namespace {

Nanos At(int64_t seconds) { return Nanos{seconds * 1'000'000'000}; }

// A second in which a package uses so much.
Measurement Second(std::optional<Joules> energy, double ours_j = 0, double ours_s = 0) {
  Measurement stretch;
  stretch.duration = Seconds{1};
  DeviceEnergy device;
  device.device = "CPU:0";
  device.energy = energy;
  if (energy) {
    device.mean_power = *energy / Seconds{1};
    device.known_time = Seconds{1};
    device.split.ours = Joules{ours_j};
    stretch.total.energy = energy;
    stretch.total.ours = Joules{ours_j};
  }
  stretch.devices = {device};
  stretch.processes = {{7, "small", TaskOwner::kWatched, 1, Seconds{ours_s / 4}, {ours_j / 4}},
                       {8, "large", TaskOwner::kWatched, 2, Seconds{ours_s}, {ours_j}},
                       {9, "asleep", TaskOwner::kWatched, 1, Seconds{}, {0}},
                       {10, "beryl", TaskOwner::kRecorder, 1, Seconds{0.01}, {0.1}}};
  return stretch;
}

TEST(PowerLooks, PowerIsNowAndEnergyIsSinceTheFirst) {
  PowerLooks looks;
  looks.Next(Second(Joules{10}, 4, 0.5), At(1));
  const PowerLook look = looks.Next(Second(Joules{20}, 8, 1), At(2));
  EXPECT_EQ(look.time, At(2));
  EXPECT_NEAR(look.elapsed.value, 2, 1e-9);
  ASSERT_EQ(look.devices.size(), 1u);
  EXPECT_NEAR(ValueOrNan(look.devices[0].power), 20, 1e-9);
  EXPECT_NEAR(ValueOrNan(look.devices[0].ours), 8, 1e-9);
  EXPECT_NEAR(ValueOrNan(look.devices[0].energy), 30, 1e-9);
  EXPECT_NEAR(ValueOrNan(look.power), 20, 1e-9);
  EXPECT_NEAR(ValueOrNan(look.our_energy), 12, 1e-9);
  ASSERT_EQ(look.processes.size(), 3u) << "one is asleep";
  EXPECT_EQ(look.processes[0].name, "large");
  EXPECT_NEAR(look.processes[0].cpus, 1, 1e-9);
  EXPECT_NEAR(ValueOrNan(look.processes[0].power), 8, 1e-9);
  EXPECT_NEAR(ValueOrNan(look.processes[0].energy), 12, 1e-9);
  EXPECT_FALSE(look.processes[2].is_ours);
}

TEST(PowerLooks, ASlowMeterKeepsItsPowerForAWhileAndThenIsUnknown) {
  PowerLooks looks;
  EXPECT_FALSE(looks.Next(Second(std::nullopt), At(1)).power) << "never 0";
  looks.Next(Second(Joules{10}), At(2));
  PowerLook look = looks.Next(Second(std::nullopt), At(3));
  EXPECT_NEAR(ValueOrNan(look.power), 10, 1e-9);
  EXPECT_NEAR(ValueOrNan(look.devices[0].energy), 10, 1e-9) << "nothing is added for it";
  look = looks.Next(Second(std::nullopt), At(12));
  EXPECT_TRUE(look.power);
  look = looks.Next(Second(std::nullopt), At(13));
  EXPECT_FALSE(look.power);
}

// The first CPU times of a stretch are from before its power.
TEST(PowerLooks, PowerIsOverTheTimeThatTheMetersTold) {
  PowerLooks looks;
  Measurement stretch = Second(Joules{10}, 4, 1);
  stretch.duration = Seconds{1.25};
  const PowerLook look = looks.Next(stretch, At(1));
  EXPECT_NEAR(look.duration.value, 1, 1e-9);
  EXPECT_NEAR(look.elapsed.value, 1, 1e-9);
  EXPECT_NEAR(ValueOrNan(look.processes[0].power), 4, 1e-9);
  EXPECT_NEAR(look.processes[0].cpus, 0.8, 1e-9) << "over the time of the CPUs";
}

TEST(PowerLooks, ANumberThatAnotherProcessGotStartsAnew) {
  PowerLooks looks;
  looks.Next(Second(Joules{10}, 4, 1), At(1));
  Measurement stretch = Second(Joules{10}, 4, 1);
  stretch.processes[1].name = "another";
  const PowerLook look = looks.Next(stretch, At(2));
  EXPECT_EQ(look.processes[0].name, "another");
  EXPECT_NEAR(ValueOrNan(look.processes[0].energy), 4, 1e-9);
}

}  // namespace
}  // namespace beryl::account
