#include <cmath>
#include <random>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "account/account_for_test.h"

namespace beryl::account {
namespace {

// Random traces against the slow reference.

using Random = std::mt19937_64;

int64_t Uniform(Random& random, int64_t low, int64_t high) {
  return std::uniform_int_distribution<int64_t>(low, high)(random);
}
bool Chance(Random& random, double probability) {
  return std::bernoulli_distribution(probability)(random);
}

struct Scenario {
  OpTraceMaker ops;
  PowerTrace power;
  AccountOptions options;
  Nanos offset;
};

// A short stretch has many equal starts and ends; a long one has lengths of all sizes.
Scenario RandomScenario(Random& random) {
  Scenario scenario;
  constexpr int64_t kEpochNs = 1'700'000'000'123'456'789;
  const int64_t base =
      std::vector<int64_t>{0, -40, kEpochNs, -kEpochNs}[static_cast<size_t>(Uniform(random, 0, 3))];
  const int64_t length =
      std::vector<int64_t>{30, 1'000, 50'000'000'000}[static_cast<size_t>(Uniform(random, 0, 2))];
  const std::vector<int64_t> offsets = {0, 0, 17, -length / 3, kEpochNs};
  scenario.offset =
      Nanos{base < kEpochNs && base >= -40 ? offsets[static_cast<size_t>(Uniform(random, 0, 4))]
                                           : offsets[static_cast<size_t>(Uniform(random, 0, 3))]};
  if (scenario.offset.value != 0) scenario.options.clock_offset = scenario.offset;
  scenario.options.policy = static_cast<Policy>(Uniform(random, 0, 3));

  std::vector<std::string> devices = {"CPU:0"};
  if (Chance(random, 0.4)) devices.push_back("CPU:1");
  if (Chance(random, 0.5)) devices.push_back("GPU:0");
  if (Chance(random, 0.3)) devices.push_back("GPU:1");
  if (Chance(random, 0.2)) devices.push_back("job:worker/task:1/CPU:0");
  if (Chance(random, 0.2)) devices.push_back("fan");
  for (const std::string& device : devices) scenario.ops.Device(device);

  const int64_t lanes = Uniform(random, 1, 3);
  const int64_t kinds = Uniform(random, 1, 6);
  const int64_t count = Chance(random, 0.05) ? 0 : Uniform(random, 1, 30);
  for (int64_t i = 0; i < count; ++i) {
    const auto device = Uniform(random, 0, static_cast<int64_t>(devices.size()) - 1);
    const int64_t start = base + Uniform(random, 0, length);
    const int64_t most = Chance(random, 0.3) ? length : length / 8 + 1;
    int64_t end = start + (Chance(random, 0.1) ? 0 : Uniform(random, 0, most));
    const uint32_t lane = Chance(random, 0.3)
                              ? kNoLane
                              : static_cast<uint32_t>(device * 3 + Uniform(random, 0, lanes - 1));
    const uint32_t step =
        Chance(random, 0.3) ? kNoStep : static_cast<uint32_t>(Uniform(random, 0, 2));
    const std::string name = fmt::format("op{}", Uniform(random, 0, kinds - 1));
    scenario.ops.Add(name, start, end, devices[static_cast<size_t>(device)], lane, step);
    // The same once more, or one that starts or ends with it.
    if (Chance(random, 0.15)) {
      scenario.ops.Add(name, start, end, devices[static_cast<size_t>(device)], lane, step);
    }
    if (Chance(random, 0.15) && start < end) {
      const int64_t from = Chance(random, 0.5) ? start : Uniform(random, start, end);
      const int64_t to = Chance(random, 0.5) ? end : Uniform(random, from, end + length / 10);
      scenario.ops.Add("inner", from, to, devices[static_cast<size_t>(device)], lane, step);
    }
  }

  const double magnitude = std::uniform_real_distribution<double>(0, 14)(random);
  for (const char* name : {"CPU:0", "CPU:1", "CPU:2", "DRAM:0", "DRAM:3", "CORE:0", "GPU:0",
                           "GPU:1", "GPU:7", "psys", "wall", "fan"}) {
    if (Chance(random, 0.5) && !(scenario.power.channels.empty() && std::string("fan") == name)) {
      continue;
    }
    const int64_t readings = Chance(random, 0.05) ? 1 : Uniform(random, 2, 25);
    std::set<int64_t> times;
    const int64_t shift = Uniform(random, -length / 2, length / 2);
    const int64_t window = Uniform(random, 1, length);
    for (int64_t i = 0; i < readings; ++i) {
      times.insert(base + scenario.offset.value + shift + Uniform(random, 0, window));
    }
    const ChannelKind kind =
        Chance(random, 0.4) ? ChannelKind::kEnergyCounter : ChannelKind::kPowerGauge;
    std::vector<double> values;
    std::vector<size_t> gaps;
    double counter = 0;
    for (size_t i = 0; i < times.size(); ++i) {
      double value =
          std::exp(std::uniform_real_distribution<double>(-magnitude, magnitude)(random));
      if (Chance(random, 0.1)) value = 0;
      if (kind == ChannelKind::kPowerGauge) {
        values.push_back(value);
        continue;
      }
      if (i > 0 && Chance(random, 0.1)) {
        gaps.push_back(i);
        counter = 0;
      } else if (i > 0) {
        counter += value;
      }
      values.push_back(counter);
    }
    scenario.power.channels.push_back(
        MakeChannel(name, {times.begin(), times.end()}, std::move(values), kind, gaps));
  }
  return scenario;
}

// The feeds, computed independently: every host channel feeds every CPU, unless the trace names
// several and all of them have their channel.
std::vector<bool> FedDevices(const Scenario& scenario, const PowerChannel& channel) {
  const OpTrace& ops = scenario.ops;
  std::set<std::string> used;
  for (const Op& op : ops.ops) used.insert(ops.devices[op.device]);
  std::set<std::string> channels;
  for (const PowerChannel& each : scenario.power.channels) channels.insert(each.name);
  const bool one_to_one = used.contains("CPU:0") && used.contains("CPU:1") &&
                          channels.contains("CPU:0") && channels.contains("CPU:1");
  std::vector<bool> fed;
  for (const std::string& device : ops.devices) {
    const bool host = channel.name.starts_with("CPU:") || channel.name.starts_with("DRAM:");
    const std::string own = "CPU:" + channel.name.substr(channel.name.find(':') + 1);
    if (host && one_to_one && channels.contains(own)) {
      fed.push_back(device == own);
    } else if (host) {
      fed.push_back(device.starts_with("CPU:"));
    } else {
      fed.push_back(device == channel.name && (device.starts_with("GPU:") || device == "fan"));
    }
  }
  return fed;
}

// The channels directly inside a container. One that tells nothing contains nothing.
std::vector<const PowerChannel*> Inside(const PowerTrace& power, const std::string& container) {
  const auto tells = [&](const std::string& name) {
    return std::any_of(power.channels.begin(), power.channels.end(), [&](const PowerChannel& each) {
      return each.name == name && each.times.size() > each.gaps.size() + 1;
    });
  };
  const bool board = tells("psys");
  const bool package = tells("CPU:0");
  std::vector<const PowerChannel*> inside;
  if (!tells(container)) return inside;
  for (const PowerChannel& each : power.channels) {
    const bool host = each.name.starts_with("CPU:") || each.name.starts_with("DRAM:") ||
                      (each.name == "CORE:0" && !package);
    const bool elsewhere = each.name.starts_with("GPU:") || each.name == "fan";
    if (container == "psys" && host) inside.push_back(&each);
    if (container == "wall" && (elsewhere || (host && !board) || each.name == "psys")) {
      inside.push_back(&each);
    }
  }
  return inside;
}

bool SpansMeet(const Scenario& scenario) {
  const OpTrace& ops = scenario.ops;
  if (ops.ops.empty()) return true;
  int64_t ops_start = std::numeric_limits<int64_t>::max();
  int64_t ops_end = std::numeric_limits<int64_t>::min();
  for (const Op& op : ops.ops) {
    ops_start = std::min(ops_start, (op.start + scenario.offset).value);
    ops_end = std::max(ops_end, (op.end + scenario.offset).value);
  }
  int64_t power_start = std::numeric_limits<int64_t>::max();
  int64_t power_end = std::numeric_limits<int64_t>::min();
  for (const PowerChannel& channel : scenario.power.channels) {
    power_start = std::min(power_start, channel.times.front().value);
    power_end = std::max(power_end, channel.times.back().value);
  }
  return ops_end > power_start && ops_start < power_end;
}

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
