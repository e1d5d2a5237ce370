#include "flows/read_run.h"

#include <filesystem>
#include <memory>

#include "base/folder_for_test.h"
#include "base/matchers_for_test.h"
#include "flows/account_run.h"

namespace beryl::flows {
namespace {

namespace fs = std::filesystem;
constexpr const char* kTrace = "tests/golden/tensorflow-two-steps/ops.json";
constexpr const char* kPower = "tests/golden/tensorflow-two-steps/power.csv";

class ReadRunTest : public ::testing::Test, protected FolderForTest {
 protected:
  // A copy of the trace at a path in the folder.
  std::string Trace(const std::string& path) { return Copy(kTrace, path); }
};

std::vector<std::string> NamesOf(const PowerTrace& power) {
  std::vector<std::string> names;
  for (const PowerChannel& channel : power.channels) names.push_back(channel.name);
  return names;
}

TEST_F(ReadRunTest, TheNewestRunInAProfilersFolderIsRead) {
  Trace("plugins/profile/2026_01_31/a.trace.json");
  const std::string newest = Trace("plugins/profile/2026_02_01/b.trace.json");
  const auto run = ReadRun({{"", {folder_.string()}, {kPower}, {}}}, {});
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_THAT(run->context.ops_files, ElementsAre(newest));
}

TEST_F(ReadRunTest, EachHostOfAProfilersFolderIsARank) {
  Trace("run/one.trace.json");
  Trace("run/two.trace.json");
  const auto run = ReadRun({{"", {folder_.string()}, {kPower}, {}}}, {});
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_THAT(run->context.ops_files, SizeIs(2));
  EXPECT_THAT(run->ops.ranks, ::testing::IsSupersetOf({"one", "two"}));
}

TEST_F(ReadRunTest, AFolderWithoutTracesIsAnErrorThatSaysWhatBelongsThere) {
  fs::create_directories(folder_ / "empty");
  const auto run = ReadRun({{"", {folder_.string()}, {kPower}, {}}}, {});
  ASSERT_FALSE(run);
  EXPECT_THAT(run.error().message, HasSubstr("*.xplane.pb"));
  EXPECT_THAT(run.error().message, HasSubstr("plugins/profile"));
}

TEST_F(ReadRunTest, AsManyPowerFilesOfTheSameDevicesAsTracesAreMachines) {
  const std::string one = Trace("one.json");
  const std::string two = Trace("two.json");
  const std::string power_one = Copy(kPower, "p1.csv");
  const std::string power_two = Copy(kPower, "p2.csv");
  const auto run = ReadRun({{"", {one, two}, {power_one, power_two}, {}}}, {});
  ASSERT_TRUE(run) << run.error().message;
  for (const std::string& name : NamesOf(run->power)) {
    EXPECT_TRUE(name.starts_with("one/") || name.starts_with("two/")) << name;
  }
  const auto alone = ReadRun({{"", {one}, {power_one}, {}}}, {});
  ASSERT_TRUE(alone);
  EXPECT_EQ(run->power.channels.size(), 2 * alone->power.channels.size());
}

TEST_F(ReadRunTest, PowerFilesOfDifferentDevicesAreOneMachines) {
  const std::string cpu = Write("cpu.csv", "timestamp_us,device,power_w\n0,CPU:0,5\n9,CPU:0,5\n");
  const std::string gpu = Write("gpu.csv", "timestamp_us,device,power_w\n0,GPU:0,5\n9,GPU:0,5\n");
  const auto run = ReadRun({{"", {Trace("one.json"), Trace("two.json")}, {cpu, gpu}, {}}}, {});
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_THAT(NamesOf(run->power), ElementsAre("CPU:0", "GPU:0"));
}

TEST_F(ReadRunTest, ADeviceThatTwoFilesReadIsMisuse) {
  const std::string again = Copy(kPower, "again.csv");
  const auto run = ReadRun({{"", {kTrace}, {kPower, again}, {}}}, {});
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().code, ErrorCode::kMisuse);
  EXPECT_THAT(run.error().message, HasSubstr("again.csv"));
}

TEST_F(ReadRunTest, WhoeverWatchesIsToldOfEachFileAndLetGo) {
  std::vector<std::string> files;
  uint64_t told = 0;
  std::weak_ptr<int> alive;
  RunOptions options;
  options.watch_reading = [&](const std::string& file, uint64_t size) {
    EXPECT_TRUE(alive.expired()) << "the one before was not let go";
    EXPECT_EQ(size, fs::file_size(file));
    files.push_back(file);
    auto held = std::make_shared<int>(0);
    alive = held;
    return [held, &told](uint64_t bytes) { told = std::max(told, bytes); };
  };
  const std::string two = Trace("two.json");
  ASSERT_TRUE(ReadRun({{"", {kTrace, two}, {kPower}, {}}}, options));
  EXPECT_THAT(files, ElementsAre(kTrace, two));
  EXPECT_EQ(told, fs::file_size(two));
  EXPECT_TRUE(alive.expired());
}

PowerChannel Channel(const std::string& name, size_t readings, size_t gaps) {
  PowerChannel channel;
  channel.name = name;
  channel.times.resize(readings);
  channel.gaps.resize(gaps);
  return channel;
}

TEST(LeaveOutSilent, WhatStoodStillIsNotOfARecording) {
  PowerTrace power;
  power.channels = {Channel("empty", 0, 0), Channel("still", 5, 4), Channel("good", 5, 1)};
  PowerTrace file = power;
  LeaveOutSilent(true, power);
  EXPECT_THAT(NamesOf(power), ElementsAre("good"));
  LeaveOutSilent(false, file);
  EXPECT_THAT(NamesOf(file), ElementsAre("still", "good"));
}

TEST(AccountRun, ItsReportClosesAndNamesItsFiles) {
  auto run = ReadRun({{"", {kTrace}, {kPower}, {}}}, {});
  ASSERT_TRUE(run) << run.error().message;
  const auto accounted = AccountRun(*std::move(run), {});
  ASSERT_TRUE(accounted) << accounted.error().message;
  const AccountReport report = MakeReport(*accounted, {});
  for (const ChannelAccount& channel : report.channels) {
    EXPECT_LT(channel.ClosureError(), 1e-9) << channel.channel;
  }
  EXPECT_THAT(report.provenance.sources, ElementsAre(kTrace, kPower));
  EXPECT_THAT(report.context.energy_source, HasSubstr(kPower));
  EXPECT_FALSE(report.timeline.has_value());
  RunOptions with_timeline;
  with_timeline.timeline = true;
  EXPECT_TRUE(MakeReport(*accounted, with_timeline).timeline.has_value());
}

TEST(AccountRun, OnlyOursWantsARecording) {
  auto run = ReadRun({{"", {kTrace}, {kPower}, {}}}, {});
  ASSERT_TRUE(run);
  RunOptions options;
  options.energy_of = EnergyOf::kOurs;
  const auto accounted = AccountRun(*std::move(run), options);
  ASSERT_FALSE(accounted);
  EXPECT_EQ(accounted.error().code, ErrorCode::kMisuse);
}

// The joules that the operations of a trace get of a recording.
AccountReport OfRecording(const std::string& recording, std::optional<EnergyOf> energy_of) {
  auto run = ReadRun({{"",
                       {"tests/golden/account-power-recording/ops.json"},
                       {"tests/data/recordings/" + recording},
                       {}}},
                     {});
  EXPECT_TRUE(run) << run.error().message;
  RunOptions options;
  options.energy_of = energy_of;
  const auto accounted = AccountRun(*std::move(run), options);
  EXPECT_TRUE(accounted) << accounted.error().message;
  return MakeReport(*accounted, options);
}

double AttributedTo(const AccountReport& report) {
  double sum = 0;
  for (const ChannelAccount& channel : report.channels) sum += channel.attributed.value;
  return sum;
}

TEST(AccountRun, OfAProcessThatWasWatchedItsOwnEnergyIsSharedOutUnlessAllIsAskedFor) {
  const AccountReport ours = OfRecording("training.beryl", {});
  const AccountReport asked = OfRecording("training.beryl", EnergyOf::kOurs);
  const AccountReport all = OfRecording("training.beryl", EnergyOf::kMachine);
  EXPECT_EQ(ours.provenance.energy_of, EnergyOf::kOurs);
  EXPECT_EQ(all.provenance.energy_of, EnergyOf::kMachine);
  EXPECT_DOUBLE_EQ(AttributedTo(ours), AttributedTo(asked));
  EXPECT_LT(AttributedTo(ours), 0.95 * AttributedTo(all));
  EXPECT_THAT(ours.context.energy_source, HasSubstr("only what the watched processes used"));
  EXPECT_THAT(all.context.energy_source, HasSubstr("all of it, whoever used it"));
  EXPECT_THAT(StampText(ours.provenance), HasSubstr("energy of the watched processes"));
  EXPECT_THAT(StampText(all.provenance), HasSubstr("energy of the whole machine"));
  EXPECT_EQ(ProvenanceOf({ours, all}).energy_of, EnergyOf::kMixed);
}

TEST(AccountRun, OfAMachineAllOfItIsSharedOut) {
  EXPECT_EQ(OfRecording("machine.beryl", {}).provenance.energy_of, EnergyOf::kMachine);
  auto run = ReadRun({{"", {kTrace}, {kPower}, {}}}, {});
  ASSERT_TRUE(run);
  const auto accounted = AccountRun(*std::move(run), {});
  ASSERT_TRUE(accounted);
  EXPECT_FALSE(accounted->energy_of) << "a power file has no users";
}

TEST(AccountRun, ARecordingWithoutOperationsSaysWhatToDo) {
  auto run = ReadRunFiles("tests/data/recordings/training.beryl");
  ASSERT_TRUE(run) << run.error().message;
  const auto accounted = AccountRun(*std::move(run), {});
  ASSERT_FALSE(accounted);
  EXPECT_THAT(accounted.error().message, HasSubstr("beryl show"));
}

}  // namespace
}  // namespace beryl::flows
