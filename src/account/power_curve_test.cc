#include "account/power_curve.h"

#include <cmath>
#include <random>

#include "account/reference_testing.h"
#include "base/matchers_for_test.h"

namespace beryl::account {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

TEST(PowerCurveTest, HoldKeepsTheLastReadingAndTheLastOneHasNoExtent) {
  const PowerChannel channel = MakeChannel("CPU:0", {0, kSecond, 3 * kSecond}, {10, 20, 1000});
  const PowerCurve curve = MakeCurve(channel, Policy::kHold);
  EXPECT_DOUBLE_EQ(curve.Integral().value, 50);
  EXPECT_EQ(PolicyName(channel, Policy::kAuto), "hold");
  EXPECT_EQ(PolicyName(channel, Policy::kExact), "hold");
}

TEST(PowerCurveTest, LinearIsTheTrapezoid) {
  const PowerChannel channel = MakeChannel("CPU:0", {0, kSecond, 3 * kSecond}, {10, 20, 40});
  const PowerCurve curve = MakeCurve(channel, Policy::kLinear);
  EXPECT_DOUBLE_EQ(curve.Integral().value, 15 + 60);
  // A part of a piece: from 20 W to 30 W over one second.
  EXPECT_DOUBLE_EQ(curve.Integral(Nanos{kSecond}, Nanos{2 * kSecond}).value, 25);
  EXPECT_EQ(PolicyName(channel, Policy::kLinear), "linear");
}

TEST(PowerCurveTest, ACounterIsExactWhateverThePolicy) {
  const PowerChannel channel =
      MakeChannel("CPU:0", {0, kSecond, 3 * kSecond}, {0, 7, 8}, ChannelKind::kEnergyCounter);
  for (const Policy policy : {Policy::kAuto, Policy::kHold, Policy::kLinear, Policy::kExact}) {
    const PowerCurve curve = MakeCurve(channel, policy);
    EXPECT_DOUBLE_EQ(curve.Integral().value, 8);
    EXPECT_DOUBLE_EQ(curve.Integral(Nanos{0}, Nanos{kSecond}).value, 7);
    EXPECT_EQ(PolicyName(channel, policy), "exact");
  }
}

TEST(PowerCurveTest, NothingIsKnownInAGapNorOutside) {
  const PowerChannel channel =
      MakeChannel("CPU:0", {10, 20, 30, 40}, {0, 5, 1, 4}, ChannelKind::kEnergyCounter, {2});
  const PowerCurve curve = MakeCurve(channel, Policy::kAuto);
  EXPECT_DOUBLE_EQ(curve.Integral().value, 5 + 3);
  CurveCursor cursor(curve, Nanos{0});
  EXPECT_EQ(cursor.Advance(Nanos{10}).known_ns, 0);
  EXPECT_EQ(cursor.Advance(Nanos{25}).known_ns, 10);
  const CurveCursor::Slice in_gap = cursor.Advance(Nanos{29});
  EXPECT_EQ(in_gap.known_ns, 0);
  EXPECT_EQ(in_gap.energy, Joules{});
  EXPECT_EQ(cursor.Advance(Nanos{100}).known_ns, 10);
  EXPECT_EQ(cursor.Advance(Nanos{200}).known_ns, 0);
}

TEST(PowerCurveTest, ASingleReadingIsNoCurve) {
  const PowerCurve curve = MakeCurve(MakeChannel("CPU:0", {5}, {10}), Policy::kHold);
  EXPECT_TRUE(curve.empty());
  EXPECT_EQ(curve.Integral().value, 0);
  EXPECT_EQ(curve.Integral(Nanos{0}, Nanos{10}).value, 0);
}

TEST(PowerCurveTest, ACursorMayStartAnywhere) {
  const PowerCurve curve =
      MakeCurve(MakeChannel("CPU:0", {10, 20, 30}, {1e9, 2e9, 5}), Policy::kHold);
  for (const int64_t from : {-5, 10, 15, 20, 29, 30, 99}) {
    CurveCursor cursor(curve, Nanos{from});
    const double expected =
        static_cast<double>(std::max<int64_t>(0, 20 - std::max<int64_t>(from, 10))) +
        2 * static_cast<double>(std::max<int64_t>(0, 30 - std::max<int64_t>(from, 20)));
    EXPECT_DOUBLE_EQ(cursor.Advance(Nanos{200}).energy.value, expected) << from;
  }
}

TEST(PowerCurveTest, PartsOfARandomWalkAddUpToTheWhole) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 200; ++round) {
    std::vector<int64_t> times = {1'700'000'000'000'000'000};
    std::vector<double> values = {1};
    for (int i = 0; i < 20; ++i) {
      times.push_back(times.back() + 1 + static_cast<int64_t>(random() % 1000));
      values.push_back(std::exp(static_cast<double>(random() % 20)));
    }
    const PowerChannel channel = MakeChannel("CPU:0", times, values);
    for (const Policy policy : {Policy::kHold, Policy::kLinear}) {
      const PowerCurve curve = MakeCurve(channel, policy);
      Nanos now{times.front() - 100};
      CurveCursor cursor(curve, now);
      double sum = 0;
      while (now.value < times.back() + 100) {
        const Nanos next = now + Nanos{static_cast<int64_t>(random() % 300)};
        const double energy = cursor.Advance(next).energy.value;
        const auto expected = static_cast<double>(IntegrateSlowly(channel, policy, now, next));
        EXPECT_NEAR(energy, expected, 1e-12 * expected + 1e-15 * curve.Integral().value);
        sum += energy;
        now = next;
      }
      EXPECT_NEAR(sum, curve.Integral().value, 1e-12 * sum);
    }
  }
}

