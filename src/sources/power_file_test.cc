#include "sources/power_file.h"

#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/matchers_for_test.h"
namespace beryl::sources {
namespace {

struct PowerRead {
  PowerTrace trace;
  std::string error;

  const PowerChannel& channel(size_t i = 0) const { return trace.channels.at(i); }
  std::vector<int64_t> times(size_t i = 0) const {
    std::vector<int64_t> result;
    for (const Nanos time : channel(i).times) result.push_back(time.value);
    return result;
  }
  // "reason x count @ first offset", of dropped and repaired alike.
  std::vector<std::string> notes() const {
    std::vector<std::string> texts;
    for (const Note& note : trace.report.notes) {
      texts.push_back(fmt::format("{} x{} @{}", PlainText(note), note.count, *note.first_byte));
    }
    return texts;
  }
};

PowerRead Read(std::string_view text, PowerFileOptions options = {}) {
  ByteSource source = ByteSource::FromMemory(text, "power");
  auto trace = ReadPowerFile(source, options);
  if (!trace) return {{}, trace.error().message};
  return {std::move(*trace), ""};
}

TEST(PowerFileTest, ReadsAGauge) {
  const PowerRead read = Read(
      "timestamp_us,device,power_w\n"
      "1690000000000000.25,CPU:0,10.5\n"
      "1690000000004000,CPU:0,11\n"
      "1690000000000000,GPU:1,200\n");
  ASSERT_THAT(read.trace.channels, SizeIs(2)) << read.error;
  EXPECT_EQ(read.channel().name, "CPU:0");
  EXPECT_EQ(read.channel().scope, ChannelScope::kPackage);
  EXPECT_EQ(read.channel().kind, ChannelKind::kPowerGauge);
  EXPECT_THAT(read.times(), ElementsAre(1690000000000000250, 1690000000004000000));
  EXPECT_THAT(read.channel().values, ElementsAre(10.5, 11));
  EXPECT_EQ(read.channel(1).scope, ChannelScope::kGpu);
  EXPECT_EQ(read.trace.report.format, "power-csv");
  EXPECT_EQ(read.trace.report.events, 3u);
  EXPECT_EQ(read.trace.report.operations, 3u);
  EXPECT_THAT(read.notes(), IsEmpty());
}

TEST(PowerFileTest, ColumnsLineEndsCommentsQuotesAndBom) {
  const PowerRead read = Read(
      "\xEF\xBB\xBF# made by hand\r\n"
      "\r\n"
      "\"power_w\", extra ,device,timestamp_us\r\n"
      " 10 ,x,\"CPU:0\",\"1000\"\r\n"
      "# in between\r\n"
      "11,x,CPU:0,2000");  // no line end at the end
  ASSERT_THAT(read.trace.channels, SizeIs(1)) << read.error;
  EXPECT_EQ(read.channel().name, "CPU:0");
  EXPECT_THAT(read.times(), ElementsAre(1'000'000, 2'000'000));
  EXPECT_THAT(read.channel().values, ElementsAre(10, 11));
}

TEST(PowerFileTest, ANameMayHaveACommaAndALostQuoteCostsARow) {
  const PowerRead read = Read(
      "timestamp_us,device,power_w\n"
      "0,\"rack 3, left\",10\n5,\"rack 3,10\n10,\"rack 3, left\",12\n");
  ASSERT_THAT(read.trace.channels, SizeIs(1)) << read.error;
  EXPECT_EQ(read.channel().name, "rack 3, left");
  EXPECT_THAT(read.channel().values, ElementsAre(10, 12));
  EXPECT_EQ(read.trace.report.events, 3U);
  EXPECT_THAT(read.notes(), ElementsAre(HasSubstr("reading_quote_not_closed")));
  EXPECT_EQ(read.trace.report.notes[0].first_byte, 48U);
}

TEST(PowerFileTest, ACounterCountsFromItsFirstReading) {
  const PowerRead read = Read(
      "timestamp_us,device,energy_uj\n"
      "0,CPU:0,5000000\n1000,CPU:0,7000000\n2000,CPU:0,7500000\n");
  EXPECT_EQ(read.channel().kind, ChannelKind::kEnergyCounter);
  EXPECT_THAT(read.channel().values, ElementsAre(0, DoubleNear(2, 1e-9), DoubleNear(2.5, 1e-9)));
  EXPECT_THAT(read.channel().gaps, IsEmpty());
}

TEST(PowerFileTest, ACounterWrapsWhereItIsTold) {
  const std::string rows = "0,CPU:0,900\n1000,CPU:0,950\n2000,CPU:0,20\n";
  PowerFileOptions options;
  options.wrap_uj = 1000;
  const PowerRead by_option = Read("timestamp_us,device,energy_uj\n" + rows, options);
  EXPECT_THAT(by_option.channel().values,
              ElementsAre(0, DoubleNear(50e-6, 1e-12), DoubleNear(120e-6, 1e-12)));
  EXPECT_EQ(by_option.channel().wraps, 1u);
  EXPECT_THAT(by_option.channel().gaps, IsEmpty());

  const PowerRead by_column = Read(
      "timestamp_us,device,wrap_uj,energy_uj\n"
      "0,CPU:0,1000,900\n1000,CPU:0,1000,950\n2000,CPU:0,1000,20\n");
  EXPECT_EQ(by_column.channel().values, by_option.channel().values);
}

TEST(PowerFileTest, ACounterWrapsWhereRaplDoes) {
  for (const char* range : {"65532610987", "262143328850"}) {
    const double wrap = std::stod(range);
    const PowerRead read =
        Read(fmt::format("timestamp_us,device,energy_uj\n"
                         "0,CPU:0,{:.0f}\n100000,CPU:0,{:.0f}\n"
                         "200000,CPU:0,{:.0f}\n300000,CPU:0,{:.0f}\n",
                         wrap - 1.5e6, wrap - 5e5, 5e5, 1.5e6));
    EXPECT_EQ(read.channel().wraps, 1u) << range;
    EXPECT_THAT(read.channel().gaps, IsEmpty()) << range;
    EXPECT_THAT(read.channel().values,
                ElementsAre(0, DoubleNear(1, 1e-9), DoubleNear(2, 1e-9), DoubleNear(3, 1e-9)));
  }
}

TEST(PowerFileTest, AnUnknownResetIsAGap) {
  const std::string text =
      "timestamp_us,device,energy_uj\n"
      "0,CPU:0,1000000\n1000,CPU:0,2000000\n2000,CPU:0,10\n3000,CPU:0,1000010\n";
  const PowerRead read = Read(text);
  EXPECT_THAT(read.channel().gaps, ElementsAre(PowerGap{2, GapReason::kCounterWentDown}));
  EXPECT_EQ(read.channel().wraps, 0u);
  EXPECT_THAT(read.channel().values,
              ElementsAre(0, DoubleNear(1, 1e-9), DoubleNear(1, 1e-9), DoubleNear(2, 1e-9)));
  EXPECT_THAT(read.notes(),
              ElementsAre(AllOf(HasSubstr("counter_went_down"),
                                HasSubstr(fmt::format("x1 @{}", text.find("2000,CPU:0,10"))))));
}

TEST(PowerFileTest, AStumbleOrAResetIsNoWrapEvenWhereTheRangeIsTold) {
  for (const char* lower : {"1009999", "50"}) {
    const PowerRead read =
        Read(fmt::format("timestamp_us,device,energy_uj,wrap_uj\n0,CPU:0,1000000,262143328850\n"
                         "1000,CPU:0,1010000,262143328850\n1100,CPU:0,{},262143328850\n2000,CPU:0,"
                         "1010060,262143328850\n",
                         lower));
    EXPECT_EQ(read.channel().wraps, 0U) << lower;
    EXPECT_THAT(read.channel().gaps, ElementsAre(PowerGap{2, GapReason::kCounterWentDown}))
        << lower;
  }
}

TEST(PowerFileTest, JsonMayStartWithAByteOrderMark) {
  const PowerRead read = Read("\xEF\xBB\xBF{\"CPU:0\": {\"0\": 10, \"10\": 20}}");
  EXPECT_EQ(read.error, "");
  EXPECT_THAT(read.channel().values, ElementsAre(10, 20));
}

TEST(PowerFileTest, OutOfOrderIsSortedAndOfTwoAtOnceTheLastStands) {
  const std::string text =
      "timestamp_us,device,power_w\n"
      "3000,CPU:0,3\n1000,CPU:0,1\n2000,CPU:0,9\n2000,CPU:0,2\n";
  const PowerRead read = Read(text);
  EXPECT_THAT(read.times(), ElementsAre(1'000'000, 2'000'000, 3'000'000));
  EXPECT_THAT(read.channel().values, ElementsAre(1, 2, 3));
  EXPECT_EQ(read.trace.report.events, 4u);
  EXPECT_EQ(read.trace.report.operations, 3u);
  EXPECT_THAT(read.notes(), Contains(AllOf(HasSubstr("reading_of_same_time"),
                                           HasSubstr(fmt::format("x1 @{}", text.find("2000"))))));
  EXPECT_THAT(read.notes(), Contains(HasSubstr("readings_out_of_order")));
}

TEST(PowerFileTest, BadRowsAreCountedWithTheirOffset) {
  const std::string text =
      "timestamp_us,device,power_w\n"
      "1000,CPU:0,1\n"
      "soon,CPU:0,1\n"
      "2000,CPU:0,much\n"
      "3000,CPU:0,\n"
      "4000,CPU:0\n"
      "5000,,1\n"
      "6000,CPU:0,-1\n"
      "7000,CPU:0,nan\n";
  const PowerRead read = Read(text);
  EXPECT_THAT(read.times(), ElementsAre(1'000'000));
  EXPECT_EQ(read.trace.report.events, 8u);
  EXPECT_THAT(read.notes(), testing::UnorderedElementsAre(
                                fmt::format("reading_time_not_usable x1 @{}", text.find("soon")),
                                fmt::format("reading_not_number x4 @{}", text.find("2000")),
                                fmt::format("reading_without_device x1 @{}", text.find("5000")),
                                fmt::format("reading_negative x1 @{}", text.find("6000"))));
}

TEST(PowerFileTest, AHeaderThatDoesNotFitIsAnError) {
  for (const char* header : {"time,device,power_w", "timestamp_us,power_w", "timestamp_us,device",
                             "timestamp_us,device,power_w,energy_uj", "1000,CPU:0,10"}) {
    EXPECT_THAT(Read(std::string("# x\n") + header + "\n1,CPU:0,1\n").error,
                AllOf(HasSubstr("power: the header at byte 4"), HasSubstr("expected the columns")))
        << header;
  }
}

TEST(PowerFileTest, NoReadingsIsAnError) {
  for (const char* text : {"", "\n\n", "timestamp_us,device,power_w\n", "{}", R"({"CPU:0": {}})",
                           "timestamp_us,device,power_w\nx,y,z\n"}) {
    EXPECT_THAT(Read(text).error, HasSubstr("power: it has no power readings")) << text;
  }
}

TEST(PowerFileTest, ReadsTheJsonForm) {
  const PowerRead read = Read(
      R"( {"CPU:0": {"1690000000000000": 10.5, "1690000000004000.5": 11}, "GPU:0": {"5": 1}})");
  ASSERT_THAT(read.trace.channels, SizeIs(2)) << read.error;
  EXPECT_THAT(read.times(), ElementsAre(1690000000000000000, 1690000000004000500));
  EXPECT_THAT(read.channel().values, ElementsAre(10.5, 11));
  EXPECT_EQ(read.trace.report.format, "power-json");
}

TEST(PowerFileTest, BadReadingsInJsonAreCounted) {
  const std::string text = R"({"CPU:0": {"1": 1, "x": 2, "3": "much", "4": {"a": 1}}, "GPU:0": 5})";
  const PowerRead read = Read(text);
  EXPECT_THAT(read.times(), ElementsAre(1000));
  EXPECT_THAT(read.notes(), testing::UnorderedElementsAre(
                                fmt::format("reading_time_not_usable x1 @{}", text.find("2, ")),
                                fmt::format("reading_not_number x2 @{}", text.find("\"much\"")),
                                fmt::format("readings_not_object x1 @{}", text.find("5}"))));
}

TEST(PowerFileTest, BrokenJsonIsAnErrorWithItsByte) {
  EXPECT_THAT(Read(R"({"CPU:0": {"1": 1 "2": 2}})").error,
              HasSubstr("power: not valid JSON at byte 18: expected ',' or '}'"));
  EXPECT_THAT(Read(R"({"CPU:0": {"1": 1)").error,
              AllOf(HasSubstr("not valid JSON at byte 17"), HasSubstr("end of the file")));
}

TEST(PowerFileTest, ReadsMadeByHandSamplesFromDisk) {
  for (const char* path : {"tests/data/power/gauge.csv", "tests/data/power/counter.csv",
                           "tests/data/power/gauge.json"}) {
    auto source = ByteSource::Open(path);
    ASSERT_TRUE(source) << source.error().message;
    auto trace = ReadPowerFile(*source, {});
    ASSERT_TRUE(trace) << trace.error().message;
    EXPECT_GT(trace->report.operations, 0u);
  }
}

TEST(PowerFileTest, ADroppedReadingIsAGap) {
  const PowerRead read = Read(
      "timestamp_us,device,power_w\n"
      "1000,CPU:0,1\n1000,GPU:0,1\n2000,CPU:0,much\n2000,GPU:0,2\n3000,CPU:0,3\n"
      "soon,CPU:0,3\n4000,CPU:0,4\n5000,CPU:0,5\n6000,CPU:0,-1\n");
  EXPECT_THAT(read.channel(0).gaps,
              ElementsAre(PowerGap{1, GapReason::kNotTold}, PowerGap{2, GapReason::kNotTold}));
  EXPECT_THAT(read.channel(1).gaps, IsEmpty());
  const PowerRead json = Read(R"({"CPU:0": {"1": 1, "2": null, "3": 3, "4": 4, "0": 0}})");
  EXPECT_THAT(json.times(), ElementsAre(0, 1000, 3000, 4000));
  EXPECT_THAT(json.channel().gaps, ElementsAre(PowerGap{2, GapReason::kNotTold}));
}

// What a counter counted meanwhile is in its next reading.
TEST(PowerFileTest, ADroppedReadingOfACounterLosesNothing) {
  const PowerRead read =
      Read("timestamp_us,device,energy_uj\n0,CPU:0,1000000\n1000,CPU:0,?\n2000,CPU:0,3000000\n");
  EXPECT_THAT(read.channel().gaps, IsEmpty());
  EXPECT_THAT(read.channel().values, ElementsAre(0, DoubleNear(2, 1e-9)));
}

TEST(PowerFileTest, AReadingBeyondPhysicsIsDroppedAndSaid) {
  const PowerRead gauge =
      Read("timestamp_us,device,power_w\n0,CPU:0,5\n1000,CPU:0,1e302\n2000,CPU:0,5\n");
  EXPECT_THAT(gauge.channel().values, ElementsAre(5, 5));
  EXPECT_THAT(gauge.channel().gaps, SizeIs(1));
  EXPECT_THAT(gauge.notes(), ElementsAre(HasSubstr("reading_too_large x1 @38")));
  const PowerRead counter = Read(
      "timestamp_us,device,energy_uj\n"
      "0,CPU:0,0\n1000,CPU:0,1e302\n2000,CPU:0,1e19\n3000,CPU:0,10000000000001000000\n");
  EXPECT_THAT(counter.channel().values, ElementsAre(0, 0, DoubleNear(1, 1e-2)));
  EXPECT_THAT(counter.channel().gaps, ElementsAre(PowerGap{1, GapReason::kNotTold}));
  EXPECT_THAT(counter.notes(), ElementsAre(HasSubstr("reading_too_large x2")));
}

TEST(PowerFileTest, QuotesInNamesAreUndone) {
  const PowerRead csv = Read(
      "timestamp_us,device,power_w\n0,\"the \"\"big\"\" one\",1\n1,\"the \"\"big\"\" one\",1\n");
  EXPECT_EQ(csv.channel().name, "the \"big\" one");
  const PowerRead json = Read(R"({"the \"big\" one \u00e9": {"1": 1}, "b": {"1": 2}})");
  ASSERT_THAT(json.trace.channels, SizeIs(2)) << json.error;
  EXPECT_EQ(json.channel().name, "the \"big\" one é");
}

TEST(PowerFileTest, JsonIsReadAcrossBuffersAndWhateverIsInIt) {
  std::string text =
      R"({"junk": [1, {"a": [], "b": {}, "c": [[null], "]}"]}, -1.5e3, true], "CPU:0": {)";
  for (int i = 0; i < 50'000; ++i) {
    text +=
        fmt::format("{}\"{}\" : {}{}", i == 0 ? "" : ",\n", 4 * i, i % 100, i % 7 == 0 ? ".5" : "");
  }
  text += "}, \"GPU:0\": {}} ";
  const PowerRead read = Read(text);
  ASSERT_THAT(read.trace.channels, SizeIs(1)) << read.error;
  ASSERT_THAT(read.channel().times, SizeIs(50'000));
  for (size_t i = 0; i < 50'000; ++i) {
    ASSERT_EQ(read.channel().times[i].value, static_cast<int64_t>(i) * 4000);
    ASSERT_EQ(read.channel().values[i], static_cast<double>(i % 100) + (i % 7 == 0 ? 0.5 : 0));
  }
}

TEST(PowerFileTest, WhatIsNoJsonIsRefusedWhereItBreaks) {
  for (const auto& [text, message] : std::vector<std::pair<std::string, std::string>>{
           {R"({"a": {"1": 2}} x)", "byte 16: expected the end of the text, found 'x'"},
           {R"({"a": {"1": 2},})", "byte 15: expected a member name in quotes, found '}'"},
           {R"({"a": [1, 2})", "byte 11: expected ',' or ']', found '}'"},
           {R"({"a": {"1": }})", "byte 12: expected a value, found '}'"},
           {R"({"a": {"1": "x)", "byte 14: expected the closing quote of a string"},
           {R"({"a" {)", "byte 5: expected ':' after the member name, found '{'"},
           {R"({"a": )" + std::string(2000, '['), "byte 1006: expected fewer brackets"},
           {R"({")" + std::string(5000, 'a') + R"(": 1})", "the name at byte 1 is longer than"}}) {
    EXPECT_THAT(Read(text).error, HasSubstr(message)) << text.substr(0, 40);
  }
}

}  // namespace
}  // namespace beryl::sources
