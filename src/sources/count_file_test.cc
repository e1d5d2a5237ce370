#include "sources/count_file.h"

#include <gtest/gtest.h>

#include "sources/machine_files.h"
#include "sources/machine_testing.h"

namespace beryl::sources {
namespace {

TEST(ParseCount, TakesWholeNumbersOnly) {
  EXPECT_EQ(ParseCount("0"), 0U);
  EXPECT_EQ(ParseCount(" 262143328850\n"), 262143328850U);
  EXPECT_EQ(ParseCount("18446744073709551615"), UINT64_MAX);
  for (const char* text : {"", " ", "\n", "-1", "+1", "1.5", "1 2", "0x10", "18446744073709551616",
                           "99999999999999999999999", "garbage", "12a"}) {
    EXPECT_FALSE(ParseCount(text)) << text;
  }
}

TEST(ParseList, TakesNumbersAndRanges) {
  EXPECT_EQ(ParseList("0,2-4\n"), (std::vector<uint32_t>{0, 2, 3, 4}));
  for (const char* text : {"", "a", "4-2", "0-", "0-99999999", "1,,2", "-1"}) {
    EXPECT_TRUE(ParseList(text).empty()) << text;
  }
}

TEST(NamesIn, ComeInNaturalOrder) {
  const TestMachine machine;
  for (const char* name : {"d/zone10", "d/zone9", "d/zone2:1", "d/zone2"}) {
    machine.WriteFile(name, "");
  }
  EXPECT_EQ(NamesIn(machine.Path("d")),
            (std::vector<std::string>{"zone2", "zone2:1", "zone9", "zone10"}));
  EXPECT_TRUE(NamesIn(machine.Path("none")).empty());
}

TEST(CountFile, ReadsWhatStandsThereNow) {
  const TestMachine machine;
  machine.WriteFile("count", "5");
  CountFile file(machine.Path("count"), 100);
  for (uint64_t count : {5, 6, 6, 7, 100, 3}) {
    machine.WriteFile("count", std::to_string(count));
    const MeterReading reading = file.Read();
    EXPECT_EQ(reading.state, ReadState::kOk);
    EXPECT_EQ(reading.count, count);
  }
}

TEST(CountFile, DoesNotMakeUpACountOfGarbage) {
  const TestMachine machine;
  machine.WriteFile("count", "5");
  CountFile file(machine.Path("count"), 100);
  const std::string long_text(500, '7');
  for (const std::string text : {"", "garbage", "-5", "1e3", "101", "5 6", long_text.c_str()}) {
    machine.WriteFile("count", text);
    EXPECT_EQ(file.Read().state, ReadState::kRetry) << text;
  }
  machine.WriteFile("count", "42");
  EXPECT_EQ(file.Read().count, 42U);
}

TEST(CountFile, TakesASignForNothingWhereTold) {
  const TestMachine machine;
  machine.WriteFile("count", "-5");
  EXPECT_EQ(CountFile(machine.Path("count"), 100).Read().state, ReadState::kRetry);
  CountFile file(machine.Path("count"), 100, CountFile::Sign::kIgnored);
  EXPECT_EQ(file.Read().count, 5U);
  machine.WriteFile("count", "--5");
  EXPECT_EQ(file.Read().state, ReadState::kRetry);
}

TEST(CountFile, SaysWhatTheTroubleIs) {
  const TestMachine machine;
  CountFile none(machine.Path("count"), 100);
  EXPECT_EQ(none.Trouble(), "No such file or directory (ENOENT)");
  machine.WriteFile("count", "");
  CountFile file(machine.Path("count"), 100);
  EXPECT_EQ(file.ReadPatiently().state, ReadState::kRetry);
  EXPECT_EQ(file.Trouble(), "it is empty");
  machine.WriteFile("count", "12 monkeys");
  EXPECT_EQ(file.Trouble(), "'12 monkeys' is not a number");
  machine.WriteFile("count", "101");
  EXPECT_EQ(file.Trouble(), "101 is above its maximum (100)");
}

// Whoever reads a remedy can do as it says, wherever the program is.
TEST(Remedies, NameTheProgramThatRuns) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  const std::string beside = std::filesystem::path(self).parent_path() / "beryl-monitor";
  EXPECT_EQ(SetcapCommand("cap_perfmon+ep"), "sudo setcap cap_perfmon+ep " + self +
                                                 " (the monitor is a separate program: " + beside +
                                                 ")");
  EXPECT_EQ(MonitorCommand(), "sudo " + self + " monitor");
}

TEST(HasAmdProcessors, IsToldByTheVendor) {
  const TestMachine machine;
  EXPECT_FALSE(HasAmdProcessors(machine.Path("proc")));
  machine.WriteFile("proc/cpuinfo", "processor\t: 0\nvendor_id\t: GenuineIntel");
  EXPECT_FALSE(HasAmdProcessors(machine.Path("proc")));
  machine.WriteFile("proc/cpuinfo", "processor\t: 0\nvendor_id\t: HygonGenuine");
  EXPECT_TRUE(HasAmdProcessors(machine.Path("proc")));
}

TEST(CountFile, NoticesThatItWasReplaced) {
  const TestMachine machine;
  machine.WriteFile("count", "5");
  CountFile file(machine.Path("count"), std::nullopt);
  EXPECT_EQ(file.Read().count, 5U);
  machine.ReplaceFile("count", "6");
  for (int i = 0; i < 10; ++i) file.Read();
  EXPECT_EQ(file.Read().count, 6U);
  // From then on at once.
  for (uint64_t count = 7; count < 20; ++count) {
    machine.ReplaceFile("count", std::to_string(count));
    EXPECT_EQ(file.Read().count, count);
  }
}

TEST(CountFile, IsGoneWhenDeletedAndMayComeBack) {
  const TestMachine machine;
  machine.WriteFile("count", "5");
  CountFile file(machine.Path("count"), std::nullopt);
  EXPECT_EQ(file.Read().count, 5U);
  std::filesystem::remove(machine.Path("count"));
  for (int i = 0; i < 10; ++i) file.Read();
  EXPECT_EQ(file.Read().state, ReadState::kGone);
  machine.WriteFile("count", "8");
  EXPECT_EQ(file.Read().count, 8U);
  // After a long time it is asked for less often, but it is.
  std::filesystem::remove(machine.Path("count"));
  for (int i = 0; i < 500; ++i) file.Read();
  EXPECT_EQ(file.Read().state, ReadState::kGone);
  machine.WriteFile("count", "9");
  MeterReading reading;
  for (int i = 0; i < 100 && reading.state != ReadState::kOk; ++i) reading = file.Read();
  EXPECT_EQ(reading.count, 9U);
}

TEST(CountFile, SurvivesAFolderInItsPlace) {
  const TestMachine machine;
  std::filesystem::create_directories(machine.Path("count"));
  CountFile file(machine.Path("count"), std::nullopt);
  for (int i = 0; i < 200; ++i) EXPECT_EQ(file.Read().state, ReadState::kGone);
  EXPECT_EQ(file.error(), EISDIR);
  CountFile none(machine.Path("none"), std::nullopt);
  EXPECT_EQ(none.Read().state, ReadState::kGone);
  EXPECT_EQ(none.error(), ENOENT);
}

}  // namespace
}  // namespace beryl::sources
