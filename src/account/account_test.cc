#include "account/account.h"

#include <cmath>
#include <random>
#include <tuple>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "account/reference_testing.h"
#include "types/note_testing.h"

namespace beryl::account {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

constexpr int64_t kMicro = 1000;
constexpr double kMicrojoule = 1e-6;

Footprint MustAccount(const PowerTrace& power, const OpTrace& ops,
                      const AccountOptions& options = {}) {
  auto footprint = Account(power, ops, options);
  EXPECT_TRUE(footprint) << (footprint ? "" : footprint.error().message);
  return footprint ? std::move(*footprint) : Footprint();
}

// The energy of an operation over all channels and steps.
double EnergyOf(const Footprint& footprint, const OpTrace& ops, std::string_view name) {
  double sum = 0;
  for (const EnergyShare& share : footprint.shares) {
    if (ops.strings.Text(ops.kinds[share.kind].op) == name) sum += share.energy.value;
  }
  return sum;
}

const ChannelAccount& AccountOf(const Footprint& footprint, std::string_view channel) {
  for (const ChannelAccount& account : footprint.channels) {
    if (account.channel == channel) return account;
  }
  ADD_FAILURE() << "no channel " << channel;
  return footprint.channels.front();
}

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

// ---------------------------------------------------------------------------------------------
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

// The feeds, said once more: every host channel feeds every CPU, unless the trace names several and
// all of them have their channel.
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

// Relative to the value itself, or to the last digits of the whole.
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

// ---------------------------------------------------------------------------------------------
// The idle-power split.

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
  AccountOptions options;
  options.feeds["wall"] = {"all"};
  const PowerTrace power = MakePower({MakeChannel("GPU:0", {0, 10 * kSecond}, {10, 10}),
                                      MakeChannel("wall", {0, 10 * kSecond}, {50, 50})});
  const Footprint footprint = MustAccount(power, ops_, options);
  const ChannelAccount& wall = AccountOf(footprint, "wall");
  EXPECT_DOUBLE_EQ(wall.total.value, 400);
  EXPECT_DOUBLE_EQ(wall.attributed.value, 80);
  EXPECT_DOUBLE_EQ(wall.idle.value, 320);
  EXPECT_LE(wall.ClosureError(), 1e-12);
}

TEST_F(ContainerTest, TheLawHoldsForAFeedingWallThatReadsNothing) {
  AccountOptions options;
  options.feeds["wall"] = {"all"};
  const PowerTrace power = MakePower({MakeChannel("GPU:0", {0, 10 * kSecond}, {10, 10}),
                                      MakeChannel("wall", {0, 10 * kSecond}, {0, 0})});
  const Footprint footprint = MustAccount(power, ops_, options);
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
