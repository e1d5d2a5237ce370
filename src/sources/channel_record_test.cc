#include "sources/channel_record.h"

#include <cmath>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace beryl::sources {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr int64_t kMs = 1'000'000;

PowerChannel Counter(std::optional<uint64_t> wrap = {}) {
  PowerChannel channel;
  channel.name = "CPU:0";
  channel.scope = ChannelScope::kPackage;
  channel.kind = ChannelKind::kEnergyCounter;
  channel.meter.per_count = 1e-6;
  channel.meter.wrap = wrap;
  channel.meter.update_period_us = 1000;
  return channel;
}

PowerChannel MovingCounter(double update_period_us) {
  PowerChannel channel = Counter();
  channel.meter.moves = true;
  channel.meter.update_period_us = update_period_us;
  return channel;
}

PowerChannel Gauge() {
  PowerChannel channel;
  channel.name = "GPU:0";
  channel.kind = ChannelKind::kPowerGauge;
  channel.meter.per_count = 1e-3;
  return channel;
}

MeterReading Count(uint64_t count) { return {ReadState::kOk, count}; }

// What is known of a counter: its steps outside of gaps.
double KnownJoules(const PowerChannel& channel) {
  double joules = 0;
  for (size_t i = 1; i < channel.values.size(); ++i) {
    const auto is_gap = [&](const PowerGap& gap) { return gap.reading == i; };
    if (std::none_of(channel.gaps.begin(), channel.gaps.end(), is_gap)) {
      joules += channel.values[i] - channel.values[i - 1];
    }
  }
  return joules;
}

TEST(ChannelRecord, KeepsTheStepsOfACounterOnly) {
  ChannelRecord record(Counter(), Nanos{4 * kMs});
  for (const auto& [ms, count] : {std::pair{0, 100}, {4, 100}, {8, 300}, {12, 300}, {16, 700}}) {
    record.Add(Nanos{ms * kMs}, Count(static_cast<uint64_t>(count)));
  }
  record.Finish(Nanos{18 * kMs});
  const PowerChannel taken = record.Take();
  EXPECT_THAT(taken.times, ElementsAre(Nanos{0}, Nanos{8 * kMs}, Nanos{16 * kMs}));
  EXPECT_THAT(taken.values, ElementsAre(0, testing::DoubleEq(200e-6), testing::DoubleEq(600e-6)));
  EXPECT_THAT(taken.gaps, IsEmpty());
}

TEST(ChannelRecord, PiecesPutTogetherAreTheWhole) {
  ChannelRecord record(Counter(), Nanos{4 * kMs});
  std::vector<double> values;
  for (int64_t i = 0; i < 100; ++i) {
    record.Add(Nanos{i * 4 * kMs}, Count(static_cast<uint64_t>(i * 50)));
    if (i % 7 != 0) continue;
    const PowerChannel piece = record.Take();
    values.insert(values.end(), piece.values.begin(), piece.values.end());
  }
  const PowerChannel piece = record.Take();
  values.insert(values.end(), piece.values.begin(), piece.values.end());
  ASSERT_THAT(values, SizeIs(100));
  for (size_t i = 0; i < 100; ++i) EXPECT_DOUBLE_EQ(values[i], static_cast<double>(i) * 50e-6);
}

TEST(ChannelRecord, UndoesAnyNumberOfWraps) {
  constexpr uint64_t kWrap = 1'000'000;
  ChannelRecord record(Counter(kWrap), Nanos{4 * kMs});
  std::mt19937 random(1);
  uint64_t truth = 999'000;
  const uint64_t start = truth;
  for (int64_t i = 0; i <= 500; ++i) {
    record.Add(Nanos{i * 4 * kMs}, Count(truth % kWrap));
    truth += 5'000 + random() % 10'000;
  }
  const PowerChannel taken = record.Take();
  EXPECT_THAT(taken.gaps, IsEmpty());
  EXPECT_EQ(taken.wraps, (truth - 1) / kWrap - start / kWrap);
  EXPECT_GE(taken.wraps, 4U);
  for (size_t i = 1; i < taken.values.size(); ++i) EXPECT_GT(taken.values[i], taken.values[i - 1]);
}

