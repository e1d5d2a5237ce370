#include "flows/run_request.h"

#include "base/matchers_for_test.h"

namespace beryl::flows {
namespace {

TEST(RunRequest, AreTakenOver) {
  account::AccountOptions options;
  ASSERT_TRUE(AddAnchors({"10=1000", "20=1010.5"}, options));
  ASSERT_TRUE(AddIdlePower({"18", "GPU:0=25.5"}, options));
  ASSERT_TRUE(AddFeeds({"wall=CPU:0,GPU:0", "psys=none"}, options));
  ASSERT_EQ(options.anchors.size(), 2U);
  EXPECT_EQ(options.idle_power["all"], Watts{18});
  EXPECT_EQ(options.idle_power["GPU:0"], Watts{25.5});
  EXPECT_THAT(options.feeds["wall"], ElementsAre("CPU:0", "GPU:0"));
  EXPECT_THAT(options.feeds["psys"], ElementsAre("none"));
}

TEST(RunRequest, AreRefusedInOtherForms) {
  account::AccountOptions options;
  for (const char* text : {"", "1", "=1", "1=", "a=b"}) {
    EXPECT_FALSE(AddAnchors({text}, options)) << text;
  }
  for (const char* text : {"", "x", "-1", "CPU:0=", "CPU:0=-1"}) {
    EXPECT_FALSE(AddIdlePower({text}, options)) << text;
  }
  EXPECT_FALSE(AddFeeds({"wall"}, options));
}

TEST(RunOptionsOf, TakesOverWhatWasAskedFor) {
  RunRequest request;
  request.threads = 3;
  request.clock_offset_us = "-1.5";
  request.align = "start";
  request.only_ours = true;
  request.idle_power = {"18"};
  const auto options = RunOptionsOf(request);
  ASSERT_TRUE(options);
  EXPECT_EQ(options->import.threads, 3);
  EXPECT_EQ(options->account.threads, 3);
  EXPECT_EQ(options->account.clock_offset, Nanos{-1500});
  EXPECT_TRUE(options->account.align_starts);
  EXPECT_EQ(options->energy_of, EnergyOf::kOurs);
  EXPECT_EQ(options->account.idle_power.at("all"), Watts{18});
}

TEST(RunOptionsOf, WorksWithEveryCpuUnlessToldOtherwise) {
  for (const std::optional<int> threads : {std::optional<int>(), std::optional<int>(0)}) {
    RunRequest request;
    request.threads = threads;
    EXPECT_GE(RunOptionsOf(request)->import.threads, 1);
  }
  EXPECT_FALSE(RunOptionsOf({})->energy_of);
}

TEST(RunOptionsOf, RefusesAClockOffsetThatIsNoNumber) {
  RunRequest request;
  request.clock_offset_us = "soon";
  const auto options = RunOptionsOf(request);
  ASSERT_FALSE(options);
  EXPECT_THAT(options.error().options, ElementsAre("clock_offset_us"));
}

}  // namespace
}  // namespace beryl::flows