TEST(PowerCurveTest, BelowACeilingIsTheSmallerOfBoth) {
  const PowerCurve held = MakeCurve(
      MakeChannel("CPU:0", {0, kSecond, 2 * kSecond, 3 * kSecond}, {10, 30, 5, 0}), Policy::kHold);
  EXPECT_DOUBLE_EQ(Below(held, Watts{20}).Integral().value, 10 + 20 + 5);
  EXPECT_DOUBLE_EQ(Below(held, Watts{0}).Integral().value, 0);
  EXPECT_DOUBLE_EQ(Below(held, Watts{99}).Integral().value, held.Integral().value);
}

TEST(PowerCurveTest, BelowCutsALineWhereItCrosses) {
  // From 0 to 40 W over four seconds and back: under 10 W for one second each way.
  const PowerCurve line =
      MakeCurve(MakeChannel("CPU:0", {0, 4 * kSecond, 8 * kSecond}, {0, 40, 0}), Policy::kLinear);
  const PowerCurve below = Below(line, Watts{10});
  EXPECT_THAT(below.times, ElementsAre(Nanos{0}, Nanos{kSecond}, Nanos{4 * kSecond},
                                       Nanos{7 * kSecond}, Nanos{8 * kSecond}));
  EXPECT_DOUBLE_EQ(below.Integral().value, 5 + 30 + 30 + 5);
  EXPECT_DOUBLE_EQ(below.Integral(Nanos{kSecond}, Nanos{2 * kSecond}).value, 10);
}

TEST(PowerCurveTest, BelowLeavesGapsUnknown) {
  const PowerCurve curve =
      MakeCurve(MakeChannel("CPU:0", {0, 10, 20}, {0, 1, 2}, ChannelKind::kEnergyCounter, {1}),
                Policy::kAuto);
  const PowerCurve below = Below(curve, Watts{1});
  EXPECT_TRUE(std::isnan(below.start_w[0]));
  EXPECT_EQ(below.times, curve.times);
  EXPECT_TRUE(Below(PowerCurve(), Watts{1}).empty());
}

}  // namespace
}  // namespace beryl::account
