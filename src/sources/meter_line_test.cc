#include "sources/meter_line.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/matchers_for_test.h"
#include "sources/machine_testing.h"

namespace beryl::sources {
namespace {

std::optional<double> ReadAs(std::string_view format, std::string_view line) {
  const auto parsed = MeterFormat::Parse(format);
  EXPECT_TRUE(parsed) << format;
  return parsed ? parsed->ReadLine(line) : std::nullopt;
}

TEST(MeterFormat, ReadsWhatItDescribes) {
  EXPECT_DOUBLE_EQ(*ReadAs("{V} {A}", "230.5 0.5"), 115.25);
  EXPECT_DOUBLE_EQ(*ReadAs("{V} {A}", "  230.5\t0.5  and more"), 115.25);
  EXPECT_DOUBLE_EQ(*ReadAs("V:{V} I:{mA}", "V:230 I:500"), 115);
  EXPECT_DOUBLE_EQ(*ReadAs("{ms},{W}", "123456,42.5"), 42.5);
  EXPECT_DOUBLE_EQ(*ReadAs("{*},{*},{kW}", "2024-01-01,x y,1.5"), 1500);
  EXPECT_DOUBLE_EQ(*ReadAs("{*} {mW}", "meter3 1500"), 1.5);
  EXPECT_DOUBLE_EQ(*ReadAs("P={W}W", "P=+7e1W"), 70);
  EXPECT_DOUBLE_EQ(*ReadAs("{mV} {A} {W}", "1 1 9"),
                   9);  // power that is told goes before V times A
  EXPECT_DOUBLE_EQ(*ReadAs("{kWh}", "2"), 7.2e6);
}

TEST(MeterFormat, PassesOverLinesThatAreNotLikeThat) {
  for (const char* line :
       {"", "230", "230 x", "x 230", "230 -1", "nan 1", "inf 1", "1e308 1e308"}) {
    EXPECT_FALSE(ReadAs("{V} {A}", line)) << line;
  }
  EXPECT_FALSE(ReadAs("P={W}W", "P=70"));
  EXPECT_FALSE(ReadAs("P={W}W", "70W"));
  EXPECT_FALSE(ReadAs("{*},{W}", "no comma"));
}

TEST(MeterFormat, AnEmonPi) {
  EXPECT_EQ(*ReadAs("emonpi", "OK 5 39 0 0 0 39 0 139 90 0 0 0 0 (-0)"), 39);
  // 260 W and 17 W.
  EXPECT_EQ(*ReadAs("emonpi", "OK 5 4 1 17 0 21 1 139 90"), 277);
  // With a count of messages before it.
  EXPECT_EQ(*ReadAs("emonpi", "OK 5 200 10 0 0 4 1 17 0 21 1 139 90"), 277);
  EXPECT_FALSE(ReadAs("emonpi", "? 5 39 0 0 0 39 0"));
  EXPECT_FALSE(ReadAs("emonpi", "OK 5 39 0 0"));
  EXPECT_FALSE(ReadAs("emonpi", "OK 5 999 0 0 0 39 0"));
  EXPECT_FALSE(ReadAs("emonpi", "OK 5 1 2 3 4 9 9 7 8 9 10"));
}

TEST(MeterFormat, RefusesPatternsThatTellNothing) {
  for (const char* format :
       {"", "{V}", "{A}", "{ms}", "{*}", "{W", "{watts}", "{W} {W}", "plain"}) {
    EXPECT_FALSE(MeterFormat::Parse(format)) << format;
  }
  EXPECT_FALSE(MeterFormat::Parse("{J}")->is_energy() == false);
  EXPECT_FALSE(MeterFormat::Parse("{J} {W}")->is_energy());
}

TEST(MeterSpec, TakesPathSpeedAndFormat) {
  const auto spec = ParseMeterSpec("/dev/ttyUSB0,baud=115200,format={ms},{W}");
  ASSERT_TRUE(spec);
  EXPECT_EQ(spec->path, "/dev/ttyUSB0");
  EXPECT_EQ(spec->baud, 115200U);
  EXPECT_EQ(spec->format_text, "{ms},{W}");
  EXPECT_EQ(ParseMeterSpec("a,b,format={W}")->path, "a,b");
  for (const char* text : {"", "/dev/ttyUSB0", ",format={W}", "x,format=", "x,baud=,format={W}",
                           "x,baud=fast,format={W}", "x,format={V}"}) {
    const auto wrong = ParseMeterSpec(text);
    ASSERT_FALSE(wrong) << text;
    EXPECT_EQ(wrong.error().code, ErrorCode::kMisuse);
    EXPECT_THAT(wrong.error().message, HasSubstr("meter "));
  }
}

TEST(MeterLines, CutsBytesWhereverTheyAreBroken) {
  MeterLines lines(*MeterFormat::Parse("{W}"));
  lines.Take("1");
  EXPECT_FALSE(lines.last());
  lines.Take("5\r\n");
  EXPECT_EQ(lines.last(), 15);
  lines.Take(std::string(5000, '9'));
  lines.Take("\n");
  EXPECT_EQ(lines.last(), 15);
  EXPECT_EQ(lines.bad(), 1U);
  lines.Take(std::string("\0\xff\x80 garbage\n7\n", 14));
  EXPECT_EQ(lines.last(), 7);
  EXPECT_EQ(lines.good(), 2U);
  EXPECT_EQ(lines.bad(), 2U);
}

TEST(MeterLines, DropsTheRestOfALineThatBeganBefore) {
  MeterLines lines(*MeterFormat::Parse("{W}"), true);
  lines.Take("3");
  lines.Take("45.6\r");
  EXPECT_FALSE(lines.last());
  EXPECT_EQ(lines.bad(), 0U);
  lines.Take("\n1234");
  EXPECT_FALSE(lines.last());
  lines.Take("5\n");
  EXPECT_EQ(lines.last(), 12345);
}

TEST(Meter, ReadsAPipeWithoutWaiting) {
  TestMachine machine;
  const std::string path = machine.Path("pipe");
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  machine.options().meters = {path + ",format={V} {A}"};
  const auto found = machine.Find(FindMeters);
  ASSERT_TRUE(found && found->power);
  EXPECT_THAT(NamesOf(found->power->channels()), ElementsAre("wall"));
  EXPECT_EQ(ReadOnce(*found->power)[0].state, ReadState::kRetry);
  const int first = ::open(path.c_str(), O_WRONLY);
  ASSERT_EQ(::write(first, "1 1\n", 4), 4);  // may have begun before
  ::close(first);
  EXPECT_EQ(ReadOnce(*found->power)[0].state, ReadState::kRetry);
  // Whoever writes may come and go.
  for (int round = 0; round < 3; ++round) {
    const int fd = ::open(path.c_str(), O_WRONLY);
    ASSERT_GE(fd, 0);
    ASSERT_EQ(::write(fd, "230 1\n23", 8), 8);
    EXPECT_EQ(ReadOnce(*found->power)[0].count, 230000000U);
    EXPECT_EQ(ReadOnce(*found->power)[0].state, ReadState::kRetry);
    ASSERT_EQ(::write(fd, "0 2\n", 4), 4);
    EXPECT_EQ(ReadOnce(*found->power)[0].count, 460000000U);
    ::close(fd);
  }
}

TEST(Meter, IsOpenedOnce) {
  TestMachine machine;
  const std::string path = machine.Path("pipe");
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  machine.options().meters = {path + ",format={W}"};
  auto found = machine.Find(FindMeters);
  ASSERT_TRUE(found && found->power);
  const PowerSource* const opened = found->power.get();
  std::vector<std::unique_ptr<PowerSource>> open;
  open.push_back(std::move(found->power));
  const auto again =
      FindMeters(Search{machine.machine(), machine.options(), machine.distrusted(), {}, &open});
  ASSERT_TRUE(again);
  EXPECT_EQ(again->power.get(), opened);
  EXPECT_FALSE(open[0]);
}

TEST(Meter, SeveralAreNumberedAndAMissingOneIsAnError) {
  TestMachine machine;
  machine.WriteFile("a", "5\n6");
  machine.WriteFile("b", "7");
  machine.options().meters = {machine.Path("a") + ",format={W}", machine.Path("b") + ",format={W}"};
  auto found = machine.Find(FindMeters);
  ASSERT_TRUE(found && found->power);
  EXPECT_THAT(NamesOf(found->power->channels()), ElementsAre("wall:1", "wall:2"));
  EXPECT_EQ(ReadOnce(*found->power)[0].count, 6000000U);
  machine.options().meters = {machine.Path("none") + ",format={W}"};
  found = machine.Find(FindMeters);
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().message, HasSubstr("ENOENT"));
  machine.options().meters = {machine.Path("proc") + ",format={W}"};
  EXPECT_FALSE(machine.Find(FindMeters));
}

}  // namespace
}  // namespace beryl::sources
