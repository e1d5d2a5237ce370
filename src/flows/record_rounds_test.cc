#include "flows/record_rounds.h"

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "flows/read_run.h"

namespace beryl::flows {
namespace {

// Meters are a power file that is played.
class RecordRoundsTest : public testing::Test {
 protected:
  RecordRoundsTest() {
    std::ofstream power(path_ + ".csv");
    power << "timestamp_us,device,power_w\n";
    for (int i = 0; i < 600; ++i) power << 1'700'000'000'000'000 + i * 10'000 << ",CPU:0,50\n";
    options_.discover.replay = path_ + ".csv";
    options_.discover.only = {"replay"};
    options_.period = Nanos{4'000'000};
    options_.output = path_ + ".beryl";
  }
  ~RecordRoundsTest() override {
    ::remove((path_ + ".csv").c_str());
    ::remove((path_ + ".beryl").c_str());
  }

  std::string path_ = testing::TempDir() + "record_rounds_" + std::to_string(::getpid());
  RecordOptions options_;
};

TEST_F(RecordRoundsTest, RunsTheCommandInRoundsAfterAWarmUp) {
  options_.plan.command = {"true"};
  options_.plan.warm_up = 1;
  options_.plan.rounds = 2;
  const auto done = RecordRounds(options_);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(done->exit_code, 0);
  EXPECT_FALSE(done->trouble);
  const auto run = ReadRunFiles(options_.output);
  ASSERT_TRUE(run && run->recording);
  ASSERT_EQ(run->recording->windows.size(), 3u);
  EXPECT_TRUE(run->recording->windows[0].warm_up);
  EXPECT_EQ(run->recording->windows[2].name, "round 2");
  EXPECT_EQ(run->recording->exit_code, 0);
}

TEST_F(RecordRoundsTest, HasTheExitCodeOfTheCommand) {
  options_.plan.command = {"sh", "-c", "exit 3"};
  const auto done = RecordRounds(options_);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(done->exit_code, 3);
}

TEST_F(RecordRoundsTest, ACommandThatIsNotThereIsAnError) {
  options_.plan.command = {"/no/such/command"};
  const auto done = RecordRounds(options_);
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message, testing::HasSubstr("cannot run '/no/such/command'"));
}

TEST_F(RecordRoundsTest, ACommandThatCannotStartLeavesWhatWasThere) {
  options_.plan.command = {"/no/such/command"};
  EXPECT_FALSE(RecordRounds(options_));
  EXPECT_FALSE(std::filesystem::exists(options_.output)) << "nothing was there";
  std::ofstream(options_.output) << "something dear";
  const auto refused = RecordRounds(options_);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kMisuse);
  EXPECT_THAT(refused.error().options, testing::ElementsAre("force"));
  options_.replace = true;
  EXPECT_FALSE(RecordRounds(options_));
  std::ifstream kept(options_.output);
  std::string text;
  std::getline(kept, text);
  EXPECT_EQ(text, "something dear");
  options_.plan.command = {"true"};
  const auto done = RecordRounds(options_);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(done->file, options_.output);
  EXPECT_TRUE(ReadRunFiles({options_.output}));
}

TEST_F(RecordRoundsTest, WhoLooksSeesThePowerAndMayEndIt) {
  int looks = 0;
  std::string begun;
  options_.when_begun = [&](const std::string& file) { begun = file; };
  options_.live.show = [&](const PowerLook& look) {
    ASSERT_EQ(look.devices.size(), 1u);
    // On a busy machine the first look may come before there are two readings.
    if (!look.devices[0].power) return;
    ++looks;
    EXPECT_NEAR(look.devices[0].power->value, 50, 1);
  };
  options_.live.wants_end = [&] { return looks > 0; };
  const auto done = RecordRounds(options_);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(done->exit_code, 0);
  EXPECT_EQ(begun, options_.output);
  EXPECT_GE(looks, 1);
}

TEST_F(RecordRoundsTest, AProcessThatIsNotThereIsAnError) {
  options_.plan.pids = {0x3FFFFFFF};
  EXPECT_THAT(RecordRounds(options_).error().message, testing::HasSubstr("no such process"));
}

}  // namespace
}  // namespace beryl::flows
