#include "flows/watch_power.h"

#include <unistd.h>

#include <chrono>
#include <optional>
#include <thread>

#include <fmt/format.h>

#include "base/folder_for_test.h"
#include "base/matchers_for_test.h"

namespace beryl::flows {
namespace {

// Meters are a power file that is played.
class WatchPowerTest : public testing::Test, protected FolderForTest {
 protected:
  WatchPowerTest() {
    std::string power = "timestamp_us,device,power_w\n";
    for (int i = 0; i < 1000; ++i) {
      power += fmt::format("{},CPU:0,50\n", 1'700'000'000'000'000 + i * 10'000);
    }
    request_.meters.replay = Write("power.csv", power);
    request_.meters.only = "replay";
    request_.interval = "500ms";
  }
  // Shows looks until there were so many.
  Status Watch() {
    const auto options = TRY(WatchOptionsOf(request_));
    return WatchPower(options, {[this](const PowerLook& look) { looks_.push_back(look); },
                                [this] { return wants_end_; }});
  }

  WatchRequest request_;
  std::vector<PowerLook> looks_;
  bool wants_end_ = false;
};

TEST_F(WatchPowerTest, ShowsAsManyLooksAsWereAskedFor) {
  request_.count = 2;
  const Status watched = Watch();
  ASSERT_TRUE(watched) << watched.error().message;
  ASSERT_EQ(looks_.size(), 2U);
  ASSERT_EQ(looks_[1].devices.size(), 1U);
  EXPECT_EQ(looks_[1].devices[0].device, "CPU:0");
  EXPECT_GT(looks_[1].elapsed.value, looks_[0].elapsed.value);
  EXPECT_THAT(looks_[0].provenance.sources, Contains("replay"));
  // On a busy machine the power of the first looks may be unknown, but it is never another.
  for (const PowerLook& look : looks_) {
    if (look.power) EXPECT_NEAR(look.power->value, 50, 1e-6);
  }
}

TEST_F(WatchPowerTest, EndsWhenTheViewHasSeenEnough) {
  wants_end_ = true;
  ASSERT_TRUE(Watch());
  EXPECT_THAT(looks_, IsEmpty());
}

TEST_F(WatchPowerTest, WatchesAProcess) {
  request_.once = true;
  request_.pids = {::getpid()};
  ASSERT_TRUE(Watch());
  ASSERT_EQ(looks_.size(), 1U);
  EXPECT_THAT(looks_[0].pids, ElementsAre(::getpid()));
}

TEST_F(WatchPowerTest, AProcessThatIsNotThereIsAnError) {
  request_.pids = {999'999'999};
  EXPECT_FALSE(Watch());
  EXPECT_THAT(looks_, IsEmpty());
}

TEST_F(WatchPowerTest, NothingToReadIsAnError) {
  request_.meters = {.only = "nvml"};
  const Status watched = Watch();
  if (watched) GTEST_SKIP() << "this machine has such a meter";
  EXPECT_FALSE(watched.error().message.empty());
}

TEST_F(WatchPowerTest, GivesLooksToThoseWhoAsk) {
  const auto options = WatchOptionsOf(request_);
  ASSERT_TRUE(options);
  const auto watch = PowerWatch::Start(*options);
  ASSERT_TRUE(watch) << watch.error().message;
  EXPECT_FALSE(*(*watch)->Next());  // none is due at once
  std::optional<PowerLook> look;
  for (int i = 0; i < 3000 && !look; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    look = *(*watch)->Next();
  }
  ASSERT_TRUE(look);
  EXPECT_EQ(look->devices.at(0).device, "CPU:0");
}

TEST(WatchOptionsOf, KeepsTheIntervalInItsRange) {
  WatchRequest request;
  EXPECT_EQ(WatchOptionsOf(request)->every, Nanos{1'000'000'000});
  EXPECT_FALSE(WatchOptionsOf(request)->looks);
  request.once = true;
  EXPECT_EQ(WatchOptionsOf(request)->looks, 1U);
  for (const char* interval : {"100ms", "2m", "often"}) {
    request.interval = interval;
    EXPECT_FALSE(WatchOptionsOf(request)) << interval;
  }
}

}  // namespace
}  // namespace beryl::flows
