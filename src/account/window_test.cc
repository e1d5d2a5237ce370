// Parts of a run: what is accounted in a window is what the slow reference finds there, the law
// holds within it, and windows that follow one another add up to the whole.
#include <map>
#include <tuple>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "account/account_for_test.h"
#include "account/recording_testing.h"
#include "account/scenario_for_test.h"
#include "base/matchers_for_test.h"

namespace beryl::account {
namespace {

using ::testing::HasSubstr;

Span SpanOfRun(const Scenario& scenario) {
  Span span{scenario.power.channels[0].times.front(), scenario.power.channels[0].times.front()};
  const auto include = [&](Nanos from, Nanos to) {
    span.from = std::min(span.from, from);
    span.to = std::max(span.to, to);
  };
  for (const PowerChannel& channel : scenario.power.channels) {
    include(channel.times.front(), channel.times.back());
  }
  for (const Op& op : static_cast<const OpTrace&>(scenario.ops).ops) {
    include(op.start + scenario.offset, std::max(op.start, op.end) + scenario.offset);
  }
  return span;
}

Footprint AccountWithin(const Scenario& scenario, Span window) {
  AccountOptions options = scenario.options;
  options.window = {{window.from, window.to, window.from}};
  return MustAccount(scenario.power, scenario.ops, options);
}

// Relative to the whole of the channel: parts of it carry its rounding.
void ExpectSame(double actual, long double expected, long double whole, const std::string& what) {
  EXPECT_LE(std::fabs(static_cast<long double>(actual) - expected), 1e-9L * std::fabs(whole))
      << what << ": " << actual << " and not " << static_cast<double>(expected);
}

void ExpectReference(const Scenario& scenario, Span window, const Footprint& footprint) {
  const OpTrace& ops = scenario.ops;
  for (size_t c = 0; c < footprint.channels.size(); ++c) {
    const PowerChannel& channel = scenario.power.channels[c];
    const ChannelAccount& account = footprint.channels[c];
    SCOPED_TRACE(channel.name);
    const std::vector<bool> fed = FedDevices(scenario, channel);
    const auto reference =
        ShareOutSlowly(ops, fed, scenario.offset, channel, scenario.options.policy, false, window);
    const double whole = account.measured.value;
    ExpectSame(whole, reference.total_j, reference.total_j, "measured");
    long double contained = 0;
    for (const PowerChannel* inner : Inside(scenario.power, channel.name)) {
      contained += IntegrateSlowly(*inner, scenario.options.policy,
                                   std::max(channel.times.front(), window.from),
                                   std::min(channel.times.back(), window.to));
    }
    ExpectSame(account.contained.value, contained, contained, "contained");
    EXPECT_LE(account.ClosureError(), 1e-9);
    if (account.fed_devices.empty()) {
      EXPECT_EQ(account.unattributed, account.total);
      continue;
    }
    ExpectSame(account.idle.value, reference.idle_j, whole, "idle");
    ExpectSame(account.outside_trace.value, reference.outside_j, whole, "outside the trace");
    EXPECT_EQ(account.uncovered.value, reference.uncovered_ns);
    std::map<std::pair<uint32_t, uint32_t>, ReferenceShare> expected = reference.shares;
    std::erase_if(expected, [](const auto& share) { return share.second.count == 0; });
    size_t seen = 0;
    for (const EnergyShare& share : footprint.shares) {
      if (share.channel != c) continue;
      ++seen;
      const auto found = expected.find({share.kind, share.step});
      ASSERT_NE(found, expected.end());
      ExpectSame(share.energy.value, found->second.energy_j, whole, "energy");
      EXPECT_EQ(share.busy.value, found->second.busy_ns);
      EXPECT_EQ(share.count, found->second.count);
    }
    EXPECT_EQ(seen, expected.size());
  }
}

// Calls try_one(random, scenario, run), which returns whether it could check anything, with random
// runs. Of all rounds more than `least` must have been checked.
template <typename TryOne>
void TryRandomRuns(uint64_t seed, int rounds, int least, TryOne&& try_one) {
  std::mt19937_64 random(seed);
  int checked = 0;
  for (int round = 0; round < rounds && !::testing::Test::HasFailure(); ++round) {
    const Scenario scenario = RandomScenario(random);
    if (!SpansMeet(scenario)) continue;
    SCOPED_TRACE(fmt::format("round {}", round));
    if (try_one(random, scenario, SpanOfRun(scenario))) ++checked;
  }
  EXPECT_GT(checked, least);
}

TEST(WindowPropertyTest, AgreesWithTheReferenceOnRandomTraces) {
  TryRandomRuns(20261119, 3000, 2000, [](auto& random, const Scenario& scenario, const Span& run) {
    const Nanos one{Uniform(random, run.from.value, run.to.value)};
    const Nanos other{Uniform(random, run.from.value, run.to.value)};
    if (one == other) return false;
    const Span window{std::min(one, other), std::max(one, other)};
    ExpectReference(scenario, window, AccountWithin(scenario, window));
    return true;
  });
}

// By channel: total, idle, unattributed, and what each kind took.
using Sums = std::map<std::tuple<size_t, std::string, uint32_t>, double>;

void AddTo(Sums& sums, const Footprint& footprint) {
  for (size_t c = 0; c < footprint.channels.size(); ++c) {
    const ChannelAccount& account = footprint.channels[c];
    sums[{c, "measured", 0}] += account.measured.value;
    sums[{c, "contained", 0}] += account.contained.value;
    sums[{c, "idle", 0}] += account.idle.value;
    sums[{c, "outside", 0}] += account.outside_trace.value;
    sums[{c, "uncovered", 0}] += static_cast<double>(account.uncovered.value);
  }
  for (const EnergyShare& share : footprint.shares) {
    sums[{share.channel, "energy", share.kind}] += share.energy.value;
    sums[{share.channel, "busy", share.kind}] += static_cast<double>(share.busy.value);
  }
}

TEST(WindowPropertyTest, WindowsThatFollowOneAnotherAddUpToTheWhole) {
  TryRandomRuns(7, 600, 300, [](auto& random, const Scenario& scenario, const Span& run) {
    std::set<int64_t> edges = {run.from.value, run.to.value};
    for (int64_t cuts = Uniform(random, 1, 6); cuts > 0; --cuts) {
      edges.insert(Uniform(random, run.from.value, run.to.value));
    }
    Sums parts;
    for (auto edge = edges.begin(); std::next(edge) != edges.end(); ++edge) {
      AddTo(parts, AccountWithin(scenario, {Nanos{*edge}, Nanos{*std::next(edge)}}));
    }
    Sums whole;
    AddTo(whole, MustAccount(scenario.power, scenario.ops, scenario.options));
    for (const auto& [what, value] : whole) {
      const double all =
          whole[{std::get<0>(what), "measured", 0}] + whole[{std::get<0>(what), "contained", 0}];
      const bool is_time = std::get<1>(what) == "busy" || std::get<1>(what) == "uncovered";
      EXPECT_NEAR(parts[what], value, is_time ? 0.5 : 1e-9 * std::fabs(all)) << std::get<1>(what);
    }
    return true;
  });
}

// A watt for a second; three steps of 300 ms with an operation each, and a late kernel.
class WindowTest : public ::testing::Test {
 protected:
  WindowTest() : power_(MakePower({MakeChannel("CPU:0", {0, kMs * 1000}, {1, 1})})) {
    for (uint32_t step = 0; step < 3; ++step) {
      const int64_t start = step * kMs * 300;
      ops_.Add("A", start, start + kMs * 200, "CPU:0", kNoLane, step);
      ops_.trace().steps.push_back(
          {fmt::format("ProfilerStep#{}", step), Nanos{start}, Nanos{start + kMs * 300}});
    }
    ops_.Add("late", kMs * 250, kMs * 350, "CPU:0", kNoLane, 0);
  }

