#include "sources/probe.h"

#include <fcntl.h>
#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): setenv
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>

#include "base/matchers_for_test.h"
#include "sources/machine_testing.h"
#include "types/containment.h"

namespace beryl::sources {
namespace {

constexpr Nanos kPatience{300'000'000};

// A machine whose time passes only when somebody sleeps.
class Probed : public ::testing::Test {
 protected:
  // `tick` is called at each millisecond.
  WatchClock Clock(std::function<void(int64_t)> tick) {
    return {[this] { return now_; },
            [this, tick](Nanos span) {
              const int64_t before = now_.value / 1'000'000;
              now_ = now_ + span;
              for (int64_t ms = before + 1; ms <= now_.value / 1'000'000; ++ms) tick(ms);
            }};
  }
  SourceReport Probe(const std::function<void(int64_t)>& tick) {
    auto found = Discover(machine_.machine(), machine_.options());
    EXPECT_TRUE(found);
    discovery_ = std::move(*found);
    return ProbeWith(machine_.machine(), machine_.options(), discovery_, kPatience, Clock(tick));
  }
  void SetEnergy(const std::string& zone, uint64_t uj) {
    machine_.WriteFile("sys/class/powercap/" + zone + "/energy_uj", std::to_string(uj));
  }
  // A zone uses 20 W and starts with 100 uJ; the others stand still.
  SourceReport ProbeWhileCounting(const std::string& zone) {
    return Probe([&](int64_t ms) { SetEnergy(zone, 100 + static_cast<uint64_t>(ms) * 20000); });
  }
  static const PowerChannel* Find(const std::vector<PowerChannel>& channels,
                                  const std::string& name, const std::string& source) {
    for (const PowerChannel& channel : channels) {
      if (channel.name == name && channel.meter.source == source) return &channel;
    }
    return nullptr;
  }
  static const SourceCheck* CheckOf(const SourceReport& report, const std::string& what) {
    for (const SourceCheck& check : report.checks) {
      if (check.what.find(what) != std::string::npos) return &check;
    }
    return nullptr;
  }

