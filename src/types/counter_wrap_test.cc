#include "types/counter_wrap.h"

#include <gtest/gtest.h>

namespace beryl {
namespace {

constexpr double kJoule = 1e6;  // microjoules
constexpr double kRange = 262'143'328'850;

// `watts` 0: too little is known of its usual power.
CounterFall Fall(double before, double after, double seconds, double watts) {
  const auto usual = watts > 0 ? std::optional(Watts{watts}) : std::nullopt;
  return {before, after, Joules{1e-6}, Seconds{seconds}, usual};
}

TEST(CounterWrapTest, WrapsAtTheRangeThatTheMeterTells) {
  EXPECT_EQ(WrapRange(Fall(kRange - 5 * kJoule, 5 * kJoule, 0.1, 80), kRange), kRange);
  // From idle to full load, and before anything is known.
  EXPECT_EQ(WrapRange(Fall(kRange - 45 * kJoule, 45 * kJoule, 0.1, 10), kRange), kRange);
  EXPECT_EQ(WrapRange(Fall(kRange - 45 * kJoule, 45 * kJoule, 0.1, 0), kRange), kRange);
  EXPECT_EQ(WrapRange(Fall(900, 700, 1e-4, 8), 1000), 1000);
  // Also in another unit.
  EXPECT_EQ(WrapRange({4'000'000'000, 0, Joules{61e-6}, Seconds{1000}, Watts{50}}, 4'294'967'296),
            4'294'967'296);
}

TEST(CounterWrapTest, AResetOrAStumbleIsNoWrap) {
  EXPECT_FALSE(WrapRange(Fall(100 * kJoule, 0, 1, 50), kRange));
  EXPECT_FALSE(WrapRange(Fall(100 * kJoule, 100 * kJoule - 61, 1, 50), kRange));
  EXPECT_FALSE(WrapRange(Fall(100 * kJoule, 0, 1, 0), kRange));
  // Above its range it cannot have been.
  EXPECT_FALSE(WrapRange(Fall(2000, 10, 1, 50), 1000));
}

TEST(CounterWrapTest, KnowsTheRangesOfMicrojoules) {
  for (const double range : {4'294'967'296.0, 65'532'610'987.0, kRange}) {
    EXPECT_EQ(WrapRange(Fall(range - 5 * kJoule, 5 * kJoule, 0.1, 50), std::nullopt), range);
    EXPECT_FALSE(WrapRange(Fall(range - 500 * kJoule, 5 * kJoule, 0.1, 50), std::nullopt));
    EXPECT_FALSE(WrapRange(Fall(range - 5 * kJoule, 5 * kJoule, 0.1, 0), std::nullopt))
        << "a guess at a guess";
    EXPECT_FALSE(WrapRange({range - 5, 5, Joules{61e-6}, Seconds{0.1}, Watts{50}}, std::nullopt));
  }
}

}  // namespace
}  // namespace beryl
