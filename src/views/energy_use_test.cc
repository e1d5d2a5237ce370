#include "views/energy_use.h"

#include "base/matchers_for_test.h"
#include "views/draw/label_places.h"
#include "views/draw/xml_testing.h"
#include "views/views.h"

namespace beryl::views {
namespace {

const std::vector<std::string>& HostileNames() {
  static const std::vector<std::string> kNames = {
      "<script>alert(1)</script>", "a\"b'c&d]]><!--", std::string("nul") + '\0' + "\x1b[31m\xFF",
      std::string(1000, 'W'),      "a,b\nc",          ""};
  return kNames;
}

Tradeoff Many() {
  Tradeoff tradeoff;
  tradeoff.batch_size = 16;
  tradeoff.seq_len = 128;
  tradeoff.budget = Joules{3};
  tradeoff.target = 0.5;
  tradeoff.origin.measured = true;
  tradeoff.origin.predicted_by = HostileNames()[0];
  for (size_t i = 0; i < HostileNames().size(); ++i) {
    const auto number = static_cast<double>(i);
    tradeoff.points.push_back(
        {HostileNames()[i],
         HostileNames()[i],
         0.5 + number / 100,
         {Joules{number}, IfKnown<Joules>(i % 2 == 0 ? kUnknown : number * 1.1)},
         Joules{number},
         Joules{number * 1.2},
         i % 2 == 0,
         i % 3 == 0});
  }
  tradeoff.choices = {{false, 3, std::nullopt}, {true, std::nullopt, 1}};
  tradeoff.without_accuracy = HostileNames();
  return tradeoff;
}

TEST(Tradeoff, PictureIsSoundWhateverNamesAre) {
  EXPECT_EQ(WrongWithXml(Write(Many(), Format::kSvg, {})), "");
  EXPECT_EQ(WrongWithXml(Write(Tradeoff(), Format::kSvg, {})), "");
  Tradeoff one = Many();
  one.points.resize(1);
  one.choices = {{false, std::nullopt, std::nullopt}};
  EXPECT_EQ(WrongWithXml(Write(one, Format::kSvg, {})), "");
  EXPECT_THAT(Write(one, Format::kSvg, {}), Not(HasSubstr("nan")));
}

TEST(Tradeoff, ControlCharactersNeverReachATerminal) {
  for (const Format format : {Format::kTable, Format::kCsv, Format::kJson}) {
    EXPECT_THAT(Write(Many(), format, {}), Not(HasSubstr("\x1b")));
  }
}

TEST(Tradeoff, UnknownIsADashAndNull) {
  EXPECT_THAT(Write(Many(), Format::kJson, {}), HasSubstr("\"predicted_j\":null"));
  EXPECT_THAT(Write(Many(), Format::kCsv, {}), Not(HasSubstr(",nan")));
}

TEST(PlaceLabels, DoNotCoverOneAnotherWhereThereIsRoom) {
  std::vector<Point> points;
  for (int i = 0; i < 12; ++i) points.push_back({200 + i * 6.0, 200 - i * 4.0});
  const std::vector<double> widths(points.size(), 60);
  std::vector<Box> marks;
  for (const Point& point : points) {
    marks.push_back({point.x - 2, point.y - 2, point.x + 2, point.y + 2});
  }
  const Box room{0, 0, 500, 400};
  const auto places = PlaceLabels(points, widths, 12, marks, room);
  ASSERT_EQ(places.size(), points.size());
  for (size_t a = 0; a < places.size(); ++a) {
    EXPECT_GE(places[a].box.left, room.left);
    EXPECT_LE(places[a].box.right, room.right);
    for (size_t b = 0; b < a; ++b) {
      const bool apart =
          places[a].box.right <= places[b].box.left || places[b].box.right <= places[a].box.left ||
          places[a].box.bottom <= places[b].box.top || places[b].box.bottom <= places[a].box.top;
      EXPECT_TRUE(apart) << a << " and " << b;
    }
  }
}

TEST(Bottlenecks, UnknownIsNeverZero) {
  Breakdowns breakdowns;
  breakdowns.origin.measured = true;
  Breakdown breakdown;
  breakdown.model = "m";
  breakdown.measured_runs = 1;
  breakdown.whole.measured = Joules{4};
  breakdown.parts = {{"A", Level::kModule, 1, {Joules{1}, std::nullopt}},
                     {"B", Level::kModule, 1, {}}};
  breakdown.rest.measured = Joules{3};
  breakdown.sum.measured = Joules{4};
  breakdowns.models = {breakdown};
  const std::string table = Write(breakdowns, Format::kTable, {});
  EXPECT_THAT(table, HasSubstr("25.0%"));
  EXPECT_THAT(table, HasSubstr("-        -      1  B"));
  EXPECT_THAT(table, Not(HasSubstr("predicted")));
  EXPECT_THAT(Write(breakdowns, Format::kCsv, {}), HasSubstr("m,part,,,B,B,module,1,,,,,,"));
  EXPECT_THAT(Write(breakdowns, Format::kJson, {}), HasSubstr("\"predicted_share\":null"));
}

TEST(Cost, WithoutAPriceThereIsNone) {
  QueryCosts costs;
  costs.electricity.region = "FR";
  costs.origin.measured = true;
  costs.rows.resize(1);
  costs.rows[0].cost.kwh = 12345;
  const std::string table = Write(costs, Format::kTable, {});
  EXPECT_THAT(table, HasSubstr("price per kWh unknown"));
  EXPECT_THAT(table, HasSubstr("12,345"));
  EXPECT_THAT(Write(costs, Format::kCsv, {}), HasSubstr("12345,,,,"));
}

}  // namespace
}  // namespace beryl::views
