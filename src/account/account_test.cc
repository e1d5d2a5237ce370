#include "account/account.h"

#include <fmt/format.h>

#include "account/account_for_test.h"
#include "base/matchers_for_test.h"
#include "types/note_testing.h"

namespace beryl::account {
namespace {

constexpr int64_t kMicro = 1000;
constexpr double kMicrojoule = 1e-6;

// ---------------------------------------------------------------------------------------------
// Micro-examples with known answers: times in microseconds, constant 10 W. Where the
// readings lie must not matter, nor what power is taken to be between them.

struct MicroOp {
  const char* name;
  int64_t start_us;
  int64_t end_us;
};
struct MicroAnswer {
  const char* name;
  double microjoules;
};
struct MicroExample {
  const char* title;
  std::vector<MicroOp> ops;
  std::vector<int64_t> readings_us;
  std::vector<MicroAnswer> answers;
};

const std::vector<MicroExample>& MicroExamples() {
  static const std::vector<MicroExample> kExamples = {
      {"back to back", {{"A", 0, 10}, {"B", 10, 20}}, {0, 20}, {{"A", 100}, {"B", 100}}},
      {"idle gap", {{"A", 0, 10}, {"B", 100, 110}}, {0, 110}, {{"A", 100}, {"B", 100}}},
      {"idle gap, fine readings",
       {{"A", 0, 10}, {"B", 100, 110}},
       {0, 5, 10, 50, 100, 105, 110},
       {{"A", 100}, {"B", 100}}},
      {"same operation twice at once",
       {{"A", 0, 10}, {"A", 5, 100}, {"B", 0, 200}},
       {0, 20, 200},
       {{"A", 50 + 5 * 10 * 2.0 / 3 - 25 + 450}, {"B", 25 + 5 * 10 / 3.0 + 450 + 1000}}},
      {"multiset", {{"A", 0, 10}, {"A", 0, 10}, {"B", 0, 10}}, {0, 10}, {{"A", 200 / 3.0}}},
      {"restart at its own end",
       {{"A", 0, 10}, {"A", 10, 30}, {"B", 20, 40}},
       {0, 40},
       {{"A", 250}, {"B", 150}}},
      {"zero length", {{"Z", 0, 0}, {"B", 100, 110}}, {0, 50, 110}, {{"Z", 0}, {"B", 100}}},
  };
  return kExamples;
}

TEST(MicroExampleTest, GivesTheBracketedAnswersUnderEveryPolicy) {
  for (const MicroExample& example : MicroExamples()) {
    OpTraceMaker ops;
    for (const MicroOp& op : example.ops) {
      ops.Add(op.name, op.start_us * kMicro, op.end_us * kMicro);
    }
    std::vector<int64_t> times;
    for (const int64_t us : example.readings_us) times.push_back(us * kMicro);
    for (const Policy policy : {Policy::kAuto, Policy::kHold, Policy::kLinear, Policy::kExact}) {
      for (const ChannelKind kind : {ChannelKind::kPowerGauge, ChannelKind::kEnergyCounter}) {
        std::vector<double> values;
        for (const int64_t us : example.readings_us) {
          values.push_back(kind == ChannelKind::kPowerGauge ? 10
                                                            : 10 * static_cast<double>(us) * 1e-6);
        }
        const PowerTrace power = MakePower({MakeChannel("CPU:0", times, values, kind)});
        AccountOptions options;
        options.policy = policy;
        const Footprint footprint = MustAccount(power, ops, options);
        SCOPED_TRACE(fmt::format("{}, policy {}, {}", example.title, static_cast<int>(policy),
                                 footprint.channels[0].policy));
        for (const MicroAnswer& answer : example.answers) {
          EXPECT_NEAR(EnergyOf(footprint, ops, answer.name), answer.microjoules * kMicrojoule,
                      1e-18)
              << answer.name;
        }
        EXPECT_LE(footprint.channels[0].ClosureError(), 1e-15);
      }
    }
  }
}

// The text's own number for example 3.
TEST(MicroExampleTest, SameOperationTwiceAtOnceIs508Point3) {
  OpTraceMaker ops;
  ops.Add("A", 0, 10 * kMicro).Add("A", 5 * kMicro, 100 * kMicro).Add("B", 0, 200 * kMicro);
  const PowerTrace power =
      MakePower({MakeChannel("CPU:0", {0, 20 * kMicro, 200 * kMicro}, {10, 10, 10})});
  EXPECT_NEAR(EnergyOf(MustAccount(power, ops), ops, "A"), 508.3333333333333 * kMicrojoule, 1e-16);
}

// Example 6: late power is not back-filled, and the last reading is not held for ever.
TEST(MicroExampleTest, NothingIsInventedBeforeTheFirstAndAfterTheLastReading) {
  OpTraceMaker ops;
  ops.Add("A", 0, 100 * kMicro);
  const PowerTrace power = MakePower({MakeChannel("CPU:0", {40 * kMicro, 60 * kMicro}, {10, 90})});
  const Footprint footprint = MustAccount(power, ops);
  EXPECT_NEAR(EnergyOf(footprint, ops, "A"), 200 * kMicrojoule, 1e-18);
  EXPECT_EQ(footprint.shares[0].busy.value, 20 * kMicro);
  EXPECT_EQ(footprint.channels[0].uncovered.value, 80 * kMicro);
  EXPECT_THAT(Plain(footprint.notes),
              Contains(HasSubstr("operation_time_without_power CPU:0 uncovered_s=8")));
}

TEST(IdlePowerTest, ANamedChannelGoesBeforeAllAndOthersAreNotSplit) {
  OpTraceMaker ops;
  ops.Add("A", 0, 1'000'000'000);
  const PowerTrace power = MakePower({MakeChannel("CPU:0", {0, 1'000'000'000}, {10, 10}),
                                      MakeChannel("DRAM:0", {0, 1'000'000'000}, {3, 3})});
  AccountOptions options;
  options.idle_power = {{"CPU:0", Watts{4}}};
  Footprint footprint = MustAccount(power, ops, options);
  EXPECT_DOUBLE_EQ(footprint.shares[0].static_part.value, 4);
  EXPECT_DOUBLE_EQ(AccountOf(footprint, "CPU:0").static_part->value, 4);
  EXPECT_FALSE(AccountOf(footprint, "DRAM:0").static_part.has_value());

  options.idle_power["all"] = Watts{100};
  footprint = MustAccount(power, ops, options);
  EXPECT_DOUBLE_EQ(AccountOf(footprint, "CPU:0").static_part->value, 4);
  EXPECT_DOUBLE_EQ(AccountOf(footprint, "DRAM:0").static_part->value, 3) << "no more than it drew";
}

TEST(IdlePowerTest, ARisingLineIsSplitWhereItCrosses) {
  // 0 to 40 W over four seconds; the operation runs over the last three, above the 10 W of idling.
  constexpr int64_t kSecond = 1'000'000'000;
  OpTraceMaker ops;
  ops.Add("A", kSecond, 4 * kSecond);
  AccountOptions options;
  options.policy = Policy::kLinear;
  options.idle_power = {{"CPU:0", Watts{10}}};
  const PowerTrace power = MakePower({MakeChannel("CPU:0", {0, 4 * kSecond}, {0, 40})});
  const Footprint footprint = MustAccount(power, ops, options);
  EXPECT_DOUBLE_EQ(footprint.shares[0].energy.value, 75);
  EXPECT_DOUBLE_EQ(footprint.shares[0].static_part.value, 30);
  EXPECT_DOUBLE_EQ(footprint.channels[0].static_part->value, 35);
}

// ---------------------------------------------------------------------------------------------
// Containers, feeds that were asked for, and what is said about it.

class ContainerTest : public ::testing::Test {
 protected:
  static constexpr int64_t kSecond = 1'000'000'000;
  ContainerTest() { ops_.Add("A", 2 * kSecond, 4 * kSecond); }
  // A GPU of 10 W behind a wall that operations get the remainder of.
  Footprint AccountWithFeedingWall(double watts) {
    AccountOptions options;
    options.feeds["wall"] = {"all"};
    const PowerTrace power = MakePower({MakeChannel("GPU:0", {0, 10 * kSecond}, {10, 10}),
                                        MakeChannel("wall", {0, 10 * kSecond}, {watts, watts})});
    return MustAccount(power, ops_, options);
  }
  OpTraceMaker ops_;
};

TEST_F(ContainerTest, TheWallKeepsWhatItDoesNotContainOverItsOwnWindow) {
  const PowerTrace power = MakePower({MakeChannel("CPU:0", {0, 10 * kSecond}, {10, 10}),
                                      MakeChannel("wall", {2 * kSecond, 6 * kSecond}, {50, 50})});
  const Footprint footprint = MustAccount(power, ops_);
  const ChannelAccount& wall = AccountOf(footprint, "wall");
  EXPECT_DOUBLE_EQ(wall.measured.value, 200);
  EXPECT_DOUBLE_EQ(wall.contained.value, 40);
  EXPECT_DOUBLE_EQ(wall.total.value, 160);
  EXPECT_DOUBLE_EQ(wall.unattributed.value, 160);
  EXPECT_EQ(AccountOf(footprint, "CPU:0").within, "wall");
  EXPECT_DOUBLE_EQ(AccountOf(footprint, "CPU:0").total.value, 100);
}

TEST_F(ContainerTest, TheBoardIsTakenOutOfTheWallAsAWhole) {
  const PowerTrace power = MakePower({MakeChannel("CPU:0", {0, kSecond * 10}, {10, 10}),
                                      MakeChannel("psys", {0, kSecond * 10}, {15, 15}),
                                      MakeChannel("wall", {0, kSecond * 10}, {40, 40})});
  const Footprint footprint = MustAccount(power, ops_);
  EXPECT_DOUBLE_EQ(AccountOf(footprint, "psys").total.value, 50);
  EXPECT_DOUBLE_EQ(AccountOf(footprint, "wall").total.value, 250);
  double sum = 0;
  for (const ChannelAccount& account : footprint.channels) sum += account.total.value;
  EXPECT_DOUBLE_EQ(sum, 400) << "nothing is counted twice";
}

double SumOfTotals(const Footprint& footprint) {
  double sum = 0;
  for (const ChannelAccount& account : footprint.channels) sum += account.total.value;
  return sum;
}

// Both feed the machine; what came through which is not known, only what came through both.
TEST_F(ContainerTest, TwoPlugsKeepWhatTheyDoNotContainTogether) {
  const PowerTrace power = MakePower({MakeChannel("wall:1", {0, kSecond * 10}, {30, 30}),
                                      MakeChannel("CPU:0", {0, kSecond * 10}, {35, 35}),
                                      MakeChannel("GPU:0", {0, kSecond * 10}, {1, 1}),
                                      MakeChannel("wall:2", {0, kSecond * 10}, {10, 10})});
  const Footprint footprint = MustAccount(power, ops_);
  EXPECT_EQ(AccountOf(footprint, "CPU:0").within, "wall:1 + wall:2");
  EXPECT_DOUBLE_EQ(AccountOf(footprint, "wall:1").contained.value, 270);
  EXPECT_DOUBLE_EQ(AccountOf(footprint, "wall:2").contained.value, 90);
  EXPECT_DOUBLE_EQ(AccountOf(footprint, "wall:1").total.value, 30);
  EXPECT_DOUBLE_EQ(AccountOf(footprint, "wall:2").total.value, 10);
  EXPECT_DOUBLE_EQ(SumOfTotals(footprint), 400) << "nothing is counted twice or lost";
  EXPECT_THAT(Plain(footprint.notes), Not(Contains(HasSubstr("meters_disagree"))));
}

TEST_F(ContainerTest, WhatAPlugContainsAloneIsTakenFromItFirst) {
  PowerTrace power = MakePower({MakeChannel("wall:1", {0, kSecond * 10}, {30, 30}),
                                MakeChannel("wall:2", {0, kSecond * 10}, {30, 30}),
                                MakeChannel("CPU:0", {0, kSecond * 10}, {20, 20}),
                                MakeChannel("GPU:0", {0, kSecond * 10}, {20, 20})});
  power.channels[3].meter.within = "wall:2";
  const Footprint footprint = MustAccount(power, ops_);
  EXPECT_DOUBLE_EQ(AccountOf(footprint, "wall:1").contained.value, 150);
  EXPECT_DOUBLE_EQ(AccountOf(footprint, "wall:2").contained.value, 250);
  EXPECT_DOUBLE_EQ(SumOfTotals(footprint), 600);
}

TEST_F(ContainerTest, PlugsThatReadLessThanTheyContainDisagreeTogether) {
  const PowerTrace power = MakePower({MakeChannel("CPU:0", {0, 4 * kSecond}, {60, 60}),
                                      MakeChannel("wall:1", {0, 10 * kSecond}, {10, 10}),
                                      MakeChannel("wall:2", {0, 10 * kSecond}, {10, 10})});
  const Footprint footprint = MustAccount(power, ops_);
  EXPECT_DOUBLE_EQ(SumOfTotals(footprint), 200);
  EXPECT_THAT(Plain(footprint.notes),
              AllOf(Contains(StartsWith("meters_disagree wall:1 + wall:2 short_j=40")),
                    Contains("part_not_read CPU:0 missing_s=6 container=wall:1 + wall:2")));
  EXPECT_THAT(Plain(footprint.notes), Not(Contains(StartsWith("meters_disagree wall:1 short_j"))));
}

TEST_F(ContainerTest, PlugsThatReadNothingGiveAlike) {
  const PowerTrace power = MakePower({MakeChannel("CPU:0", {0, 4 * kSecond}, {60, 60}),
                                      MakeChannel("wall:1", {0, 10 * kSecond}, {0, 0}),
                                      MakeChannel("wall:2", {0, 10 * kSecond}, {0, 0})});
  const Footprint footprint = MustAccount(power, ops_);
  EXPECT_DOUBLE_EQ(AccountOf(footprint, "wall:1").total.value, -120);
  EXPECT_NEAR(SumOfTotals(footprint), 0, 1e-12);
}

TEST_F(ContainerTest, ANegativeRemainderIsNotedAndNotClamped) {
  const PowerTrace power = MakePower({MakeChannel("CPU:0", {0, 10 * kSecond}, {60, 60}),
                                      MakeChannel("wall", {0, 10 * kSecond}, {50, 50})});
  const Footprint footprint = MustAccount(power, ops_);
  EXPECT_DOUBLE_EQ(AccountOf(footprint, "wall").total.value, -100);
  EXPECT_LE(AccountOf(footprint, "wall").ClosureError(), 1e-12);
  EXPECT_THAT(Plain(footprint.notes), Contains("meters_disagree wall short_j=100"));
}

TEST_F(ContainerTest, AWallThatIsToldToFeedGivesOnlyItsRemainder) {
  const Footprint footprint = AccountWithFeedingWall(50);
  const ChannelAccount& wall = AccountOf(footprint, "wall");
  EXPECT_DOUBLE_EQ(wall.total.value, 400);
  EXPECT_DOUBLE_EQ(wall.attributed.value, 80);
  EXPECT_DOUBLE_EQ(wall.idle.value, 320);
  EXPECT_LE(wall.ClosureError(), 1e-12);
}

TEST_F(ContainerTest, TheLawHoldsForAFeedingWallThatReadsNothing) {
  const Footprint footprint = AccountWithFeedingWall(0);
  EXPECT_DOUBLE_EQ(AccountOf(footprint, "wall").total.value, -100);
  EXPECT_LE(AccountOf(footprint, "wall").ClosureError(), 1e-12);
}

TEST(AccountTest, UnmeteredOperationsHaveCountsAndTimeAtWork) {
  OpTraceMaker ops;
  ops.Add("cpu", 0, 100);
  ops.Add("outer", 0, 100, "GPU:0", 0)
      .Add("inner", 20, 50, "GPU:0", 0)
      .Add("inner", 60, 60, "GPU:0", 0);
  ops.Add("inner", 0, 30, "GPU:1");
  const Footprint footprint = MustAccount(MakePower({MakeChannel("CPU:0", {0, 100}, {1, 1})}), ops);
  EXPECT_EQ(footprint.shares.size(), 1U);
  std::map<std::string, std::pair<int64_t, uint64_t>> unmetered;
  for (const UnmeteredOps& each : footprint.unmetered) {
    unmetered[fmt::format("{} on {}", ops.trace().strings.Text(ops.trace().kinds[each.kind].op),
                          ops.trace().devices[each.device])] = {each.busy.value, each.count};
  }
  EXPECT_THAT(unmetered, ElementsAre(std::pair("inner on GPU:0", std::pair(30, 2)),
                                     std::pair("inner on GPU:1", std::pair(30, 1)),
                                     std::pair("outer on GPU:0", std::pair(70, 1))));
  EXPECT_THAT(Plain(footprint.notes), Contains(HasSubstr("operations_without_power GPU:0")));
}

TEST(AccountTest, NoteworthyReadingsAreNoted) {
  OpTraceMaker ops;
  ops.Add("A", 0, 100);
  PowerTrace power =
      MakePower({MakeChannel("CPU:0", {0, 50, 100}, {0, 5, 1}, ChannelKind::kEnergyCounter, {2}),
                 MakeChannel("DRAM:0", {20}, {5}), MakeChannel("GPU:0", {0, 100}, {3, 3})});
  power.channels[0].wraps = 3;
  AccountOptions options;
  options.policy = Policy::kExact;
  const Footprint footprint = MustAccount(power, ops, options);
  EXPECT_THAT(Plain(footprint.notes),
              Contains("gaps_between_readings CPU:0 intervals=1 why=counter_went_down"));
  EXPECT_THAT(Plain(footprint.notes), Contains("counter_wrapped CPU:0 wraps=3"));
  EXPECT_THAT(Plain(footprint.notes), Contains("single_reading DRAM:0"));
  EXPECT_THAT(Plain(footprint.notes), Contains("gauge_held GPU:0"));
  EXPECT_EQ(AccountOf(footprint, "CPU:0").uncovered.value, 50);
}

TEST(AccountTest, AnEmptyTraceIsAllIdleOrUnattributedAndSaid) {
  const Footprint footprint =
      MustAccount(MakePower({MakeChannel("CPU:0", {0, 1'000'000'000}, {5, 5})}), OpTrace());
  EXPECT_DOUBLE_EQ(footprint.channels[0].unattributed.value, 5);
  EXPECT_THAT(footprint.shares, IsEmpty());
  EXPECT_THAT(Plain(footprint.notes), Contains("no_operations"));
}

TEST(AccountTest, TheOffsetThatWasAppliedIsTold) {
  OpTraceMaker ops;
  ops.Add("A", 100, 200);
  AccountOptions options;
  options.align_starts = true;
  const Footprint footprint =
      MustAccount(MakePower({MakeChannel("CPU:0", {5000, 6000}, {5, 5})}), ops, options);
  EXPECT_EQ(footprint.clock_offset.value, 4900);
  EXPECT_EQ(footprint.clock_reason, "the starts aligned");
  EXPECT_EQ(footprint.shares[0].busy.value, 100);
}

TEST(AccountTest, ErrorsOfClockAndFeedsComeThrough) {
  OpTraceMaker ops;
  ops.Add("A", 0, 100);
  const PowerTrace power = MakePower({MakeChannel("CPU:0", {5000, 6000}, {5, 5})});
  const auto apart = Account(power, ops, {});
  ASSERT_FALSE(apart);
  EXPECT_THAT(apart.error().message, HasSubstr("do not overlap"));
  AccountOptions options;
  options.align_starts = true;
  options.feeds["GPU:1"] = {"all"};
  const auto unknown = Account(power, ops, options);
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::kMisuse);
}

}  // namespace
}  // namespace beryl::account
