#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): setenv

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sources/machine_testing.h"
#include "sources/nvml_library.h"

namespace beryl::sources {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Nvml : public ::testing::Test {
 protected:
  void SetUp() override {
    machine_.machine().nvml = BERYL_STANDIN_NVML_LIBRARY;
    Describe("");
    ::setenv("BERYL_STANDIN_NVML", machine_.Path("gpus").c_str(), 1);
  }
  void TearDown() override { ::unsetenv("BERYL_STANDIN_NVML"); }
  void Describe(const std::string& text) { machine_.WriteFile("gpus", text); }

  TestMachine machine_;
};

TEST(NvmlLayout, IsThatOfTheLibrary) {
  EXPECT_EQ(sizeof(nvml::Pci), 68U);
  EXPECT_EQ(sizeof(nvml::Process), 24U);
  EXPECT_EQ(sizeof(nvml::ProcessUtilization), 32U);
  EXPECT_EQ(sizeof(nvml::FieldValue), 40U);
  EXPECT_EQ(offsetof(nvml::FieldValue, value), 32U);
  EXPECT_EQ(offsetof(nvml::ProcessUtilization, sm_util), 16U);
}

TEST_F(Nvml, ReadsTheEnergyCounterWhereThereIsOne) {
  Describe("gpus 2\ngpu 1\nname NVIDIA A100\nbus 00000000:41:00.0");
  const auto found = machine_.Find(FindNvml);
  ASSERT_TRUE(found && found->power);
  const auto& channels = found->power->channels();
  EXPECT_THAT(NamesOf(channels), ElementsAre("GPU:0", "GPU:1"));
  EXPECT_EQ(channels[1].kind, ChannelKind::kEnergyCounter);
  EXPECT_EQ(channels[1].meter.unit, "mJ");
  EXPECT_EQ(channels[1].meter.reads, "energy counter of NVIDIA A100 [00000000:41:00.0]");
  EXPECT_EQ(GpuBusId(channels[1]), "00000000:41:00.0");
  EXPECT_EQ(GpuBusId(channels[0]), "00000000:01:00.0");
  EXPECT_EQ(ReadOnce(*found->power)[1].state, ReadState::kOk);
  auto* const opinion = dynamic_cast<SecondOpinion*>(found->power.get());
  ASSERT_TRUE(opinion);
  EXPECT_DOUBLE_EQ(opinion->OtherWatts(0), 150);
}

TEST_F(Nvml, DegradesToWhatTheGpuHas) {
  Describe("energy 0\npower_mw 70000");
  auto found = machine_.Find(FindNvml);
  ASSERT_TRUE(found && found->power);
  EXPECT_THAT(found->power->channels()[0].meter.reads, HasSubstr("instant power"));
  EXPECT_EQ(found->power->channels()[0].kind, ChannelKind::kPowerGauge);
  EXPECT_EQ(ReadOnce(*found->power)[0].count, 70000U);
  Describe("energy 0\ninstant 0\npower_mw 70000");
  found = machine_.Find(FindNvml);
  ASSERT_TRUE(found && found->power);
  EXPECT_THAT(found->power->channels()[0].meter.reads, HasSubstr("lags behind"));
  EXPECT_EQ(ReadOnce(*found->power)[0].count, 70000U);
  Describe("energy 0\ninstant 0\npower 0");
  found = machine_.Find(FindNvml);
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->power);
  ASSERT_EQ(found->refused.size(), 1U);
  EXPECT_THAT(found->refused[0].reason, HasSubstr("Not Supported"));
}

TEST_F(Nvml, ACounterThatIsNotBelievedIsPassedOver) {
  machine_.distrusted() = {{"nvml", "energy counter of Stand-in GPU [00000000:01:00.0]"}};
  const auto found = machine_.Find(FindNvml);
  ASSERT_TRUE(found && found->power);
  EXPECT_THAT(found->power->channels()[0].meter.reads, HasSubstr("instant power"));
}

TEST_F(Nvml, AGpuThatIsLostIsGoneAndMayComeBack) {
  const auto found = machine_.Find(FindNvml);
  ASSERT_TRUE(found && found->power);
  Describe("status 15");
  EXPECT_EQ(ReadOnce(*found->power)[0].state, ReadState::kGone);
  Describe("status 10  # of another size");
  EXPECT_EQ(ReadOnce(*found->power)[0].state, ReadState::kRetry);
  Describe("");
  EXPECT_EQ(ReadOnce(*found->power)[0].state, ReadState::kOk);
}

TEST_F(Nvml, TellsHowBusyItIsAndWhoseItIs) {
  Describe("util 73\nmemory_mb 10 40\nclocks 1400 1200\nprocess 42 60\nprocess 43 20");
  const auto found = machine_.Find(FindNvml);
  ASSERT_TRUE(found);
  ASSERT_EQ(found->features.size(), 1U);
  FeatureSource& features = *found->features[0];
  ASSERT_EQ(features.columns().size(), 5U);
  EXPECT_EQ(features.columns()[0].name, "gpu_util");
  EXPECT_EQ(features.columns()[0].device, "GPU:0");
  std::vector<double> row(5);
  const std::vector<int32_t> ours = {42};
  features.Read(ours, row);
  EXPECT_THAT(row, ElementsAre(73, 25, 1400, 1200, 0.75));
  const std::vector<int32_t> both = {43, 42};
  features.Read(both, row);
  EXPECT_EQ(row[4], 1);
  features.Read({}, row);
  EXPECT_EQ(row[4], 0);
  Describe("process 42 0\nprocess 43 0");
  features.Read(ours, row);
  EXPECT_TRUE(std::isnan(row[4]));
  Describe("status 15");
  features.Read(ours, row);
  for (const double value : row) EXPECT_TRUE(std::isnan(value));
}

TEST_F(Nvml, SaysWhatTheSystemSaidWithoutALibrary) {
  machine_.machine().nvml = machine_.Path("none.so");
  auto found = machine_.Find(FindNvml);
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->power);
  ASSERT_EQ(found->refused.size(), 1U);
  EXPECT_THAT(found->refused[0].reason, HasSubstr("none.so"));
  EXPECT_THAT(found->refused[0].remedy, HasSubstr("--gpus all"));
  // A library, but another one.
  machine_.machine().nvml = "libc.so.6";
  found = machine_.Find(FindNvml);
  EXPECT_THAT(found->refused[0].reason, HasSubstr("nvmlInit_v2"));
  // No library at all.
  machine_.machine().nvml = machine_.Path("gpus");
  found = machine_.Find(FindNvml);
  EXPECT_FALSE(found->refused[0].reason.empty());
}

TEST_F(Nvml, ADriverWithoutGpusIsSaid) {
  Describe("gpus 0");
  const auto found = machine_.Find(FindNvml);
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->power);
  EXPECT_THAT(found->refused[0].reason, HasSubstr("no GPU"));
}

}  // namespace
}  // namespace beryl::sources
