#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): setenv

#include <cmath>

#include "base/matchers_for_test.h"
#include "sources/machine_testing.h"
#include "sources/nvml_library.h"

namespace beryl::sources {
namespace {

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
  EXPECT_EQ(nvml::kProcessSizeV1, 16U);
  EXPECT_EQ(nvml::kProcessSizeV2, 24U);
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
  EXPECT_THAT(found->power->channels()[0].meter.reads, HasSubstr("on many boards"));
  EXPECT_EQ(found->power->channels()[0].meter.lag, Seconds{});
  EXPECT_EQ(ReadOnce(*found->power)[0].count, 70000U);
  Describe("energy 0\ninstant 0\npower 0");
  EXPECT_THAT(WhyRefused(machine_.Find(FindNvml)), HasSubstr("Not Supported"));
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
  // Transient errors, then permanent and unknown ones.
  for (const int status : {10, 19, 20, 21, 23, 27}) {
    Describe("status " + std::to_string(status) + std::string(static_cast<size_t>(status), ' '));
    EXPECT_EQ(ReadOnce(*found->power)[0].state, ReadState::kRetry) << status;
  }
  for (const int status : {1, 2, 3, 4, 9, 11, 16, 17, 18, 28, 29, 999}) {
    Describe("status " + std::to_string(status) + std::string(static_cast<size_t>(status), ' '));
    EXPECT_EQ(ReadOnce(*found->power)[0].state, ReadState::kGone) << status;
  }
  Describe("");
  EXPECT_EQ(ReadOnce(*found->power)[0].state, ReadState::kOk);
}

TEST_F(Nvml, AnAverageIsReadBack) {
  struct Board {
    const char* text;
    Seconds lag;
    const char* reads;
  };
  for (const Board& board : {
           Board{"average 1\narch 7", Seconds{0.5}, "average power of"},
           Board{"arch 7\nname NVIDIA RTX A4000", Seconds{0.5}, "power of NVIDIA RTX A4000"},
           Board{"arch 7\nname NVIDIA GeForce RTX 3090", Seconds{0.5},
                 "read back by half a second"},
           Board{"arch 7\nname NVIDIA A3000 Laptop", Seconds{0.5}, "read back by half a second"},
           Board{"arch 9\nname NVIDIA H100 PCIe", Seconds{0.5}, "read back by half a second"},
           Board{"arch 7\nname NVIDIA A100-SXM4-40GB", Seconds{},
                 "power of NVIDIA A100-SXM4-40GB ["},
           Board{"arch 7\nname NVIDIA A800 80GB PCIe", Seconds{}, "power of NVIDIA A800"},
           Board{"arch 7\nname NVIDIA A30", Seconds{}, "power of NVIDIA A30 ["},
           Board{"arch 7\nname NVIDIA CMP 170HX", Seconds{}, "power of NVIDIA CMP 170HX ["},
           Board{"arch 6\nname NVIDIA T4", Seconds{}, "power of NVIDIA T4 ["},
           Board{"name NVIDIA something", Seconds{}, "on many boards the average"},
       }) {
    Describe(std::string("energy 0\ninstant 0\n") + board.text);
    const auto found = machine_.Find(FindNvml);
    ASSERT_TRUE(found && found->power);
    const MeterTraits& meter = found->power->channels()[0].meter;
    EXPECT_EQ(meter.lag, board.lag) << board.text;
    EXPECT_THAT(meter.reads, HasSubstr(board.reads)) << board.text;
  }
}

TEST_F(Nvml, GpusWithoutAnAddressAreToldApart) {
  Describe("gpus 2\nbus none\nname Twin");
  const auto found = machine_.Find(FindNvml);
  ASSERT_TRUE(found && found->power);
  EXPECT_EQ(found->power->channels()[0].meter.reads, "energy counter of Twin (GPU 0)");
  EXPECT_EQ(found->power->channels()[1].meter.reads, "energy counter of Twin (GPU 1)");
  EXPECT_EQ(GpuBusId(found->power->channels()[1]), "");
}

TEST_F(Nvml, OldLibrariesHaveOtherNames) {
  machine_.machine().nvml = BERYL_STANDIN_NVML_OLD_LIBRARY;
  Describe("gpus 2\npower_mw 70000\nprocess 42 1\nprocess 43 1\ngraphics 44 1");
  machine_.WriteFile("proc/42/stat", "");
  const auto found = machine_.Find(FindNvml);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->refused.empty());
  ASSERT_TRUE(found->power);
  EXPECT_EQ(ReadOnce(*found->power)[1].count, 70000U);
  EXPECT_EQ(GpuBusId(found->power->channels()[1]), "00000000:02:00.0");
  // What they say of a process is shorter.
  ASSERT_EQ(found->features.size(), 1U);
  std::vector<double> row(12);
  const std::vector<int32_t> all = {42, 43, 44};
  found->features[0]->Read(all, row);
  EXPECT_EQ(row[5], 1);
}

TEST_F(Nvml, IsInitializedOnce) {
  auto first = machine_.Find(FindNvml);
  const auto second = machine_.Find(FindNvml);
  ASSERT_TRUE(first && first->power && second && second->power);
  *first = {};
  EXPECT_EQ(ReadOnce(*second->power)[0].state, ReadState::kOk);
}

