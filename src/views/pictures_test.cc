// Every picture and export with names that somebody else chose.
#include <cmath>
#include <numeric>

#include "base/matchers_for_test.h"
#include "views/draw/diagram_layout.h"
#include "views/draw/xml_testing.h"
#include "views/export.h"
#include "views/report_testing.h"
#include "views/views.h"

namespace beryl::views {
namespace {

OperationRanking MakeRanking(const AccountReport& report, OperationRanking::Kind kind) {
  OperationRanking ranking;
  ranking.kind = kind;
  ranking.rows = ranking.by_device = report.operations;
  ranking.total = Joules{4};
  return ranking;
}

EnergyDiagram MakeDiagram(const std::string& name, size_t boxes) {
  EnergyDiagram diagram;
  diagram.path = name;
  diagram.energy = Joules{10};
  diagram.has_dataflow = true;
  for (size_t i = 0; i < boxes; ++i) {
    DiagramBox box;
    box.name = box.path = box.type = name;
    box.composite = i % 2 == 0;
    box.folded = i == 1 ? 24 : 1;
    if (i != 2) {
      box.share = 1.0 / static_cast<double>(boxes);
      box.energy = Joules{*box.share};
    }
    box.from_outside = box.to_outside = i % 3;
    diagram.boxes.push_back(box);
    if (i > 0) diagram.arrows.push_back({i - 1, i, 1});
  }
  return diagram;
}

Timeline MakeTimeline(const std::string& name) {
  Timeline timeline = *MakeReport(name).timeline;
  timeline.layers = {name, "b"};
  timeline.layers_of = name;
  timeline.channels[0].layers = {{0.5, 0}, {0, 0}};
  timeline.channels[0].other = {0.5, 0};
  return timeline;
}

TEST(PicturesTest, AreWellFormedWhateverTheNames) {
  for (const std::string& name : HostileNames()) {
    const AccountReport report = MakeReport(name);
    std::vector<std::string> pictures = {
        Write(report, std::vector<EnergyDiagram>{MakeDiagram(name, 5), MakeDiagram(name, 0)},
              Format::kSvg, {}),
        Write(report, MakeTimeline(name), Format::kSvg, {})};
    for (const auto kind : {OperationRanking::Kind::kTef, OperationRanking::Kind::kStpf}) {
      pictures.push_back(Write(report, MakeRanking(report, kind), Format::kSvg, {}));
    }
    for (const std::string& picture : pictures) {
      EXPECT_EQ(WrongWithXml(picture), "") << name;
      EXPECT_THAT(picture, Not(HasSubstr("<script")));
      EXPECT_THAT(picture, Not(HasSubstr("nan")));
    }
  }
}

TEST(PicturesTest, OtherFormsCopeToo) {
  for (const std::string& name : HostileNames()) {
    const AccountReport report = MakeReport(name);
    for (const Format format : {Format::kTable, Format::kJson, Format::kCsv}) {
      const std::vector<std::string> texts = {
          Write(report, std::vector<EnergyDiagram>{MakeDiagram(name, 5)}, format, {}),
          Write(report, MakeTimeline(name), format, {}),
          Write(report, MakeRanking(report, OperationRanking::Kind::kStef), format, {})};
      for (const std::string& text : texts) {
        EXPECT_THAT(text, Not(HasSubstr("\x1b"))) << name;
        EXPECT_THAT(text, Not(HasSubstr(std::string(1, '\0')))) << name;
      }
    }
  }
}

bool Overlap(Point a, Point b) {
  return std::fabs(a.x - b.x) < kBoxWidth && std::fabs(a.y - b.y) < kBoxHeight;
}

TEST(DiagramLayoutTest, BoxesNeverOverlap) {
  for (const size_t boxes : {1, 2, 5, 24, 40}) {
    for (const bool flows : {true, false}) {
      EnergyDiagram diagram = MakeDiagram("x", boxes);
      if (!flows) diagram.arrows.clear();
      // One that feeds all, and a cycle.
      for (size_t i = 2; flows && i < boxes; ++i) diagram.arrows.push_back({0, i, 1});
      if (flows && boxes > 2) diagram.arrows.push_back({boxes - 1, 0, 1});
      const DiagramLayout layout = LayOut(diagram);
      ASSERT_EQ(layout.corners.size(), boxes);
      for (size_t i = 0; i < boxes; ++i) {
        EXPECT_GE(layout.corners[i].x, 0);
        EXPECT_LE(layout.corners[i].x + kBoxWidth, layout.width + 1e-9);
        EXPECT_LE(layout.corners[i].y + kBoxHeight, layout.height + 1e-9);
        for (size_t j = 0; j < i; ++j) {
          EXPECT_FALSE(Overlap(layout.corners[i], layout.corners[j])) << i << " and " << j;
        }
      }
      EXPECT_EQ(layout.arrows.size(), diagram.arrows.size());
    }
  }
}

TEST(DiagramLayoutTest, WhatIsFedStandsBelowAndCyclesAreBroken) {
  EnergyDiagram diagram = MakeDiagram("x", 3);
  diagram.arrows = {{2, 1, 1}, {1, 0, 1}};
  DiagramLayout layout = LayOut(diagram);
  EXPECT_LT(layout.corners[2].y, layout.corners[1].y);
  EXPECT_LT(layout.corners[1].y, layout.corners[0].y);
  diagram.arrows = {{0, 1, 1}, {0, 2, 1}, {1, 2, 1}, {2, 0, 1}};
  layout = LayOut(diagram);
  EXPECT_LT(layout.corners[0].y, layout.corners[1].y);
  EXPECT_TRUE(layout.arrows[1].implied);
  EXPECT_FALSE(layout.arrows[0].implied);
  EXPECT_TRUE(layout.arrows[3].back);
}

TEST(RoundTogetherTest, AddsUpToTheRoundedSum) {
  EXPECT_THAT(RoundTogether({0.5, 0.5, 0.5, 0.5}, 1), ElementsAre(1, 1, 0, 0));
  EXPECT_THAT(RoundTogether({1.9, 0.05, 0.05}, 1), ElementsAre(2, 0, 0));
  EXPECT_THAT(RoundTogether({std::nan(""), -3, 2}, 1), ElementsAre(0, 0, 2));
  EXPECT_THAT(RoundTogether({}, 1), ElementsAre());
  std::vector<double> many;
  double sum = 0;
  for (int i = 0; i < 1000; ++i) {
    many.push_back(std::fmod(i * 0.7319, 3) * 1e-6);
    sum += many.back();
  }
  const auto rounded = RoundTogether(many, 1e-6);
  EXPECT_EQ(std::accumulate(rounded.begin(), rounded.end(), uint64_t{0}),
            static_cast<uint64_t>(std::llround(sum * 1e6)));
  for (size_t i = 0; i < many.size(); ++i) {
    EXPECT_LT(std::fabs(static_cast<double>(rounded[i]) - many[i] * 1e6), 1);
  }
}

TEST(ExportTest, FoldedStacksAreALineEach) {
  for (const std::string& name : HostileNames()) {
    const std::string text = WriteFoldedStacks(MakeReport(name));
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
    EXPECT_EQ(std::count(text.begin(), text.end(), ';'), 1) << text;
    EXPECT_THAT(text, HasSubstr("MatMul 4000000\n"));
  }
}

TEST(ExportTest, WhatLiesDeeperIsAddedToWhatIsAbove) {
  ViewOptions options;
  const auto folded = [&] {
    AccountReport report = MakeReport("layer");
    CutStacks(report.tree, options);
    return WriteFoldedStacks(report);
  };
  EXPECT_EQ(folded(), "layer;MatMul 4000000\n");
  options.level = Level::kModule;
  EXPECT_EQ(folded(), "layer 4000000\n");
  options.level = Level::kModel;
  EXPECT_EQ(folded(), "model 4000000\n");
  options.level.reset();
  options.depth = 1;
  EXPECT_EQ(folded(), "layer 4000000\n");
}

TEST(ExportTest, ChromeNestsChildrenInTheirParents) {
  const std::string text = WriteChromeTrace(MakeReport());
  EXPECT_THAT(text, HasSubstr("\"name\":\"MatMul\",\"cat\":\"math\",\"ph\":\"X\",\"pid\":1,"
                              "\"tid\":1,\"ts\":0,\"dur\":4000000"));
  EXPECT_THAT(text, HasSubstr("\"ph\":\"C\""));
  EXPECT_THAT(text, Not(HasSubstr("Conv2D"))) << "no energy is known of it";
}

}  // namespace
}  // namespace beryl::views
