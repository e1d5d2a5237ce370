#include "sources/processor_features.h"

#include <cmath>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sources/machine_testing.h"

namespace beryl::sources {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;

class ProcessorFeaturesTest : public testing::Test {
 protected:
  void Clock(int policy, const std::string& khz) const {
    machine_.WriteFile(
        fmt::format("sys/devices/system/cpu/cpufreq/policy{}/scaling_cur_freq", policy), khz);
  }
  void Chip(int number, const std::string& name, int sensor, const std::string& value) const {
    const std::string folder = fmt::format("sys/class/hwmon/hwmon{}", number);
    machine_.WriteFile(folder + "/name", name);
    machine_.WriteFile(fmt::format("{}/temp{}_input", folder, sensor), value);
  }
  static std::vector<double> ReadFrom(FeatureSource& source) {
    std::vector<double> row(source.columns().size());
    source.Read({}, row);
    return row;
  }

  TestMachine machine_;
};

TEST_F(ProcessorFeaturesTest, AreTheMeanClockAndTheHottestPackage) {
  Clock(0, "2000000");
  Clock(1, "3000000");
  Chip(0, "nvme", 1, "90000");
  Chip(1, "coretemp", 1, "61000");
  Chip(1, "coretemp", 2, "99000");  // one core
  Chip(2, "coretemp", 1, "64500");
  const auto source = MakeProcessorFeatures(machine_.machine(), Nanos{});
  ASSERT_TRUE(source);
  ASSERT_EQ(source->columns().size(), 2U);
  EXPECT_EQ(source->columns()[0].name, "c_clk");
  EXPECT_EQ(source->columns()[1].name, "c_temp");
  EXPECT_EQ(source->columns()[1].device, "");
  EXPECT_THAT(ReadFrom(*source), ElementsAre(DoubleNear(2500, 1e-9), DoubleNear(64.5, 1e-9)));
  Clock(0, "1000000");
  Chip(2, "coretemp", 1, "60000");
  EXPECT_THAT(ReadFrom(*source), ElementsAre(DoubleNear(2000, 1e-9), DoubleNear(61, 1e-9)));
  // A processor that is off line has no clock.
  Clock(0, "<unknown>");
  EXPECT_NEAR(ReadFrom(*source)[0], 3000, 1e-9);
  Clock(1, "");
  EXPECT_TRUE(std::isnan(ReadFrom(*source)[0]));
}

TEST_F(ProcessorFeaturesTest, AClockCountsAsMuchAsItsProcessorWasBusy) {
  Clock(0, "4000000");
  Clock(1, "1000000");
  const auto source = MakeProcessorFeatures(machine_.machine(), Nanos{});
  ASSERT_TRUE(source);
  EXPECT_NEAR(ReadFrom(*source)[0], 2500, 1e-9) << "both idle";
  machine_.WriteFile("proc/stat",
                     "cpu  200 0 0 900 0 0 0 0 0 0\ncpu0 140 0 0 450 0 0 0 0 0 0\n"
                     "cpu1 60 0 0 450 0 0 0 0 0 0\nintr 1\n");
  EXPECT_NEAR(ReadFrom(*source)[0], 0.9 * 4000 + 0.1 * 1000, 1e-9);
}

TEST_F(ProcessorFeaturesTest, AreReadSeldom) {
  Clock(0, "2000000");
  const auto source = MakeProcessorFeatures(machine_.machine(), Nanos{3'600'000'000'000});
  ASSERT_TRUE(source);
  ASSERT_EQ(source->columns().size(), 1U) << "no temperature is none";
  Clock(0, "3000000");
  EXPECT_THAT(ReadFrom(*source), ElementsAre(DoubleNear(2000, 1e-9)));
}

TEST_F(ProcessorFeaturesTest, OfManyProcessorsSomeAreRead) {
  for (int policy = 0; policy < 128; ++policy) Clock(policy, policy < 64 ? "1000000" : "2000000");
  const auto source = MakeProcessorFeatures(machine_.machine(), Nanos{});
  ASSERT_TRUE(source);
  EXPECT_THAT(ReadFrom(*source), ElementsAre(DoubleNear(1500, 1e-9)));
}

TEST_F(ProcessorFeaturesTest, AMachineMayTellNeither) {
  EXPECT_EQ(MakeProcessorFeatures(machine_.machine()), nullptr);
  Chip(0, "nvme", 1, "90000");
  Chip(1, "coretemp", 1, "hot");
  Clock(0, "<unknown>");
  EXPECT_EQ(MakeProcessorFeatures(machine_.machine()), nullptr);
}

}  // namespace
}  // namespace beryl::sources