  TestMachine machine_;
  Discovery discovery_;
  Nanos now_;
};

TEST_F(Probed, SeesStepsPowerAndTheLeastEnergy) {
  machine_.AddZone("intel-rapl:0", "package-0", 100);
  machine_.AddZone("intel-rapl:1", "psys", 100);
  machine_.AddZone("intel-rapl-mmio:0", "package-0", 100);
  const SourceReport report = Probe([&](int64_t ms) {
    SetEnergy("intel-rapl:0", 100 + static_cast<uint64_t>(ms) * 20000);
    if (ms % 2 == 0) SetEnergy("intel-rapl:1", 100 + static_cast<uint64_t>(ms) * 50000);
  });
  ASSERT_EQ(report.found.size(), 2U);
  EXPECT_EQ(report.found[0].name, "CPU:0");
  EXPECT_EQ(report.found[0].meter.moves, true);
  EXPECT_EQ(report.within[0], "psys");
  EXPECT_NEAR(report.found[0].meter.update_period_us.value_or(0), 1000, 1);
  EXPECT_NEAR(report.seen_w[0], 20, 0.1);
  EXPECT_NEAR(report.smallest_j[0], 0.02, 1e-4);
  EXPECT_NEAR(report.found[1].meter.update_period_us.value_or(0), 2000, 1);
  EXPECT_NEAR(report.seen_w[1], 50, 0.1);
  EXPECT_EQ(report.duplicates.size(), 1U);
  EXPECT_EQ(CheckOf(report, "psys is not less")->verdict, SourceCheck::Verdict::kGood);
  EXPECT_EQ(CheckOf(report, "CPU:0 moves")->verdict, SourceCheck::Verdict::kGood);
  // Enough was seen long before patience is over.
  EXPECT_LT(now_.value, 60'000'000);
  EXPECT_EQ(discovery_.channels[0].meter.moves, true);
}

TEST_F(Probed, ACounterThatStandsStillIsListedAndTheEstimateIsUsed) {
  machine_.AddZone("intel-rapl:0", "package-0", 100);
  machine_.AddZone("intel-rapl:0:0", "core", 100);
  machine_.AddZone("intel-rapl-mmio:0", "package-0", 100);
  machine_.options().guess = {Watts{10.0}, Watts{20.0}};
  const SourceReport report = Probe([](int64_t) {});
  const PowerChannel* frozen = Find(report.found, "CPU:0", "rapl-powercap");
  ASSERT_TRUE(frozen);
  EXPECT_EQ(frozen->meter.moves, false);
  EXPECT_TRUE(Find(report.found, "CPU:0", "estimate"));
  EXPECT_EQ(report.found.size(), 3U);
  EXPECT_EQ(report.duplicates.size(), 1U);
  // The counter is read on: it may move yet.
  EXPECT_THAT(NamesOf(discovery_.channels), ElementsAre("CORE:0", "CPU:0:estimate", "CPU:0"));
  EXPECT_EQ(discovery_.channels[1].meter.source, "estimate");
  EXPECT_EQ(discovery_.channels[1].meter.within, "CPU:0");
  EXPECT_EQ(discovery_.channels[2].meter.moves, false);
  std::vector<MeterReading> readings(1);
  SetEnergy("intel-rapl:0", 4711);
  discovery_.power.back()->Read(readings);
  EXPECT_EQ(readings[0].state, ReadState::kOk);
  EXPECT_EQ(readings[0].count, 4711U);
  EXPECT_EQ(CheckOf(report, "CPU:0 moves")->verdict, SourceCheck::Verdict::kBad);
  EXPECT_THAT(CheckOf(report, "CPU:0 moves")->detail, HasSubstr("estimate replaces it"));
  EXPECT_EQ(CheckOf(report, "CORE:0 moves")->verdict, SourceCheck::Verdict::kUntold);
}

// Only one reader gets the bytes of a port, so it must be open only once.
TEST_F(Probed, AMeterIsReadOnAsItWas) {
  const std::string path = machine_.Path("pipe");
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  machine_.options().meters = {path + ",format={W}"};
  machine_.AddZone("intel-rapl:0", "package-0", 100);
  machine_.AddZone("intel-rapl:1", "package-1", 100);
  const int fd = ::open(path.c_str(), O_RDWR);
  ASSERT_GE(fd, 0);
  ASSERT_EQ(::write(fd, "9\n10", 4), 4);
  auto found = Discover(machine_.machine(), machine_.options());
  ASSERT_TRUE(found);
  ASSERT_EQ(::write(fd, "9\n10", 4), 4);
  const SourceReport report =
      ProbeWith(machine_.machine(), machine_.options(), *found, kPatience, Clock([](int64_t) {}));
  // Only channels that stand still are kept.
  EXPECT_THAT(NamesOf(found->channels), ElementsAre("wall", "CPU:0", "CPU:1"));
  ASSERT_EQ(found->power.size(), 2U);
  EXPECT_THAT(NamesOf(found->power[1]->channels()), ElementsAre("CPU:0", "CPU:1"));
  ASSERT_EQ(::write(fd, "0\n", 2), 2);
  EXPECT_EQ(ReadOnce(*found->power[0])[0].count, 100000000U);
  EXPECT_EQ(ReadOnce(*found->power[1])[0].count, 100U);
  ::close(fd);
}

TEST_F(Probed, OfWhatStandsStillOnlyThatIsReadTwice) {
  machine_.machine().nvml = BERYL_STANDIN_NVML_LIBRARY;
  machine_.WriteFile("gpus",
                     "gpus 3\nbus none\nstep_ms 1\ngpu 1\nenergy frozen\ninstant 0\npower 0");
  ::setenv("BERYL_STANDIN_NVML", machine_.Path("gpus").c_str(), 1);
  machine_.options().only = {"nvml"};
  auto found = Discover(machine_.machine(), machine_.options());
  ASSERT_TRUE(found);
  EXPECT_EQ(found->channels.size(), 3U);
  sources::Probe(machine_.machine(), machine_.options(), *found, Nanos{100'000'000});
  EXPECT_THAT(NamesOf(found->channels), ElementsAre("GPU:0", "GPU:2", "GPU:1"));
  ASSERT_EQ(found->power.size(), 2U);
  EXPECT_THAT(NamesOf(found->power[1]->channels()), ElementsAre("GPU:1"));
  for (const auto& source : found->power) {
    for (const MeterReading& reading : ReadOnce(*source)) EXPECT_EQ(reading.state, ReadState::kOk);
  }
  ::unsetenv("BERYL_STANDIN_NVML");
}

TEST_F(Probed, AMeterThatWasNamedIsUsedHoweverSlowItIs) {
  machine_.WriteFile("meter", "12345.6");
  machine_.options().meters = {machine_.Path("meter") + ",format={Wh}"};
  const SourceReport report = Probe([](int64_t) {});
  ASSERT_EQ(report.found.size(), 1U);
  EXPECT_EQ(report.found[0].meter.source, "meter");
  EXPECT_FALSE(report.found[0].meter.moves.has_value());
  ASSERT_EQ(report.checks.size(), 1U);
  EXPECT_EQ(report.checks[0].verdict, SourceCheck::Verdict::kUntold);
  EXPECT_EQ(report.checks[0].detail, "no new line in 300 ms");
  EXPECT_THAT(NamesOf(discovery_.channels), ElementsAre("wall"));
  EXPECT_LT(now_.value, 310'000'000);  // looked at once
}

TEST_F(Probed, AnEstimateThatRestsIsStillTheEstimate) {
  machine_.options().guess = {Watts{0.0}, Watts{50.0}};
  const SourceReport report = Probe([](int64_t) {});
  ASSERT_EQ(report.found.size(), 1U);
  EXPECT_EQ(report.checks[0].verdict, SourceCheck::Verdict::kUntold);
  EXPECT_LT(now_.value, 310'000'000);
}

TEST_F(Probed, TheMeterThatWasNamedIsThePlug) {
  machine_.WriteFile("sys/class/hwmon/hwmon0/name", "power_meter");
  machine_.WriteFile("sys/class/hwmon/hwmon0/power1_average", "250000000");
  machine_.WriteFile("meter", "240");
  machine_.options().meters = {machine_.Path("meter") + ",format={W}"};
  SourceReport report = Probe([](int64_t) {});
  EXPECT_THAT(NamesOf(discovery_.channels), ElementsAre("wall"));
  EXPECT_EQ(discovery_.channels[0].meter.source, "meter");
  ASSERT_EQ(report.duplicates.size(), 1U);
  EXPECT_EQ(report.duplicates[0].source, "hwmon");
  EXPECT_EQ(report.duplicates[0].channel, "wall");
  // Also one that has another name because there are two.
  machine_.options().meters.push_back(machine_.options().meters[0]);
  report = Probe([](int64_t) {});
  EXPECT_THAT(NamesOf(discovery_.channels), ElementsAre("wall:1", "wall:2"));
  EXPECT_EQ(report.duplicates.size(), 1U);
  // Without it the board's is used.
  machine_.options().meters.clear();
  report = Probe([](int64_t) {});
  EXPECT_EQ(discovery_.channels[0].meter.source, "hwmon");
}

TEST_F(Probed, DoesNotWaitForAPartThatRests) {
  machine_.AddZone("intel-rapl:0", "package-0", 100);
  machine_.AddZone("intel-rapl:0:0", "uncore", 100);
  const SourceReport report = ProbeWhileCounting("intel-rapl:0");
  EXPECT_LT(now_.value, 30'000'000);
  EXPECT_EQ(CheckOf(report, "UNCORE:0 moves")->verdict, SourceCheck::Verdict::kUntold);
  EXPECT_THAT(CheckOf(report, "UNCORE:0 moves")->detail, HasSubstr("not in 20 ms"));
}

TEST_F(Probed, LooksOnlyAtWhatIsNewTheSecondTime) {
  machine_.AddZone("intel-rapl:0", "package-0", 100);
  machine_.AddZone("intel-rapl:1", "package-1", 100);
  Probe([&](int64_t ms) {
    if (ms % 50 == 0) SetEnergy("intel-rapl:1", 100 + static_cast<uint64_t>(ms) * 20000);
  });
  // Once in full for both, and once for the estimate alone.
  EXPECT_LT(now_.value, 500'000'000);
  EXPECT_THAT(NamesOf(discovery_.channels), ElementsAre("CPU:1", "CPU:0:estimate", "CPU:0"));
}

TEST_F(Probed, MmioIsUsedWhereMsrStandsStill) {
  machine_.AddZone("intel-rapl:0", "package-0", 100);
  machine_.AddZone("intel-rapl-mmio:0", "package-0", 100);
  const SourceReport report = ProbeWhileCounting("intel-rapl-mmio:0");
  ASSERT_EQ(report.found.size(), 2U);
  EXPECT_EQ(report.found[0].meter.moves, false);
  EXPECT_EQ(report.found[1].meter.reads, "intel-rapl-mmio:0/energy_uj");
  EXPECT_EQ(report.found[1].meter.moves, true);
  EXPECT_TRUE(report.duplicates.empty());
  ASSERT_EQ(discovery_.channels.size(), 1U);
  EXPECT_EQ(discovery_.channels[0].meter.reads, "intel-rapl-mmio:0/energy_uj");
}

TEST_F(Probed, ABoardThatStandsStillContainsNothing) {
  machine_.AddZone("intel-rapl:0", "package-0", 100);
  machine_.AddZone("intel-rapl:1", "psys", 0);
  const SourceReport report = ProbeWhileCounting("intel-rapl:0");
  EXPECT_THAT(NamesOf(discovery_.channels), ElementsAre("CPU:0", "psys"));
  EXPECT_EQ(Containment(discovery_.channels).WithinText(0), "");
  EXPECT_EQ(discovery_.channels[0].meter.moves, true);
  EXPECT_THAT(report.within, ElementsAre("", ""));
}

TEST_F(Probed, SeesThroughAWrapAndABoardThatIsTooSmall) {
  machine_.AddZone("intel-rapl:0", "package-0", 0, 100000);
  machine_.AddZone("intel-rapl:1", "psys", 0);
  const SourceReport report = Probe([&](int64_t ms) {
    SetEnergy("intel-rapl:0", static_cast<uint64_t>(ms) * 30000 % 100000);
    SetEnergy("intel-rapl:1", static_cast<uint64_t>(ms) * 10000);
  });
  EXPECT_NEAR(report.seen_w[0], 30, 0.1);
  EXPECT_EQ(CheckOf(report, "psys is not less")->verdict, SourceCheck::Verdict::kBad);
}

TEST_F(Probed, GpuCountersAreComparedWithTheirPower) {
  machine_.machine().nvml = BERYL_STANDIN_NVML_LIBRARY;
  machine_.WriteFile("gpus", "step_ms 20");
  ::setenv("BERYL_STANDIN_NVML", machine_.Path("gpus").c_str(), 1);
  machine_.options().only = {"nvml"};
  auto found = Discover(machine_.machine(), machine_.options());
  ASSERT_TRUE(found);
  // On a machine that is busy with something else a watch may be off; not again and again.
  SourceReport report;
  for (int attempt = 0; attempt < 50; ++attempt) {
    report = sources::Probe(machine_.machine(), machine_.options(), *found, Nanos{5'000'000'000});
    ASSERT_TRUE(CheckOf(report, "agrees"));
    if (CheckOf(report, "agrees")->verdict == SourceCheck::Verdict::kGood) break;
  }
  EXPECT_EQ(CheckOf(report, "agrees")->verdict, SourceCheck::Verdict::kGood)
      << CheckOf(report, "agrees")->detail;
  machine_.WriteFile("gpus", "step_ms 20\nfactor 3");
  found = Discover(machine_.machine(), machine_.options());
  report = sources::Probe(machine_.machine(), machine_.options(), *found, Nanos{5'000'000'000});
  EXPECT_EQ(CheckOf(report, "agrees")->verdict, SourceCheck::Verdict::kBad);
  machine_.WriteFile("gpus", "energy frozen");
  found = Discover(machine_.machine(), machine_.options());
  report = sources::Probe(machine_.machine(), machine_.options(), *found, Nanos{50'000'000});
  ASSERT_EQ(found->channels.size(), 1U);
  EXPECT_THAT(found->channels[0].meter.reads, HasSubstr("instant power"));
  EXPECT_EQ(report.found.size(), 2U);
  ::unsetenv("BERYL_STANDIN_NVML");
}

TEST_F(Probed, AnAmdCounterThatIsFarOffIsNotUsed) {
  machine_.WriteFile("sys/class/hwmon/hwmon0/name", "amdgpu");
  machine_.WriteFile("sys/class/hwmon/hwmon0/energy1_input", "0");
  machine_.WriteFile("sys/class/hwmon/hwmon0/power1_average", "100000000");
  machine_.options().only = {"hwmon"};
  const SourceReport report = Probe([&](int64_t ms) {
    machine_.WriteFile("sys/class/hwmon/hwmon0/energy1_input", std::to_string(ms * 10000));
  });
  ASSERT_EQ(discovery_.channels.size(), 1U);
  EXPECT_EQ(discovery_.channels[0].kind, ChannelKind::kPowerGauge);
  EXPECT_EQ(report.found.size(), 2U);
}

TEST_F(Probed, NothingAtAllEndsWithTheEstimate) {
  const SourceReport report = Probe([](int64_t) {});
  ASSERT_EQ(report.found.size(), 1U);
  EXPECT_EQ(report.found[0].meter.source, "estimate");
  EXPECT_GE(report.refused.size(), 3U);
  EXPECT_THAT(report.features, IsSupersetOf({"cpu_util", "mem_usg"}));
  EXPECT_EQ(report.cpu_time, "stat");
  for (const RefusedSource& refused : report.refused) {
    EXPECT_FALSE(refused.reason.empty());
    EXPECT_FALSE(refused.remedy.empty());
  }
}

TEST(Discover, RefusesSourcesThatDoNotExist) {
  TestMachine machine;
  machine.options().only = {"rapl"};
  const auto found = Discover(machine.machine(), machine.options());
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::kMisuse);
  EXPECT_THAT(found.error().message, HasSubstr("rapl-powercap"));
}

std::vector<std::string> WithinOf(const std::vector<PowerChannel>& channels) {
  const Containment containment(channels);
  std::vector<std::string> within;
  for (size_t i = 0; i < channels.size(); ++i) within.push_back(containment.WithinText(i));
  return within;
}

TEST(Discover, NamesSayWhatContainsWhat) {
  TestMachine machine;
  machine.AddZone("intel-rapl:0", "package-0", 1);
  machine.AddZone("intel-rapl:0:0", "core", 1);
  machine.AddZone("intel-rapl:0:1", "dram", 1);
  machine.AddZone("intel-rapl:1", "psys", 1);
  machine.WriteFile("meter", "100");
  const std::string meter = machine.Path("meter") + ",format={W}";
  machine.options().meters = {meter};
  const auto found = Discover(machine.machine(), machine.options());
  ASSERT_TRUE(found);
  EXPECT_THAT(NamesOf(found->channels), ElementsAre("CPU:0", "CORE:0", "DRAM:0", "psys", "wall"));
  EXPECT_THAT(WithinOf(found->channels), ElementsAre("psys", "CPU:0", "psys", "wall", ""));
  machine.options().meters = {meter, meter};
  const auto plugs = Discover(machine.machine(), machine.options());
  ASSERT_TRUE(plugs);
  EXPECT_THAT(WithinOf(plugs->channels),
              ElementsAre("psys", "CPU:0", "psys", "wall:1 + wall:2", "", ""));
}

TEST(Discover, AReplayStandsAlone) {
  TestMachine machine;
  machine.AddZone("intel-rapl:0", "package-0", 1);
  machine.WriteFile("power.csv",
                    "timestamp_us,device,energy_uj\n1000000,CPU:3,0\n1000500,CPU:3,1000\n"
                    "1001000,CPU:3,2000");
  machine.options().replay = machine.Path("power.csv");
  const auto found = Discover(machine.machine(), machine.options());
  ASSERT_TRUE(found);
  EXPECT_THAT(NamesOf(found->channels), ElementsAre("CPU:3"));
  EXPECT_EQ(found->channels[0].meter.source, "replay");
  // It goes round, and its counter with it.
  uint64_t last = 0;
  for (int i = 0; i < 1000000 && last < 10000; ++i) {
    const uint64_t now = ReadOnce(*found->power[0])[0].count;
    ASSERT_GE(now, last);
    last = now;
  }
  EXPECT_GE(last, 10000U);
  machine.options().replay = machine.Path("none.csv");
  EXPECT_FALSE(Discover(machine.machine(), machine.options()));
}

}  // namespace
}  // namespace beryl::sources
