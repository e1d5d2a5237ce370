#include "sources/standby.h"

#include <cmath>

#include <gtest/gtest.h>

namespace beryl::sources {
namespace {

TEST(Standby, TellsPowerAndLoadOfWholeSeconds) {
  StandbyWatch watch;
  EXPECT_FALSE(watch.power());
  EXPECT_FALSE(watch.IsResting());
  for (int64_t i = 0; i <= 20; ++i) {
    watch.Add(Nanos{i * 100'000'000}, Joules{static_cast<double>(i) * 4}, i <= 10 ? 50 : 0.2);
    if (i == 10) {
      EXPECT_NEAR(ValueOrNan(watch.power()), 40, 1e-9);
      EXPECT_FALSE(watch.IsResting());
    }
  }
  EXPECT_TRUE(watch.IsResting());
  EXPECT_TRUE(watch.IsBackAt(Watts{39}));
  EXPECT_FALSE(watch.IsBackAt(Watts{38}));
  watch.Restart();
  EXPECT_TRUE(std::isnan(watch.load()));
}

TEST(Standby, WithoutReadingsNothingRests) {
  StandbyWatch watch;
  for (int64_t i = 0; i < 50; ++i) watch.Add(Nanos{i * 100'000'000}, std::nullopt, kUnknown);
  EXPECT_FALSE(watch.IsResting());
  EXPECT_FALSE(watch.IsBackAt(Watts{1000}));
}

}  // namespace
}  // namespace beryl::sources
