#include <cmath>
#include <random>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "account/account_for_test.h"
#include "account/scenario_for_test.h"

namespace beryl::account {
namespace {

// Random traces against the slow reference.

// Relative to the value itself, or to rounding of the whole.
void ExpectClose(double actual, long double expected, long double whole, const std::string& what) {
  const long double allowed = 1e-9L * std::fabs(expected) + 1e-15L * std::fabs(whole);
  EXPECT_LE(std::fabs(static_cast<long double>(actual) - expected), allowed)
      << what << ": " << actual << " and not " << static_cast<double>(expected);
}

void ExpectSameAsReference(const Scenario& scenario, const Footprint& footprint) {
  const OpTrace& ops = scenario.ops;
  const Policy policy = scenario.options.policy;
  std::vector<bool> fed_by_any(ops.devices.size(), false);
  ASSERT_EQ(footprint.channels.size(), scenario.power.channels.size());
  size_t shares_seen = 0;
  for (size_t c = 0; c < footprint.channels.size(); ++c) {
    const PowerChannel& channel = scenario.power.channels[c];
    const ChannelAccount& account = footprint.channels[c];
    SCOPED_TRACE(channel.name);
    const std::vector<bool> fed = FedDevices(scenario, channel);
    for (size_t device = 0; device < fed.size(); ++device) {
      if (fed[device]) fed_by_any[device] = true;
    }
    const bool anyone =
        std::any_of(ops.ops.begin(), ops.ops.end(), [&](const Op& op) { return fed[op.device]; });
    const ReferenceAccount reference = ShareOutSlowly(ops, fed, scenario.offset, channel, policy);
    const long double measured = reference.total_j;
    ExpectClose(account.measured.value, measured, measured, "measured");
    long double contained = 0;
    for (const PowerChannel* inner : Inside(scenario.power, channel.name)) {
      contained += IntegrateSlowly(*inner, policy, channel.times.front(), channel.times.back());
    }
    ExpectClose(account.contained.value, contained, contained, "contained");
    ExpectClose(account.total.value, measured - contained, measured + contained, "total");
    EXPECT_LE(account.ClosureError(), 1e-9);
    const double left = account.total.value - account.attributed.value - account.idle.value -
                        account.unattributed.value;
    EXPECT_LE(std::fabs(left), 1e-9 * std::fabs(account.total.value));
    if (!anyone) {
      EXPECT_EQ(account.unattributed.value, account.total.value);
      EXPECT_EQ(account.attributed.value, 0);
      EXPECT_EQ(account.idle.value, 0);
      continue;
    }
    EXPECT_EQ(account.unattributed.value, 0);
    ExpectClose(account.idle.value, reference.idle_j, measured, "idle");
    ExpectClose(account.outside_trace.value, reference.outside_j, measured, "outside the trace");
    EXPECT_EQ(account.uncovered.value, reference.uncovered_ns);
    EXPECT_EQ(account.readings, channel.times.size());

    std::set<std::pair<uint32_t, uint32_t>> keys;
    for (const EnergyShare& share : footprint.shares) {
      if (share.channel != c) continue;
      ++shares_seen;
      const std::pair key(share.kind, share.step);
      EXPECT_TRUE(keys.insert(key).second) << "two shares with one key";
      const auto expected = reference.shares.find(key);
      ASSERT_NE(expected, reference.shares.end());
      ExpectClose(share.energy.value, expected->second.energy_j, measured, "energy");
      EXPECT_EQ(share.busy.value, expected->second.busy_ns);
      EXPECT_EQ(share.count, expected->second.count);
    }
    EXPECT_EQ(keys.size(), reference.shares.size());
  }
  EXPECT_EQ(shares_seen, footprint.shares.size());

  // Where nothing feeds a device, time at work and counts are all there is to know.
  std::map<std::pair<uint32_t, uint16_t>, std::pair<int64_t, uint64_t>> unmetered;
  for (const UnmeteredOps& each : footprint.unmetered) {
    auto& [busy, count] = unmetered[{each.kind, each.device}];
    busy += each.busy.value;
    count += each.count;
  }
  std::map<std::pair<uint32_t, uint16_t>, std::pair<int64_t, uint64_t>> expected;
  for (uint16_t device = 0; device < ops.devices.size(); ++device) {
    if (fed_by_any[device]) continue;
    std::vector<bool> one(ops.devices.size(), false);
    one[device] = true;
    constexpr int64_t kEver = 4'000'000'000'000'000'000;
    const PowerChannel always = MakeChannel("any", {-kEver, kEver}, {0, 0});
    for (const auto& [key, share] :
         ShareOutSlowly(ops, one, scenario.offset, always, Policy::kHold).shares) {
      auto& [busy, count] = expected[{key.first, device}];
      busy += share.busy_ns;
      count += share.count;
    }
  }
  EXPECT_EQ(unmetered, expected);
}

TEST(AccountPropertyTest, AgreesWithTheReferenceOnRandomTraces) {
  Random random(20240501);
  int accounted = 0;
  for (int round = 0; round < 4000 && !::testing::Test::HasFailure(); ++round) {
    const Scenario scenario = RandomScenario(random);
    SCOPED_TRACE(fmt::format("round {}", round));
    const auto footprint = Account(scenario.power, scenario.ops, scenario.options);
    ASSERT_EQ(static_cast<bool>(footprint), SpansMeet(scenario))
        << (footprint ? "accounted" : footprint.error().message);
    if (!footprint) continue;
    ++accounted;
    ExpectSameAsReference(scenario, *footprint);
  }
  EXPECT_GT(accounted, 3000) << "most of the random traces have to be worth something";
}

TEST(AccountPropertyTest, ReferenceItselfAgreesWithEveryNanosecond) {
  Random random(7);
  for (int round = 0; round < 200; ++round) {
    OpTraceMaker ops;
    for (int64_t i = Uniform(random, 1, 12); i > 0; --i) {
      const int64_t start = Uniform(random, 0, 60);
      ops.Add(fmt::format("op{}", i % 3), start, start + Uniform(random, 0, 30), "CPU:0",
              Chance(random, 0.5) ? kNoLane : static_cast<uint32_t>(Uniform(random, 0, 1)));
    }
    const PowerChannel channel = MakeChannel("CPU:0", {5, 20, 33, 80}, {3, 1, 8, 2});
    for (const Policy policy : {Policy::kHold, Policy::kLinear}) {
      const ReferenceAccount cut = ShareOutSlowly(ops, {true}, {}, channel, policy);
      const ReferenceAccount every =
          ShareOutSlowly(ops, {true}, {}, channel, policy, /*every_ns=*/true);
      ASSERT_EQ(cut.shares.size(), every.shares.size());
      for (const auto& [key, share] : cut.shares) {
        const ReferenceShare& same = every.shares.at(key);
        EXPECT_NEAR(static_cast<double>(share.energy_j), static_cast<double>(same.energy_j), 1e-21);
        EXPECT_EQ(share.busy_ns, same.busy_ns);
      }
      EXPECT_NEAR(static_cast<double>(cut.idle_j), static_cast<double>(every.idle_j), 1e-21);
      EXPECT_EQ(cut.uncovered_ns, every.uncovered_ns);
    }
  }
}

// The mean of what lies below `ceiling` of a straight line from `first` to `second`.
long double MeanBelow(long double first, long double second, long double ceiling) {
  const long double low = std::min(first, second);
  const long double high = std::max(first, second);
  if (high <= ceiling) return (low + high) / 2;
  if (low >= ceiling) return ceiling;
  const long double part = (ceiling - low) / (high - low);
  return part * (low + ceiling) / 2 + (1 - part) * ceiling;
}

TEST(AccountPropertyTest, StaticAndDynamicPartsKeepTheSum) {
  Random random(99);
  int split = 0;
  for (int round = 0; round < 1000 && !::testing::Test::HasFailure(); ++round) {
    Scenario scenario = RandomScenario(random);
    if (!SpansMeet(scenario)) continue;
    SCOPED_TRACE(fmt::format("round {}", round));
    const Footprint plain = MustAccount(scenario.power, scenario.ops, scenario.options);
    const Watts idle{std::exp(std::uniform_real_distribution<double>(-3, 3)(random))};
    scenario.options.idle_power["all"] = idle;
    const Footprint footprint = MustAccount(scenario.power, scenario.ops, scenario.options);
    ASSERT_EQ(footprint.shares.size(), plain.shares.size());
    for (size_t i = 0; i < footprint.shares.size(); ++i) {
      const EnergyShare& share = footprint.shares[i];
      EXPECT_EQ(share.energy.value, plain.shares[i].energy.value) << "the split changes no share";
      const PowerChannel& channel = scenario.power.channels[share.channel];
      // A line crosses the idle power between two nanoseconds; half of one is what that can cost.
      const double highest = *std::max_element(channel.values.begin(), channel.values.end());
      const double slack = scenario.options.policy == Policy::kLinear
                               ? 0.5e-9 * highest * static_cast<double>(channel.times.size())
                               : 0;
      const double whole = footprint.channels[share.channel].measured.value;
      const double dust = 1e-9 * share.energy.value + 1e-15 * whole + slack;
      EXPECT_GE(share.static_part.value, 0);
      EXPECT_LE(share.static_part.value, share.energy.value + dust);
      EXPECT_LE(share.static_part.value, (idle * share.busy).value * (1 + 1e-9) + dust);
    }
    for (size_t c = 0; c < footprint.channels.size(); ++c) {
      const ChannelAccount& account = footprint.channels[c];
      const PowerChannel& channel = scenario.power.channels[c];
      if (!account.static_part || channel.kind != ChannelKind::kPowerGauge) continue;
      long double expected = 0;
      long double slack = 0;
      for (size_t i = 0; i + 1 < channel.times.size(); ++i) {
        const long double length =
            static_cast<long double>((channel.times[i + 1] - channel.times[i]).value) * 1e-9L;
        const long double first = channel.values[i];
        const long double second =
            scenario.options.policy == Policy::kLinear ? channel.values[i + 1] : first;
        expected += MeanBelow(first, second, idle.value) * length;
        slack += 0.5e-9L * std::fabs(second - first);
      }
      EXPECT_LE(std::fabs(account.static_part->value - expected), 1e-9L * expected + slack);
      ++split;
    }
  }
  EXPECT_GT(split, 300);
}

TEST(AccountParallelTest, ThreadsChangeNotOneBit) {
  Random random(5);
  int compared = 0;
  for (int round = 0; round < 150; ++round) {
    Scenario scenario = RandomScenario(random);
    if (!SpansMeet(scenario)) continue;
    scenario.options.idle_power["all"] = Watts{2};
    const Footprint one = MustAccount(scenario.power, scenario.ops, scenario.options);
    scenario.options.threads = 4;
    const Footprint four = MustAccount(scenario.power, scenario.ops, scenario.options);
    ASSERT_EQ(one.shares.size(), four.shares.size());
    for (size_t i = 0; i < one.shares.size(); ++i) {
      const EnergyShare& a = one.shares[i];
      const EnergyShare& b = four.shares[i];
      EXPECT_EQ(std::tuple(a.kind, a.step, a.channel, a.energy, a.static_part, a.busy, a.count),
                std::tuple(b.kind, b.step, b.channel, b.energy, b.static_part, b.busy, b.count));
      ++compared;
    }
    ASSERT_EQ(one.channels.size(), four.channels.size());
    for (size_t i = 0; i < one.channels.size(); ++i) {
      const ChannelAccount& a = one.channels[i];
      const ChannelAccount& b = four.channels[i];
      EXPECT_EQ(std::tuple(a.total, a.attributed, a.idle, a.unattributed, a.outside_trace,
                           a.static_part, a.uncovered),
                std::tuple(b.total, b.attributed, b.idle, b.unattributed, b.outside_trace,
                           b.static_part, b.uncovered));
    }
    EXPECT_EQ(one.notes, four.notes);
  }
  EXPECT_GT(compared, 500);
}

}  // namespace
}  // namespace beryl::account
