#include "account/thin.h"

#include <cmath>
#include <random>

#include "account/account.h"
#include "account/power_curve.h"
#include "base/matchers_for_test.h"

namespace beryl::account {
namespace {

PowerTrace OneChannel(ChannelKind kind, const std::vector<double>& values) {
  PowerTrace power;
  PowerChannel channel;
  channel.name = "CPU:0";
  channel.scope = ChannelScope::kPackage;
  channel.kind = kind;
  for (size_t i = 0; i < values.size(); ++i) {
    channel.times.push_back(Nanos{static_cast<int64_t>(i) * 1'000'000});
    channel.values.push_back(values[i]);
  }
  power.channels.push_back(std::move(channel));
  return power;
}

// Two kinds of operations that take turns, over 24 ms, in two steps.
OpTrace Turns() {
  OpTrace trace;
  trace.devices = {"CPU:0"};
  for (const char* name : {"A", "B"}) {
    OpKind kind;
    kind.op = trace.strings.Intern(name);
    kind.path = trace.paths.Intern(kRootPath, kind.op, PathKind::kOperation);
    trace.kinds.push_back(kind);
  }
  trace.steps = {{"0", Nanos{0}, Nanos{12'000'000}}, {"1", Nanos{12'000'000}, Nanos{24'000'000}}};
  for (uint32_t i = 0; i < 24; ++i) {
    Op op;
    op.start = Nanos{i * 1'000'000};
    op.end = Nanos{(i + 1) * 1'000'000};
    op.kind = i % 2;
    op.step = i / 12;
    trace.ops.push_back(op);
  }
  return trace;
}

TEST(ThinTest, KeepsEveryNthReadingTheFirstAndTheLast) {
  const PowerTrace thinned =
      Thin(OneChannel(ChannelKind::kPowerGauge, {0, 10, 20, 30, 40, 50, 60, 70}), 3);
  EXPECT_THAT(thinned.channels[0].values, ElementsAre(0, 30, 60, 70));
  EXPECT_THAT(thinned.channels[0].times,
              ElementsAre(Nanos{0}, Nanos{3'000'000}, Nanos{6'000'000}, Nanos{7'000'000}));
}

TEST(ThinTest, EveryReadingIsAllOfThem) {
  const PowerTrace power = OneChannel(ChannelKind::kPowerGauge, {1, 2, 3});
  EXPECT_EQ(Thin(power, 1).channels[0].values, power.channels[0].values);
  EXPECT_EQ(Thin(power, 0).channels[0].values, power.channels[0].values);
}

TEST(ThinTest, MoreThanThereAreLeavesTheTwoEnds) {
  EXPECT_THAT(Thin(OneChannel(ChannelKind::kPowerGauge, {1, 2, 3}), 100).channels[0].values,
              ElementsAre(1, 3));
  EXPECT_THAT(Thin(OneChannel(ChannelKind::kPowerGauge, {1}), 2).channels[0].values,
              ElementsAre(1));
}

TEST(ThinTest, WhatIsAroundAGapStays) {
  PowerTrace power = OneChannel(ChannelKind::kEnergyCounter, {0, 1, 2, 3, 3, 4, 5, 6, 7});
  power.channels[0].gaps = {{4, GapReason::kCounterReset}};
  const PowerTrace thinned = Thin(power, 8);
  EXPECT_THAT(thinned.channels[0].values, ElementsAre(0, 3, 3, 7));
  EXPECT_THAT(thinned.channels[0].gaps, ElementsAre(PowerGap{2, GapReason::kCounterReset}));
}

TEST(ThinTest, ACounterLosesNoEnergy) {
  std::mt19937_64 random(1);
  for (int turn = 0; turn < 50; ++turn) {
    std::vector<double> values = {0};
    for (uint64_t i = 0; i < 2 + random() % 60; ++i) {
      values.push_back(values.back() + static_cast<double>(random() % 100));
    }
    PowerTrace power = OneChannel(ChannelKind::kEnergyCounter, values);
    for (size_t i = 1; i + 1 < values.size(); ++i) {
      if (random() % 10 == 0) power.channels[0].gaps.push_back({i});
    }
    const double all = MakeCurve(power.channels[0], Policy::kAuto).Integral().value;
    for (const uint32_t every : {2U, 3U, 7U, 100U}) {
      const PowerTrace thinned = Thin(power, every);
      EXPECT_EQ(thinned.channels[0].gaps.size(), power.channels[0].gaps.size());
      EXPECT_NEAR(MakeCurve(thinned.channels[0], Policy::kAuto).Integral().value, all, 1e-9);
    }
  }
}

TEST(AccountThinnedTest, AllReadingsGiveWhatAccountGives) {
  const PowerTrace power =
      OneChannel(ChannelKind::kPowerGauge,
                 {1, 5, 1, 5, 1, 5, 1, 5, 1, 5, 1, 5, 1, 5, 1, 5, 1, 5, 1, 5, 1, 5, 1, 5, 1});
  const OpTrace ops = Turns();
  auto whole = Account(power, ops, {});
  auto thinned = AccountThinned(power, ops, {}, {1, 2, 24});
  ASSERT_TRUE(whole && thinned);
  ASSERT_EQ(thinned->size(), 3U);
  double by_kind[2] = {};
  for (const EnergyShare& share : whole->shares) by_kind[share.kind] += share.energy.value;
  const Footprint& all = thinned->front();
  ASSERT_EQ(all.shares.size(), 2U) << "one share a kind, not one a step";
  for (const EnergyShare& share : all.shares) {
    EXPECT_EQ(share.step, kNoStep);
    EXPECT_DOUBLE_EQ(share.energy.value, by_kind[share.kind]);
  }
  EXPECT_DOUBLE_EQ(all.channels[0].attributed.value, whole->channels[0].attributed.value);
  // A at work in even milliseconds, at 1 W; B in odd ones, at 5 W. Every other reading is 1 W.
  EXPECT_DOUBLE_EQ(all.shares[0].energy.value, 0.012);
  EXPECT_DOUBLE_EQ(all.shares[1].energy.value, 0.060);
  EXPECT_DOUBLE_EQ((*thinned)[1].shares[1].energy.value, 0.012);
  EXPECT_EQ((*thinned)[1].channels[0].readings, 13U);
  EXPECT_EQ((*thinned)[2].channels[0].readings, 2U);
}

TEST(AccountThinnedTest, BooksCloseForEveryPeriodAndTheStaticPartIsTakenToo) {
  std::mt19937_64 random(2);
  std::vector<double> values;
  for (int i = 0; i < 40; ++i) values.push_back(static_cast<double>(random() % 100));
  AccountOptions options;
  options.idle_power["CPU:0"] = Watts{30};
  auto thinned = AccountThinned(OneChannel(ChannelKind::kPowerGauge, values), Turns(), options,
                                {1, 2, 3, 4, 5, 8});
  ASSERT_TRUE(thinned);
  for (const Footprint& footprint : *thinned) {
    EXPECT_LT(footprint.channels[0].ClosureError(), 1e-12);
    ASSERT_TRUE(footprint.channels[0].static_part);
    EXPECT_LE(footprint.channels[0].static_part->value, 30 * 0.039 + 1e-9);
    EXPECT_GT(footprint.channels[0].static_part->value, 0);
  }
}

TEST(AccountThinnedTest, ACountersTotalStaysTheSame) {
  std::vector<double> values = {0};
  for (int i = 1; i < 25; ++i) values.push_back(values.back() + (i % 2 == 0 ? 5e-3 : 1e-3));
  auto thinned =
      AccountThinned(OneChannel(ChannelKind::kEnergyCounter, values), Turns(), {}, {1, 2, 3, 24});
  ASSERT_TRUE(thinned);
  for (const Footprint& footprint : *thinned) {
    EXPECT_NEAR(footprint.channels[0].attributed.value, 0.072, 1e-12);
  }
  EXPECT_NEAR((*thinned)[1].shares[0].energy.value, 0.036, 1e-12) << "only the where is lost";
}

TEST(AccountThinnedTest, ClocksThatDoNotMeetFail) {
  PowerTrace power = OneChannel(ChannelKind::kPowerGauge, {1, 2, 3});
  for (Nanos& time : power.channels[0].times) time.value += 1'000'000'000'000;
  EXPECT_FALSE(AccountThinned(power, Turns(), {}, {1, 2}));
}

}  // namespace
}  // namespace beryl::account