TEST_F(Nvml, KeepsTheChannelsItIsTold) {
  Describe("gpus 3");
  const auto found = machine_.Find(FindNvml);
  ASSERT_TRUE(found && found->power);
  const std::vector<size_t> places = {1};
  dynamic_cast<Divisible*>(found->power.get())->KeepOnly(places);
  EXPECT_THAT(NamesOf(found->power->channels()), ElementsAre("GPU:1"));
  EXPECT_EQ(ReadOnce(*found->power)[0].state, ReadState::kOk);
}

TEST_F(Nvml, ListsOnlyFeaturesThatAnswer) {
  Describe("gpus 2\ngpu 0\nfeatures 0");
  const auto found = machine_.Find(FindNvml);
  ASSERT_TRUE(found);
  ASSERT_EQ(found->features.size(), 1U);
  for (const FeatureColumn& column : found->features[0]->columns()) {
    EXPECT_EQ(column.device, "GPU:1");
  }
  EXPECT_EQ(found->features[0]->columns().size(), 6U);
  std::vector<double> row(6);
  found->features[0]->Read({}, row);
  EXPECT_EQ(row[0], 80);
  Describe("features 0");
  EXPECT_TRUE(machine_.Find(FindNvml)->features.empty());
}

TEST_F(Nvml, WhoseItIsNeedNotBeTold) {
  const auto found = machine_.Find(FindNvml);
  ASSERT_TRUE(found);
  ASSERT_EQ(found->features.size(), 1U);
  std::vector<double> row(6);
  const std::vector<int32_t> ours = {42};
  const auto share = [&](const std::string& text) {
    Describe(text);
    found->features[0]->Read(ours, row);
    return row[5];
  };
  EXPECT_EQ(share("util 0"), 0);
  EXPECT_TRUE(std::isnan(share("util 7  # in a container nobody is listed")));
  EXPECT_TRUE(std::isnan(share("process 4711 60  # or processes that are not here")));
  machine_.WriteFile("proc/4711/stat", "");
  EXPECT_EQ(share("process 4711 60"), 0);
  EXPECT_EQ(share("process 42 60"), 1);
  // Who draws on it counts too; one that does both is one.
  EXPECT_EQ(share("process 42 60\ngraphics 42 60"), 1);
  EXPECT_EQ(share("process 42 60\ngraphics 4711 20"), 0.75);
  EXPECT_EQ(share("graphics 4711 20"), 0);
}

TEST_F(Nvml, TellsHowBusyItIsAndWhoseItIs) {
  machine_.WriteFile("proc/42/stat", "");
  Describe("util 73\nmemory_mb 10 40\nclocks 1400 1200\ntemp 61\nprocess 42 60\nprocess 43 20");
  const auto found = machine_.Find(FindNvml);
  ASSERT_TRUE(found);
  ASSERT_EQ(found->features.size(), 1U);
  FeatureSource& features = *found->features[0];
  ASSERT_EQ(features.columns().size(), 6U);
  EXPECT_EQ(features.columns()[0].name, "gpu_util");
  EXPECT_EQ(features.columns()[0].device, "GPU:0");
  std::vector<double> row(6);
  const std::vector<int32_t> ours = {42};
  features.Read(ours, row);
  EXPECT_THAT(row, ElementsAre(73, 25, 1400, 1200, 61, 0.75));
  const std::vector<int32_t> both = {43, 42};
  features.Read(both, row);
  EXPECT_EQ(row[5], 1);
  features.Read({}, row);
  EXPECT_EQ(row[5], 0);
  Describe("process 42 0\nprocess 43 0\ntemp 90");
  features.Read(ours, row);
  EXPECT_TRUE(std::isnan(row[5]));
  EXPECT_EQ(row[4], 61) << "asked for once a second";
  Describe("status 15");
  features.Read(ours, row);
  row.erase(row.begin() + 4);
  for (const double value : row) EXPECT_TRUE(std::isnan(value));
}

TEST_F(Nvml, SaysWhatTheSystemSaidWithoutALibrary) {
  machine_.machine().nvml = machine_.Path("none.so");
  auto found = machine_.Find(FindNvml);
  ASSERT_THAT(WhyRefused(found), HasSubstr("none.so"));
  EXPECT_THAT(found->refused[0].remedy, HasSubstr("--gpus all"));
  // A library, but another one.
  machine_.machine().nvml = "libc.so.6";
  found = machine_.Find(FindNvml);
  EXPECT_THAT(found->refused[0].reason, HasSubstr("libc.so.6 was loaded, but has no nvmlInit"));
  EXPECT_THAT(found->refused[0].remedy, Not(HasSubstr("no NVIDIA driver is installed")));
  // No library at all.
  machine_.machine().nvml = machine_.Path("gpus");
  found = machine_.Find(FindNvml);
  EXPECT_FALSE(found->refused[0].reason.empty());
}

TEST_F(Nvml, ADriverWithoutGpusIsSaid) {
  Describe("gpus 0");
  EXPECT_THAT(WhyRefused(machine_.Find(FindNvml)), HasSubstr("no GPU"));
}

}  // namespace
}  // namespace beryl::sources