  TimeWindow Find(const WindowChoice& choice) {
    const auto found = FindWindow(power_, ops_, {}, {}, choice);
    EXPECT_TRUE(found) << (found ? "" : found.error().message);
    return found ? *found : TimeWindow();
  }
  Footprint AccountIn(const WindowChoice& choice) {
    AccountOptions options;
    options.window = Find(choice);
    return MustAccount(power_, ops_, options);
  }
  std::string Refusal(const WindowChoice& choice) {
    const auto found = FindWindow(power_, ops_, {}, {}, choice);
    return found ? "found" : found.error().message;
  }

  static constexpr int64_t kMs = 1'000'000;
  PowerTrace power_;
  OpTraceMaker ops_;
};

TEST_F(WindowTest, IsCutToTheRun) {
  const TimeWindow all = Find({.from = Nanos{-kMs}});
  EXPECT_EQ(std::tuple(all.from.value, all.to.value), std::tuple(0, 1000 * kMs));
  const TimeWindow part = Find({.from = Nanos{kMs}, .to = Nanos{kMs * 5000}});
  EXPECT_EQ(std::tuple(part.from.value, part.to.value), std::tuple(kMs, 1000 * kMs));
}

TEST_F(WindowTest, OfStepsIsTheirTime) {
  const TimeWindow steps = Find({.steps = {{1, 2}}});
  EXPECT_EQ(std::tuple(steps.from.value, steps.to.value), std::tuple(300 * kMs, 900 * kMs));
  EXPECT_EQ(steps.steps, "1-2");
  EXPECT_EQ(WindowText(steps), "steps 1-2, 0.3 s to 0.9 s of the run");
  const TimeWindow half = Find({.from = Nanos{700 * kMs}, .steps = {{2, 2}}});
  EXPECT_EQ(WindowText(half), "step 2, 0.7 s to 0.9 s of the run");
}

TEST_F(WindowTest, WithNothingInItIsRefusedWithTheTimesOfTheRun) {
  EXPECT_THAT(Refusal({.from = Nanos{kMs * 2000}}),
              HasSubstr("from 2 s to its end: there is nothing of the run then; it goes from 0 s "
                        "to 1 s"));
  EXPECT_THAT(Refusal({.from = Nanos{kMs * 7}, .to = Nanos{kMs * 7}}), HasSubstr("nothing"));
}

TEST_F(WindowTest, CountsOnlyWholeStepsAsSteps) {
  const Footprint two = AccountIn({.steps = {{1, 2}}});
  EXPECT_EQ(two.whole_steps, 2U);
  EXPECT_EQ(KnownSteps(two), (std::vector<uint32_t>{1, 2}));
  EXPECT_NEAR(EnergyOf(two, ops_, "A"), 0.2 + 0.15 + 0.025, 1e-12);
  EXPECT_NEAR(EnergyOf(two, ops_, "late"), 0.025, 1e-12);
  EXPECT_NEAR(AccountOf(two, "CPU:0").total.value, 0.6, 1e-12);
  // From the middle of step 0 on, its rest is of no step.
  const Footprint most = AccountIn({.from = Nanos{100 * kMs}});
  EXPECT_EQ(most.whole_steps, 2U);
  EXPECT_EQ(KnownSteps(most), (std::vector<uint32_t>{1, 2}));
  EXPECT_NEAR(AccountOf(most, "CPU:0").total.value, 0.9, 1e-12);
}

TEST_F(WindowTest, BetweenOperationsIsIdleButNotOutsideOfTheTrace) {
  const Footprint between = AccountIn({.from = Nanos{kMs * 510}, .to = Nanos{kMs * 590}});
  EXPECT_NEAR(AccountOf(between, "CPU:0").idle.value, 0.08, 1e-12);
  EXPECT_EQ(AccountOf(between, "CPU:0").outside_trace.value, 0);
  const Footprint end = AccountIn({.from = Nanos{kMs * 900}});
  EXPECT_NEAR(AccountOf(end, "CPU:0").outside_trace.value, 0.1, 1e-12);
}

TEST_F(WindowTest, IsOnTheClockOfThePower) {
  AccountOptions options;
  options.align_starts = true;
  power_ = MakePower({MakeChannel("CPU:0", {kMs * 5000, kMs * 6000}, {1, 1})});
  const auto found = FindWindow(power_, ops_, {}, options, {.steps = {{0, 0}}});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->from.value, kMs * 5000);
  options.window = *found;
  // The clocks are fitted by the whole run, not by what is left of it.
  options.window->from = Nanos{kMs * 5100};
  const Footprint footprint = MustAccount(power_, ops_, options);
  EXPECT_NEAR(EnergyOf(footprint, ops_, "A"), 0.1, 1e-12);
  EXPECT_NEAR(EnergyOf(footprint, ops_, "late"), 0.05, 1e-12);
  EXPECT_EQ(footprint.clock_offset.value, kMs * 5000);
}

TEST_F(WindowTest, LeavesOutWhatDoesNotReachIn) {
  AccountOptions options;
  options.window = Find({.from = Nanos{kMs * 200}, .to = Nanos{kMs * 300}});
  LeaveOutside(power_, options, ops_.trace());
  ASSERT_EQ(ops_.trace().ops.size(), 1U);
  EXPECT_EQ(ops_.trace().ops[0].start.value, kMs * 250);
}

TEST_F(WindowTest, ReadEnergyIsThatOfTheWindow) {
  AccountOptions options;
  options.window = Find({.from = Nanos{kMs * 200}, .to = Nanos{kMs * 300}});
  const auto read = ReadEnergies(power_, options);
  ASSERT_EQ(read[0].energy_j.size(), 1U);
  EXPECT_NEAR(read[0].energy_j[0], 0.1, 1e-12);
  EXPECT_EQ(read[0].times.front().value, kMs * 200);
}

// A recording of a second with a task of ours and a busier machine, and a counter that rises.
class MeasureWindowTest : public ::testing::Test {
 protected:
  MeasureWindowTest() : made_({0, 0}) {
    made_.RunASecond(made_.AddTask(7), 4, 1, 3);
    std::vector<double> watts;
    for (int i = 0; i < 250; ++i) watts.push_back(20 + i * 0.1);
    power_ = Trace({TestCounter("CPU:0", watts)});
    made_.recording().windows = {{"round 1", At(100), At(400)}, {"round 2", At(500), At(900)}};
  }

