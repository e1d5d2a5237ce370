#include "views/draw/svg.h"

#include <cmath>
#include <set>

#include "base/matchers_for_test.h"
#include "views/draw/svg_parts.h"
#include "views/draw/xml_testing.h"
#include "views/report_testing.h"

namespace beryl::views {
namespace {

// What a name out of somebody else's program may be.
std::vector<std::string> HostileNames() {
  return {"<script>alert(1)</script>",
          "quote\" and 'quote' & amp; ]]> <!-- -->",
          "emoji \xF0\x9F\x94\xA5 and \xE6\xBC\xA2\xE5\xAD\x97",
          "\xD7\xA9\xD7\x9C\xD7\x95\xD7\x9D \xE2\x80\xAE right to left",
          std::string("nul") + '\0' + " bell\a esc\x1b del\x7f",
          "invalid \xFF\xC3 utf8 \xED\xA0\x80 \xEF\xBF\xBF",
          std::string(10'000, 'x'),
          std::string(10'000, '<'),
          ""};
}

TEST(SvgTest, WhatIsMissingStandsAboveThePicture) {
  Provenance provenance;
  AddIncomplete({NoteKind::kNoOperations}, "<trace>", provenance);
  SvgCanvas canvas("title", "said");
  const std::string text = canvas.Take(300, 100, provenance);
  EXPECT_EQ(WrongWithXml(text), "");
  EXPECT_THAT(text, HasSubstr(R"(height="125" viewBox="0 -25 300 125")"));
  EXPECT_THAT(text, HasSubstr(R"(<rect y="-25" )"));
  EXPECT_THAT(text, HasSubstr("INCOMPLETE input: &lt;trace&gt;: the operation"));
  EXPECT_THAT(SvgCanvas("title", "said").Take(300, 100, {}), HasSubstr(R"(viewBox="0 0 300 100")"));
}

TEST(SvgTest, IsWellFormedWhateverTheNames) {
  for (const std::string& name : HostileNames()) {
    SvgCanvas canvas(name, name);
    canvas.BeginGroup(name);
    canvas.Text(1, 2, name);
    canvas.Text(1, 2, name, {.room = 40});
    canvas.Rectangle(0, 0, 10, 10, {.fill = kAccent, .tooltip = name});
    canvas.EndGroup();
    DrawHeading(canvas, 160, name, name, name);
    DrawLegend(canvas, 0, 0, 100, {{kAccent, name}, {kOther, name}});
    const std::string text = FinishPicture(canvas, 160, 0, SourceLines(MakeReport(name)), {});
    EXPECT_EQ(WrongWithXml(text), "") << name;
    EXPECT_THAT(text, Not(HasSubstr("<script")));
  }
}

TEST(SvgTest, ColoursFollowTheTheme) {
  SvgCanvas canvas("title", "description");
  canvas.Rectangle(0, 0, 10, 10, {.fill = Color{0x112233, 0x445566}});
  const std::string text = canvas.Take(20, 20, {.tool = "beryl", .version = "<1>"});
  const size_t dark = text.find("@media (prefers-color-scheme:dark)");
  ASSERT_NE(dark, std::string::npos);
  EXPECT_LT(text.find("fill:#112233"), dark);
  EXPECT_GT(text.find("fill:#445566"), dark);
  EXPECT_THAT(text, HasSubstr("<desc id=\"desc\">description</desc>"));
  EXPECT_THAT(text, HasSubstr("<metadata>beryl &lt;1&gt;</metadata>"));
}

TEST(SvgTest, ShortenedTextKeepsAllOfItAsTooltip) {
  SvgCanvas canvas("t", "d");
  canvas.Text(0, 0, "bert/encoder/layer_0/attention/self/query/MatMul", {.room = 100});
  const std::string text = canvas.Take(10, 10, {});
  EXPECT_THAT(text, HasSubstr("<title>bert/encoder/layer_0/attention/self/query/MatMul</title>"));
  EXPECT_THAT(text, HasSubstr("…"));
}

TEST(SvgTest, EllipsizedTextFits) {
  for (const std::string& name : HostileNames()) {
    for (const double room : {8.0, 33.0, 200.0}) {
      const std::string text = EllipsizeToWidth(name, room, 12);
      EXPECT_LE(TextWidth(text, 12), room) << name;
      const std::string path = EllipsizePathToWidth(name + "/" + name, room, 12);
      EXPECT_LE(TextWidth(path, 12), room) << name;
    }
  }
  EXPECT_EQ(EllipsizePathToWidth("bert/encoder/layer_0/MatMul", 110, 12), "…/layer_0/MatMul");
}

TEST(SvgTest, NumbersThatAreNoneAreNotWritten) {
  SvgCanvas canvas("t", "d");
  canvas.Line({std::nan(""), 0}, {INFINITY, -0.001}, {.stroke = kInk});
  EXPECT_THAT(canvas.Take(10, 10, {}), HasSubstr("M0,0L0,0"));
}

TEST(SvgPartsTest, TicksAreRound) {
  EXPECT_THAT(NiceTicks(0, 10, 5), ElementsAre(0, 2, 4, 6, 8, 10));
  EXPECT_THAT(NiceTicks(0, 1, 4), ElementsAre(0, 0.5, 1));
  EXPECT_THAT(NiceTicks(-30, 20, 5), ElementsAre(-30, -20, -10, 0, 10, 20));
  EXPECT_THAT(NiceTicks(3, 3, 5), ElementsAre(3));
  EXPECT_THAT(NiceTicks(0, INFINITY, 5), ElementsAre(0));
  EXPECT_LE(NiceTicks(1e17, 1e17 + 32, 5).size(), 1001U);
}

TEST(SvgPartsTest, UnitsFitTheValues) {
  EXPECT_EQ(UnitFor(0.02, "J").name, "mJ");
  EXPECT_EQ(UnitFor(20'000, "W").name, "kW");
  EXPECT_EQ(UnitFor(0, "J").name, "J");
}

TEST(ColorTest, LabelsReadOnEveryShadeInBothThemes) {
  auto check = [](Color background) {
    const Color text = TextColorOn(background);
    EXPECT_GE(Contrast(text.light, background.light), 4.5);
    EXPECT_GE(Contrast(text.dark, background.dark), 4.5);
  };
  for (int i = 0; i <= 100; ++i) {
    check(ShareColor(i * 0.01));
    check(DifferenceColor(i * 0.02 - 1));
  }
}

TEST(ColorTest, MoreIsDarkerOnLightAndLighterOnDark) {
  const Color none = ShareColor(0);
  const Color all = ShareColor(1);
  EXPECT_GT(Contrast(none.light, 0x000000), Contrast(all.light, 0x000000));
  EXPECT_LT(Contrast(none.dark, 0x000000), Contrast(all.dark, 0x000000));
  EXPECT_EQ(ShareColor(std::nan("")), none);
  EXPECT_EQ(ShareColor(7), all);
}

TEST(ColorTest, ManyCategoriesAreDifferent) {
  std::set<Color> colors;
  for (size_t i = 0; i < 24; ++i) colors.insert(CategoryColor(i, 24));
  EXPECT_EQ(colors.size(), 24U);
}

}  // namespace
}  // namespace beryl::views
