#include "flows/live_recording.h"

#include <unistd.h>

#include <cstdio>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "flows/measure_run.h"

namespace beryl::flows {
namespace {

constexpr int64_t kStart = 1'700'000'000'000'000'000;

Nanos At(int64_t ms) { return Nanos{kStart + ms * 1'000'000}; }

// A package that uses a joule a millisecond; one CPU.
class LiveRecordingTest : public testing::Test {
 protected:
  LiveRecordingTest() : recording_(Head(), {}) { ::remove(path_.c_str()); }
  ~LiveRecordingTest() override { ::remove(path_.c_str()); }
  static RecordingPiece Head() {
    PowerChannel package;
    package.name = "CPU:0";
    package.scope = ChannelScope::kPackage;
    package.kind = ChannelKind::kEnergyCounter;
    package.meter.source = "test";
    package.meter.per_count = 1;
    RecordingPiece head;
    head.power.channels = {package};
    head.recording.machine = "testbox";
    head.recording.period = Nanos{1'000'000};
    head.recording.activity.cpu_package = {0};
    head.recording.activity.cpu_time = "schedstat";
    head.recording.notes.push_back({NoteKind::kSessionNamed, "mine"});
    return head;
  }
  void Pass(int64_t from, int64_t to) {
    for (int64_t ms = from; ms < to; ++ms) {
      const sources::MeterReading reading{sources::ReadState::kOk, static_cast<uint64_t>(ms)};
      recording_.recorder().OnPower(At(ms), {&reading, 1});
      recording_.recorder().OnActivity(At(ms), {}, {});
    }
  }

  std::string path_ = testing::TempDir() + "live_recording_" + std::to_string(::getpid());
  LiveRecording recording_;
};

TEST_F(LiveRecordingTest, TheFileHasPiecesWindowsNotesAndTheCostSinceItsStart) {
  auto file = GrowingFile::Open(path_);
  ASSERT_TRUE(file);
  SamplerCost cost;
  cost.ticks = 5;
  ASSERT_TRUE(recording_.Begin(*file, At(0), cost));
  recording_.AddPid(42);
  Pass(0, 101);
  const auto readings = recording_.Write();
  ASSERT_TRUE(readings);
  EXPECT_EQ(readings->channels[0].times.size(), 101u);
  ASSERT_TRUE(recording_.AddWindow({"round", At(20), At(60)}));
  recording_.AddNote({NoteKind::kSessionEnded, "", {std::string("enough")}});
  Pass(101, 201);
  cost.ticks = 12;
  ASSERT_TRUE(recording_.Finish(At(200), cost, 3));
  const auto run = ReadRunFiles(path_);
  ASSERT_TRUE(run && run->recording);
  EXPECT_EQ(run->recording->exit_code, 3);
  EXPECT_EQ(run->recording->cost.ticks, 7u);
  EXPECT_EQ(run->recording->end, At(200));
  EXPECT_THAT(run->recording->pids, testing::ElementsAre(42));
  ASSERT_EQ(run->recording->windows.size(), 1u);
  EXPECT_EQ(run->recording->windows[0].name, "round");
  EXPECT_EQ(run->recording->notes.size(), 2u);
  const auto measured = ReadMeasurement(path_, {});
  ASSERT_TRUE(measured);
  EXPECT_NEAR(ValueOrNan(measured->devices.at(0).energy), 200, 1e-6);
}

TEST_F(LiveRecordingTest, EnergyIsKnownWhileItGoesOnAndOpenWindowsEndWithIt) {
  auto file = GrowingFile::Open(path_);
  ASSERT_TRUE(file);
  recording_.FollowEnergy();
  ASSERT_TRUE(recording_.Begin(*file, At(0)));
  Pass(0, 501);
  ASSERT_TRUE(recording_.Write());
  EXPECT_NEAR(ValueOrNan(recording_.energy().devices().at(0).energy), 500, 1e-6);
  EXPECT_NEAR(ValueOrNan(recording_.channels().at(0).power), 1000, 1e-6);
  recording_.energy().OpenWindow("left open", At(500));
  Pass(501, 601);
  ASSERT_TRUE(recording_.Finish(At(600), {}));
  EXPECT_NEAR(ValueOrNan(recording_.energy().devices().at(0).energy), 600, 1e-6);
  const auto run = ReadRunFiles(path_);
  ASSERT_TRUE(run && run->recording);
  ASSERT_EQ(run->recording->windows.size(), 1u);
  EXPECT_EQ(run->recording->windows[0].end, At(600));
}

TEST_F(LiveRecordingTest, WithoutAFileItTellsThePower) {
  Pass(0, 11);
  EXPECT_TRUE(recording_.Write());
  EXPECT_NEAR(ValueOrNan(recording_.channels().at(0).energy), 10, 1e-6);
  EXPECT_FALSE(recording_.has_begun());
}

}  // namespace
}  // namespace beryl::flows
