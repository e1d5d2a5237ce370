#include "flows/meter_request.h"

#include "base/matchers_for_test.h"

namespace beryl::flows {
namespace {

TEST(ParseDuration, TakesANumberWithItsUnit) {
  EXPECT_EQ(ParseDuration("period", "500us")->value, 500'000);
  EXPECT_EQ(ParseDuration("period", "4ms")->value, 4'000'000);
  EXPECT_EQ(ParseDuration("period", " 0.5 ms ")->value, 500'000);
  EXPECT_EQ(ParseDuration("period", "20s")->value, 20'000'000'000);
  EXPECT_EQ(ParseDuration("period", "1.5m")->value, 90'000'000'000);
  EXPECT_EQ(ParseDuration("period", "2min")->value, 120'000'000'000);
  EXPECT_EQ(ParseDuration("period", "1h")->value, 3'600'000'000'000);
}

TEST(ParseDuration, RefusesWhatIsNone) {
  for (const char* text : {"", "4", "ms", "-4ms", "0s", "1e3000s", "4 parsecs", "nan s", "4m s",
                           "99999999999h", "infs"}) {
    const auto parsed = ParseDuration("period", text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().code, ErrorCode::kMisuse);
    EXPECT_THAT(parsed.error().message, HasSubstr("such as 4ms"));
    EXPECT_THAT(parsed.error().options, ElementsAre("period"));
  }
}

TEST(ParseDuration, KeepsToARange) {
  EXPECT_EQ(ParseDuration("period", "1ms", kPeriods)->value, 1'000'000);
  EXPECT_EQ(ParseDuration("period", "10m", kPeriods)->value, 600'000'000'000);
  for (const char* text : {"999us", "601s", "20h"}) {
    const auto parsed = ParseDuration("period", text, kPeriods);
    ASSERT_FALSE(parsed) << text;
    EXPECT_THAT(parsed.error().message, HasSubstr("expected 1ms to 10m"));
  }
  EXPECT_THAT(ParseDuration("period", "5", kPeriods).error().message, HasSubstr("its unit"));
}

TEST(DiscoverOptionsOf, TakesOverWhatWasAskedFor) {
  MeterRequest arguments;
  arguments.meters = {"/dev/ttyUSB0,format={W}"};
  arguments.replay = "power.csv";
  arguments.only = "rapl-powercap, nvml";
  arguments.estimate = "idle=10,full=65.5";
  const auto options = DiscoverOptionsOf(arguments);
  ASSERT_TRUE(options);
  EXPECT_EQ(options->meters, arguments.meters);
  EXPECT_EQ(options->replay, "power.csv");
  EXPECT_THAT(options->only, ElementsAre("rapl-powercap", "nvml"));
  EXPECT_EQ(options->guess.idle, Watts{10});
  EXPECT_EQ(options->guess.full, Watts{65.5});
}

TEST(DiscoverOptionsOf, RefusesPowerThatMakesNoSense) {
  for (const char* text :
       {"idle", "idle=", "watts=3", "idle=x", "idle=-1", "idle=9,full=3", "full=1e300"}) {
    MeterRequest arguments;
    arguments.estimate = text;
    EXPECT_FALSE(DiscoverOptionsOf(arguments)) << text;
  }
}

}  // namespace
}  // namespace beryl::flows