TEST(ChannelRecord, AResetIsAGapAndNoWrap) {
  ChannelRecord record(Counter(262'143'328'850), Nanos{4 * kMs});
  uint64_t count = 10'000'000;
  int64_t time = 0;
  for (int i = 0; i < 100; ++i, time += 4 * kMs) record.Add(Nanos{time}, Count(count += 40'000));
  count = 0;
  for (int i = 0; i < 100; ++i, time += 4 * kMs) record.Add(Nanos{time}, Count(count += 40'000));
  const PowerChannel taken = record.Take();
  ASSERT_THAT(taken.gaps, ElementsAre(PowerGap{100, GapReason::kCounterReset}));
  EXPECT_EQ(taken.wraps, 0U);
  EXPECT_NEAR(KnownJoules(taken), 198 * 0.04, 1e-9);
}

TEST(ChannelRecord, ACounterThatStartsAgainAfterAnOutageWasReset) {
  ChannelRecord record(Counter(65'532'610'987), Nanos{4 * kMs});
  for (int64_t i = 0; i <= 1500; ++i) {
    const bool gone = i > 250 && i < 875;  // 2.5 s, in which 65 kJ cannot be used
    const auto count = static_cast<uint64_t>(i < 875 ? 2'000'000'000 + i * 200'000 : i * 200'000);
    record.Add(Nanos{i * 4 * kMs}, gone ? MeterReading{ReadState::kGone, 0} : Count(count));
  }
  const PowerChannel taken = record.Take();
  ASSERT_THAT(taken.gaps, SizeIs(1));
  EXPECT_EQ(taken.gaps.front().why, GapReason::kCounterReset);
  EXPECT_NEAR(KnownJoules(taken), (1500 - 625) * 0.2, 0.5);
}

TEST(ChannelRecord, AWrapAtARangeThatNobodyToldIsRecognised) {
  PowerChannel channel = Counter();
  channel.meter.unit = "uJ";
  ChannelRecord record(channel, Nanos{4 * kMs});
  constexpr uint64_t kRange = 262'143'328'850;
  for (uint64_t i = 0; i <= 200; ++i) {
    record.Add(Nanos{static_cast<int64_t>(i) * 4 * kMs},
               Count((kRange - 20'000'000 + i * 200'000) % kRange));
  }
  const PowerChannel taken = record.Take();
  EXPECT_EQ(taken.wraps, 1U);
  EXPECT_THAT(taken.gaps, IsEmpty());
  EXPECT_NEAR(KnownJoules(taken), 40, 1e-6);
}

// Ten watts, in steps of 100 ms that began before anybody looked.
TEST(ChannelRecord, TheFirstStepOfACounterIsDatedBack) {
  ChannelRecord record(MovingCounter(100'000), Nanos{4 * kMs});
  for (int64_t ms = 70; ms <= 1000; ++ms) {
    record.Add(Nanos{ms * kMs}, Count(static_cast<uint64_t>(ms / 100 * 1'000'000)));
  }
  const PowerChannel taken = record.Take();
  ASSERT_THAT(taken.times, SizeIs(11));
  EXPECT_EQ(taken.times.front(), Nanos{0});
  for (size_t i = 0; i < taken.times.size(); ++i) {
    EXPECT_NEAR(taken.values[i], 10 * taken.times[i].seconds(), 1e-9);
  }
}

// An estimate of 35 W that is read late now and then: its steps take 50 ms or more.
TEST(ChannelRecord, TheFirstStepOfAnEstimateStaysWithinItsCurve) {
  for (const int64_t first_ms : {51, 54, 58, 75, 99, 140}) {
    PowerChannel channel = MovingCounter(50'000);
    channel.meter.origin = Origin::kEstimated;
    ChannelRecord record(channel, Nanos{4 * kMs});
    // Its first step began before the first reading that is kept.
    record.Add(Nanos{(first_ms - 20) * kMs}, Count(0));
    for (int64_t ms = first_ms; ms <= 1000; ms += 54) {
      record.Add(Nanos{ms * kMs}, Count(static_cast<uint64_t>(ms * 35'000)));
    }
    const PowerChannel taken = record.Take();
    for (size_t i = 1; i < taken.times.size(); ++i) {
      const double watts =
          (taken.values[i] - taken.values[i - 1]) / (taken.times[i] - taken.times[i - 1]).seconds();
      EXPECT_NEAR(watts, 35, 1e-6) << "step " << i << " after " << first_ms << " ms";
    }
  }
}

TEST(ChannelRecord, ACounterThatRestedCountsFromTheStart) {
  ChannelRecord record(Counter(), Nanos{4 * kMs});
  for (int64_t ms = 0; ms <= 300; ++ms) record.Add(Nanos{ms * kMs}, Count(5));
  record.StartFrom(Nanos{301 * kMs});
  record.Add(Nanos{340 * kMs}, Count(2'500'005));
  record.Add(Nanos{390 * kMs}, Count(5'000'005));
  const PowerChannel taken = record.Take();
  EXPECT_THAT(taken.times, ElementsAre(Nanos{301 * kMs}, Nanos{340 * kMs}, Nanos{390 * kMs}));
  EXPECT_NEAR(KnownJoules(taken), 5, 1e-9);
}

TEST(ChannelRecord, AShortFreezeIsAGapToo) {
  ChannelRecord record(MovingCounter(50'000), Nanos{4 * kMs});
  uint64_t count = 0;
  for (int64_t ms = 0; ms <= 4000; ms += 4) {
    if (ms % 52 == 0 && !(ms >= 2000 && ms < 2900)) count += 2'600'000;  // 50 W
    record.Add(Nanos{ms * kMs}, Count(count));
  }
  const PowerChannel taken = record.Take();
  ASSERT_THAT(taken.gaps, SizeIs(1));
  const size_t gap = taken.gaps.front().reading;
  EXPECT_NEAR((taken.times[gap] - taken.times[gap - 1]).seconds(), 0.95, 0.06);
}

TEST(ChannelRecord, NotLookingIsNotStandingStill) {
  ChannelRecord record(Counter(), Nanos{4 * kMs});
  for (int64_t i = 0; i <= 250; ++i) {
    record.Add(Nanos{i * 4 * kMs}, Count(static_cast<uint64_t>(i) * 1'200'000));  // 300 W
  }
  record.Add(Nanos{3000 * kMs}, Count(300'000'000 + 60'000'000));  // 30 W for two seconds
  EXPECT_THAT(record.Take().gaps, IsEmpty());
}

TEST(ChannelRecord, AGaugeThatFallsSilentIsNotHeldForEver) {
  ChannelRecord record(Gauge(), Nanos{4 * kMs});
  for (int64_t ms = 0; ms <= 6000; ms += 4) {
    const bool silent = ms > 1500 && ms < 4000;
    record.Add(Nanos{ms * kMs}, silent ? MeterReading{ReadState::kRetry, 0} : Count(300'000));
  }
  const PowerChannel taken = record.Take();
  ASSERT_THAT(taken.gaps, SizeIs(1));
  const size_t gap = taken.gaps.front().reading;
  EXPECT_EQ(taken.times[gap - 1], Nanos{1500 * kMs});
  EXPECT_EQ(taken.times[gap], Nanos{4000 * kMs});
}

TEST(ChannelRecord, ASlowGaugeHoldsItsLastLineUntilTheEnd) {
  ChannelRecord record(Gauge(), Nanos{4 * kMs});
  for (int64_t ms = 0; ms <= 4500; ms += 4) {
    record.Add(Nanos{ms * kMs}, ms % 1000 == 0 ? Count(100'000) : MeterReading{});
  }
  record.Finish(Nanos{4500 * kMs});
  const PowerChannel taken = record.Take();
  EXPECT_EQ(taken.times.back(), Nanos{4500 * kMs});
  EXPECT_THAT(taken.gaps, IsEmpty());
}

TEST(ChannelRecord, AnAverageIsReadBackToItsMiddle) {
  PowerChannel channel = Gauge();
  channel.meter.lag = Seconds{0.5};
  ChannelRecord record(channel, Nanos{4 * kMs});
  record.Add(Nanos{1000 * kMs}, Count(100'000));
  record.Add(Nanos{1004 * kMs}, Count(150'000));
  EXPECT_FALSE(record.HasReached(Nanos{1000 * kMs}, Nanos{1004 * kMs}));
  EXPECT_THAT(record.Take().times, ElementsAre(Nanos{500 * kMs}, Nanos{504 * kMs}));
}

TEST(ChannelRecord, ACounterThatStandsStillUntilTheEndSaysSo) {
  ChannelRecord record(Counter(), Nanos{4 * kMs});
  for (int64_t i = 0; i <= 100; ++i) {
    record.Add(Nanos{i * 4 * kMs}, Count(static_cast<uint64_t>(i * 1000)));
  }
  for (int64_t i = 101; i <= 500; ++i) record.Add(Nanos{i * 4 * kMs}, Count(100'000));
  record.Finish(Nanos{2000 * kMs});
  const PowerChannel taken = record.Take();
  EXPECT_THAT(taken.gaps,
              ElementsAre(PowerGap{taken.times.size() - 1, GapReason::kStoodStillToTheEnd}));
  EXPECT_EQ(taken.times.back(), Nanos{2000 * kMs});
  EXPECT_NEAR(KnownJoules(taken), 0.1, 1e-12);
}

TEST(ChannelRecord, ACounterThatNeverMovesTellsNothing) {
  ChannelRecord record(Counter(), Nanos{4 * kMs});
  for (int64_t i = 0; i <= 500; ++i) record.Add(Nanos{i * 4 * kMs}, Count(77));
  record.Finish(Nanos{2000 * kMs});
  const PowerChannel taken = record.Take();
  EXPECT_THAT(taken.times, SizeIs(2));
  EXPECT_THAT(taken.gaps, ElementsAre(PowerGap{1, GapReason::kCounterNeverMoved}));
}

TEST(ChannelRecord, AStallIsAGapUnlessTheCounterCaughtUp) {
  for (const bool catches_up : {false, true}) {
    ChannelRecord record(Counter(), Nanos{4 * kMs});
    uint64_t count = 0;
    for (int64_t i = 0; i <= 600; ++i) {
      const bool frozen = i > 200 && i < 400;
      if (!frozen || catches_up) count += 1000;
      static uint64_t shown = 0;
      if (!frozen) shown = count;
      record.Add(Nanos{i * 4 * kMs}, Count(shown));
    }
    const PowerChannel taken = record.Take();
    EXPECT_THAT(taken.gaps, SizeIs(catches_up ? 0 : 1));
    EXPECT_NEAR(KnownJoules(taken), catches_up ? 0.6 : 0.4, 2e-3);
  }
}

TEST(ChannelRecord, AFileThatComesBackLosesNothingIfItsCounterWentOn) {
  ChannelRecord record(Counter(), Nanos{4 * kMs});
  for (int64_t i = 0; i <= 600; ++i) {
    const bool gone = i > 200 && i < 400;
    record.Add(Nanos{i * 4 * kMs},
               gone ? MeterReading{ReadState::kGone, 0} : Count(static_cast<uint64_t>(i * 1000)));
  }
  const PowerChannel taken = record.Take();
  EXPECT_THAT(taken.gaps, IsEmpty());
  EXPECT_NEAR(KnownJoules(taken), 0.6, 1e-9);
}

TEST(ChannelRecord, AFileThatDoesNotComeBackLeavesAGap) {
  ChannelRecord record(Counter(), Nanos{4 * kMs});
  for (int64_t i = 0; i <= 600; ++i) {
    record.Add(Nanos{i * 4 * kMs}, i > 200 ? MeterReading{ReadState::kGone, 0}
                                           : Count(static_cast<uint64_t>(i * 1000)));
  }
  record.Finish(Nanos{2400 * kMs});
  const PowerChannel taken = record.Take();
  ASSERT_THAT(taken.gaps, SizeIs(1));
  EXPECT_EQ(taken.gaps.front().why, GapReason::kNotReadAnyMore);
  EXPECT_NEAR(KnownJoules(taken), 0.2, 1e-9);
}

TEST(ChannelRecord, SaysWhenMoreThanOneWrapMayHavePassed) {
  ChannelRecord record(Counter(1'000'000), Nanos{4 * kMs});
  for (int64_t i = 0; i <= 100; ++i) {
    record.Add(Nanos{i * 4 * kMs}, Count(static_cast<uint64_t>(i * 10'000) % 1'000'000));
  }
  record.Add(Nanos{1400 * kMs}, Count(500'000));  // a second later: 2.5 J, two wraps and a half
  const PowerChannel taken = record.Take();
  ASSERT_THAT(taken.gaps, SizeIs(1));
  EXPECT_EQ(taken.gaps.front().why, GapReason::kMayHaveWrapped);
}

TEST(ChannelRecord, NothingIsNegativeWhateverComes) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    ChannelRecord record(
        Counter(random() % 2 == 0 ? std::nullopt : std::optional(1 + random() % 1'000'000)),
        Nanos{4 * kMs});
    int64_t time = 0;
    for (int i = 0; i < 300; ++i) {
      time += static_cast<int64_t>(random() % (10 * kMs));
      record.Add(Nanos{time}, {static_cast<ReadState>(random() % 3), random() % 2'000'000});
    }
    record.Finish(Nanos{time});
    const PowerChannel taken = record.Take();
    ASSERT_EQ(taken.times.size(), taken.values.size());
    for (size_t i = 1; i < taken.times.size(); ++i) {
      ASSERT_GT(taken.times[i], taken.times[i - 1]);
      ASSERT_GE(taken.values[i], taken.values[i - 1]);
    }
    for (const PowerGap& gap : taken.gaps) ASSERT_LT(gap.reading, taken.times.size());
  }
}

TEST(ChannelRecord, AGaugeKeepsChangesAndItsLastReading) {
  ChannelRecord record(Gauge(), Nanos{4 * kMs});
  record.Add(Nanos{0}, Count(100'000));
  record.Add(Nanos{4 * kMs}, Count(100'000));
  record.Add(Nanos{8 * kMs}, Count(150'000));
  record.Add(Nanos{12 * kMs}, Count(150'000));
  EXPECT_DOUBLE_EQ(ValueOrNan(record.power()), 150);
  EXPECT_NEAR(ValueOrNan(record.energy()), 0.8 + 0.6, 1e-12);
  record.Finish(Nanos{12 * kMs});
  const PowerChannel taken = record.Take();
  EXPECT_THAT(taken.times, ElementsAre(Nanos{0}, Nanos{8 * kMs}, Nanos{12 * kMs}));
  EXPECT_THAT(taken.values, ElementsAre(100, 150, 150));
}

TEST(ChannelRecord, AGaugeThatWasGoneLeavesAGap) {
  ChannelRecord record(Gauge(), Nanos{4 * kMs});
  record.Add(Nanos{0}, Count(100'000));
  record.Add(Nanos{4 * kMs}, {ReadState::kGone, 0});
  EXPECT_FALSE(record.power());
  record.Add(Nanos{8 * kMs}, Count(100'000));
  const PowerChannel taken = record.Take();
  EXPECT_THAT(taken.gaps, ElementsAre(PowerGap{1, GapReason::kNotRead}));
}

}  // namespace
}  // namespace beryl::sources