  static Nanos At(int64_t milliseconds) { return Nanos{kTestStart + milliseconds * kMilli}; }
  Measurement MeasureIn(int64_t from_ms, int64_t to_ms) {
    MeasureOptions options;
    options.window = {{At(from_ms), At(to_ms), At(0)}};
    return Measure(power_, made_.recording(), options);
  }

  TestRecording made_;
  PowerTrace power_;
};

TEST_F(MeasureWindowTest, PartsAddUpToTheWhole) {
  const Measurement whole = Measure(power_, made_.recording(), {});
  std::map<std::string, double> sums;
  for (const auto& [from, to] : {std::pair(0, 333), std::pair(333, 410), std::pair(410, 1000)}) {
    const Measurement part = MeasureIn(from, to);
    EXPECT_NEAR(part.duration.value, (to - from) * 1e-3, 1e-12);
    ASSERT_EQ(part.devices.size(), 1U);
    const DeviceEnergy& device = part.devices[0];
    sums["energy"] += ValueOrNan(device.energy);
    sums["ours"] += ValueOrNan(device.split.ours);
    sums["others"] += ValueOrNan(device.split.others);
    sums["idle"] += ValueOrNan(device.split.idle);
    ASSERT_EQ(part.processes.size(), 1U);
    sums["process"] += part.processes[0].energy_j[0];
    sums["cpu"] += part.processes[0].cpu_time.value;
    sums["readings"] += static_cast<double>(part.channels[0].readings);
  }
  const DeviceEnergy& device = whole.devices[0];
  EXPECT_NEAR(sums["energy"], ValueOrNan(device.energy), 1e-9);
  EXPECT_NEAR(sums["ours"], ValueOrNan(device.split.ours), 1e-9);
  EXPECT_NEAR(sums["others"], ValueOrNan(device.split.others), 1e-9);
  EXPECT_NEAR(sums["idle"], ValueOrNan(device.split.idle), 1e-9);
  EXPECT_NEAR(sums["process"], whole.processes[0].energy_j[0], 1e-9);
  EXPECT_NEAR(sums["cpu"], whole.processes[0].cpu_time.value, 1e-9);
  EXPECT_EQ(sums["readings"], 251);
}

TEST_F(MeasureWindowTest, HasTheRoundsThatAreWhollyInIt) {
  const Measurement part = MeasureIn(50, 700);
  ASSERT_EQ(part.windows.size(), 1U);
  EXPECT_EQ(part.windows[0].name, "round 1");
  EXPECT_NEAR(part.windows[0].start.value, 0.05, 1e-12);
  EXPECT_EQ(part.round_energy.rounds, 1U);
}

}  // namespace
}  // namespace beryl::account
