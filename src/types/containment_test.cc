#include "types/containment.h"

#include <random>

#include "base/matchers_for_test.h"
#include "types/note_testing.h"

namespace beryl {
namespace {

std::vector<PowerChannel> Channels(const std::vector<std::string>& names) {
  std::vector<PowerChannel> channels;
  for (const std::string& name : names) {
    PowerChannel channel;
    channel.name = name;
    channel.scope = ScopeOfName(name);
    channels.push_back(std::move(channel));
  }
  return channels;
}

std::vector<std::string> Within(const Containment& containment, size_t channels) {
  std::vector<std::string> within;
  for (size_t i = 0; i < channels; ++i) within.push_back(containment.WithinText(i));
  return within;
}

std::vector<std::string> Within(const std::vector<PowerChannel>& channels) {
  return Within(Containment(channels), channels.size());
}

std::vector<std::string> Within(const std::vector<std::string>& names) {
  return Within(Channels(names));
}

TEST(ContainmentTest, NamesTellWhereNobodySays) {
  EXPECT_THAT(
      Within(std::vector<std::string>{"wall", "psys", "CPU:0", "DRAM:0", "CORE:0", "GPU:0", "fan"}),
      ElementsAre("", "wall", "psys", "psys", "CPU:0", "wall", "wall"));
  EXPECT_THAT(Within(std::vector<std::string>{"psys", "CPU:0", "GPU:0", "fan"}),
              ElementsAre("", "psys", "", ""));
  EXPECT_THAT(Within(std::vector<std::string>{"CPU:0", "DRAM:0"}), ElementsAre("", ""));
}

TEST(ContainmentTest, PlugsContainTogether) {
  const std::vector<PowerChannel> channels =
      Channels({"CPU:0", "wall:1", "psys", "GPU:0", "wall:2", "CPU:1"});
  const Containment containment(channels);
  EXPECT_THAT(Within(channels),
              ElementsAre("psys", "", "wall:1 + wall:2", "wall:1 + wall:2", "", "psys"));
  EXPECT_THAT(containment.Within(3), ElementsAre(1, 4));
  EXPECT_TRUE(containment.Contains(1, 0));
  EXPECT_TRUE(containment.Contains(4, 0));
  EXPECT_FALSE(containment.Contains(0, 4));
  EXPECT_FALSE(containment.Contains(2, 3));
  EXPECT_THAT(containment.Outermost(), ElementsAre(1, 4));
  EXPECT_THAT(containment.notes(), IsEmpty());
}

TEST(ContainmentTest, OnePlugOfAnyNameContainsAll) {
  EXPECT_THAT(Within(std::vector<std::string>{"wall:1", "CPU:0", "CPU:1"}),
              ElementsAre("", "wall:1", "wall:1"));
}

TEST(ContainmentTest, AMeterOfAllPlugsReadsThemOnceMore) {
  const std::vector<PowerChannel> channels = Channels({"wall", "wall:1", "wall:2", "CPU:0"});
  EXPECT_THAT(Within(channels), ElementsAre("wall:1 + wall:2", "", "", "wall"));
  EXPECT_THAT(Plain(Containment(channels).notes()),
              ElementsAre("may_read_the_same wall others=wall:1 + wall:2"));
  EXPECT_THAT(Within(std::vector<std::string>{"psys:0", "psys", "psys:1", "CPU:0"}),
              ElementsAre("", "psys:0 + psys:1", "", "psys"));
}

// It gives what the plug does not.
TEST(ContainmentTest, ABatteryStandsBesideThePlugs) {
  EXPECT_THAT(Within(std::vector<std::string>{"battery", "CPU:0"}), ElementsAre("", "battery"));
  EXPECT_THAT(Within(std::vector<std::string>{"wall", "battery", "psys", "CPU:0"}),
              ElementsAre("", "", "wall + battery", "psys"));
  EXPECT_THAT(Within(std::vector<std::string>{"wall:1", "wall", "battery", "CPU:0"}),
              ElementsAre("", "wall:1", "", "wall + battery"));
}

TEST(ContainmentTest, MachinesContainTheirOwn) {
  EXPECT_THAT(
      Within(std::vector<std::string>{"node1/wall", "node1/CPU:0", "node2/CPU:0", "node2/CORE:0",
                                      "CPU:0", "a/b:c/wall:1", "a/b:c/GPU:0"}),
      ElementsAre("", "node1/wall", "", "node2/CPU:0", "", "", "a/b:c/wall:1"));
}

TEST(ContainmentTest, PartsAreInWhatTheyAreNamedAfter) {
  EXPECT_THAT(Within(std::vector<std::string>{"psys", "CPU:0", "CPU:0:die1", "CORE:0:die1",
                                              "CPU:0:counter", "GPU:0:memory", "GPU:0"}),
              ElementsAre("", "psys", "CPU:0", "CPU:0:die1", "CPU:0", "GPU:0", ""));
  EXPECT_THAT(Within(std::vector<std::string>{"CPU:0", "CORE:0:die1", "UNCORE:1", "CPU:10"}),
              ElementsAre("", "CPU:0", "", ""));
  // What other names mean is not known.
  EXPECT_THAT(Within(std::vector<std::string>{"fan", "fan:1"}), ElementsAre("", ""));
}

TEST(ContainmentTest, RailsAreInTheTotalOfTheirBoard) {
  std::vector<PowerChannel> channels = Channels({"psys", "ina3221:VDD_CPU", "other:rail", "wall"});
  channels[0].meter.source = channels[1].meter.source = "hwmon";
  EXPECT_THAT(Within(channels), ElementsAre("wall", "psys", "wall", ""));
}

TEST(ContainmentTest, WhatAMeterSaysComesFirst) {
  std::vector<PowerChannel> channels = Channels({"psys", "CPU:0", "DRAM:0", "GPU:0", "GPU:1"});
  channels[2].meter.within = "CPU:0";
  channels[4].meter.within = "psys";
  EXPECT_THAT(Within(channels), ElementsAre("", "psys", "CPU:0", "", "psys"));
  // Also against what the names of plugs would say.
  channels = Channels({"wall", "wall:1", "wall:2", "CPU:0"});
  channels[1].meter.within = channels[2].meter.within = "wall";
  EXPECT_THAT(Within(channels), ElementsAre("", "wall", "wall", "wall:1 + wall:2"));
  EXPECT_THAT(Plain(Containment(channels).notes()), IsEmpty());
}

TEST(ContainmentTest, WhatContainsAPlugIsAContainer) {
  std::vector<PowerChannel> channels = Channels({"rack", "node1/wall", "node1/CPU:0", "fan"});
  channels[1].meter.within = "rack";
  const Containment containment(channels);
  EXPECT_TRUE(containment.IsContainer(0));
  EXPECT_TRUE(containment.IsContainer(1));
  EXPECT_FALSE(containment.IsContainer(2));
  EXPECT_FALSE(containment.IsContainer(3));
  EXPECT_TRUE(containment.Contains(0, 2));
  EXPECT_THAT(containment.Outermost(), ElementsAre(0, 3));
}

TEST(ContainmentTest, WhatCannotBeIsSaidAndNotBelieved) {
  std::vector<PowerChannel> channels = Channels({"psys", "CPU:0", "GPU:0"});
  channels[0].meter.within = "rack";
  channels[1].meter.within = "GPU:0";
  channels[2].meter.within = "CPU:0";
  EXPECT_THAT(Within(channels), ElementsAre("", "GPU:0", ""));
  EXPECT_THAT(Plain(Containment(channels).notes()),
              ElementsAre("within_not_there psys within=rack", "within_itself GPU:0 within=CPU:0"));
  channels = Channels({"psys", "CPU:0"});
  channels[1].meter.within = "CPU:0";
  EXPECT_THAT(Within(channels), ElementsAre("", "psys"));
  EXPECT_THAT(Plain(Containment(channels).notes()),
              ElementsAre(AllOf(HasSubstr("within_itself"), HasSubstr("CPU:0"))));
  // A word that goes against a name is believed, and the name is not.
  channels = Channels({"psys", "CPU:0"});
  channels[0].meter.within = "CPU:0";
  EXPECT_THAT(Within(channels), ElementsAre("CPU:0", ""));
}

TEST(ContainmentTest, WhatTellsNothingContainsNothing) {
  std::vector<PowerChannel> channels = Channels({"wall", "psys", "CPU:0", "CORE:0"});
  const Containment without(channels, {true, false, true, true});
  EXPECT_THAT(Within(without, 4), ElementsAre("", "wall", "wall", "CPU:0"));
  channels = Channels({"wall:1", "wall:2", "CPU:0", "wall"});
  const Containment half(channels, {true, false, true, false});
  EXPECT_THAT(Within(half, 4), ElementsAre("", "", "wall:1", "wall:1"));
  EXPECT_THAT(half.SilentBeside(0), ElementsAre(1));
  EXPECT_THAT(half.SilentBeside(2), IsEmpty());
  EXPECT_THAT(half.notes(), IsEmpty());
  const Containment whole(channels, {false, false, true, true});
  EXPECT_THAT(Within(whole, 4), ElementsAre("", "", "wall", ""));
  EXPECT_THAT(whole.SilentBeside(3), IsEmpty());
  EXPECT_THAT(whole.Outermost(), ElementsAre(3));
}

TEST(ContainmentTest, ACounterThatStandsStillContainsNothing) {
  std::vector<PowerChannel> channels = Channels({"CPU:0:estimate", "CPU:0", "psys"});
  channels[0].meter.within = "CPU:0";
  EXPECT_THAT(Within(channels), ElementsAre("CPU:0", "psys", ""));
  channels[1].meter.moves = channels[2].meter.moves = false;
  EXPECT_THAT(Within(channels), ElementsAre("", "", ""));
  EXPECT_THAT(Containment(channels).Outermost(), ElementsAre(0));
}

// Of one thing that is read twice, one that stands still and one that moves.
TEST(ContainmentTest, OfTwoOfOneNameTheOneThatTellsContains) {
  std::vector<PowerChannel> channels = Channels({"CPU:0", "CORE:0", "CPU:0"});
  channels[0].meter.moves = false;
  EXPECT_THAT(Containment(channels).Within(1), ElementsAre(2));
}

// For any statements of meters: the search ends, nothing contains itself, and every channel is
// outermost or inside an outermost one.
TEST(ContainmentTest, AnyWordsGiveAnOrder) {
  const std::vector<std::string> names = {"wall",   "wall:1", "wall:2",     "battery", "psys",
                                          "psys:1", "CPU:0",  "CPU:0:die1", "CORE:0",  "DRAM:0",
                                          "GPU:0",  "fan",    "n/wall",     "n/CPU:0", "n/CORE:0"};
  std::mt19937_64 random(5);
  for (int round = 0; round < 500; ++round) {
    std::vector<PowerChannel> channels = Channels(names);
    std::shuffle(channels.begin(), channels.end(), random);
    std::vector<bool> tells;
    for (PowerChannel& channel : channels) {
      if (random() % 2 == 0) channel.meter.within = names[random() % names.size()];
      tells.push_back(random() % 5 != 0);
    }
    const Containment containment(channels, tells);
    const std::vector<size_t> outermost = containment.Outermost();
    for (size_t i = 0; i < channels.size(); ++i) {
      EXPECT_FALSE(containment.Contains(i, i));
      const bool is_outermost = std::count(outermost.begin(), outermost.end(), i) > 0;
      const bool is_read = std::any_of(outermost.begin(), outermost.end(), [&](size_t outer) {
        return containment.Contains(outer, i);
      });
      EXPECT_TRUE(is_outermost != is_read || (!tells[i] && !is_outermost));
      for (const size_t outer : containment.Within(i)) EXPECT_TRUE(tells[outer]);
    }
  }
}

}  // namespace
}  // namespace beryl
