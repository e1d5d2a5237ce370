// Energy distribution diagrams as a table, JSON, CSV, and as boxes with arrows for dataflow, one
// figure per level.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "types/analysis.h"
#include "views/draw/diagram_layout.h"
#include "views/draw/svg_parts.h"
#include "views/text/csv_table.h"
#include "views/text/text_page.h"
#include "views/writers.h"

namespace beryl::views {
namespace {

constexpr const char* kSchema = "beryl.edd/1";

std::string WriteDiagramsJson(const AccountReport& report,
                              const std::vector<EnergyDiagram>& diagrams) {
  JsonWriter json;
  BeginRunResult(json, kSchema, report);
  json.Objects("diagrams", diagrams, [&](const EnergyDiagram& diagram) {
    json.Member("path", diagram.path);
    json.Key("phase").Value(diagram.phase ? std::optional(PhaseName(*diagram.phase))
                                          : std::nullopt);
    json.Member("energy_j", diagram.energy).Member("has_dataflow", diagram.has_dataflow);
    json.Member("described_dataflow", diagram.described_dataflow);
    json.Objects("boxes", diagram.boxes, [&](const DiagramBox& box) {
      json.Member("name", box.name).Member("path", box.path).Member("type", box.type);
      json.Member("composite", box.composite).Member("layers", box.folded);
      json.Member("range", box.folded_range).Member("gathered", box.gathered);
      json.Member("energy_j", box.energy).Member("share", box.share);
      json.Member("deviation_j", box.deviation).Member("from_outside", box.from_outside);
      json.Member("to_outside", box.to_outside);
    });
    json.Objects("arrows", diagram.arrows, [&](const DiagramArrow& arrow) {
      json.Member("from", arrow.from).Member("to", arrow.to).Member("count", arrow.count);
    });
  });
  return EndResult(json);
}

std::string WriteDiagramsCsv(const AccountReport& report,
                             const std::vector<EnergyDiagram>& diagrams) {
  CsvTable csv(kSchema, report.provenance,
               "diagram,name,path,type,composite,layers,phase,energy_j,share,deviation_j,source");
  for (const EnergyDiagram& diagram : diagrams) {
    for (const DiagramBox& box : diagram.boxes) {
      csv.Row(diagram.path, box.name, box.path, box.type, box.composite, box.folded,
              diagram.phase ? PhaseName(*diagram.phase) : "all", box.energy, box.share,
              box.deviation, box.energy ? OriginName(box.origin) : "unknown");
    }
  }
  return csv.Take();
}

class DiagramTable : public TextPage {
 public:
  using TextPage::TextPage;

  std::string Write(const std::vector<EnergyDiagram>& diagrams) {
    for (const EnergyDiagram& diagram : diagrams) Figure(diagram);
    if (diagrams.empty() || !diagrams.front().has_dataflow) {
      SmallPrint("this trace has no dataflow: boxes are in order of first execution");
      Line();
    }
    return Take();
  }

 private:
  void Figure(const EnergyDiagram& diagram) {
    const std::string path = diagram.path.empty() ? "the whole program" : Printable(diagram.path);
    Line(Bold(
        fmt::format("{}  {}{}", path, FormatJoules(diagram.energy),
                    diagram.phase ? fmt::format("  {} pass", PhaseName(*diagram.phase)) : "")));
    constexpr int kBar = 24;
    double highest = 0;
    bool deviations = false;
    for (const DiagramBox& box : diagram.boxes) {
      highest = std::max(highest, box.share.value_or(0));
      deviations = deviations || box.deviation;
    }
    const int numbers = kBar + 20 + (deviations ? 11 : 0);
    for (const DiagramBox& box : diagram.boxes) {
      // As in the picture, ( ) has parts and [ ] is an operation.
      const std::string times = box.folded > 1 ? fmt::format(" ×{}", box.folded) : "";
      const bool round = box.composite || box.gathered > 0;
      const auto room = static_cast<size_t>(width_ - numbers - 5) - DisplayWidth(times);
      const std::string label =
          fmt::format("{}{}{}{}", round ? "(" : "[", Ellipsize(Printable(box.name), room), times,
                      round ? ")" : "]");
      const int filled =
          highest > 0 ? static_cast<int>(std::lround(box.share.value_or(0) / highest * kBar)) : 0;
      std::string bar;
      for (int i = 0; i < filled; ++i) bar += "█";
      std::string line = "  " + Padded(label, width_ - numbers - 2) + Padded(bar, kBar) +
                         RightAligned(FormatJoules(box.energy), 10) +
                         RightAligned(OrUnknown(box.share, FormatPercent), 8);
      if (deviations) {
        line += RightAligned(box.deviation ? "±" + FormatJoules(*box.deviation) : "", 11);
      }
      TrimmedLine(line);
      Feeds(diagram, static_cast<size_t>(&box - diagram.boxes.data()));
    }
    if (diagram.boxes.empty()) Line("  nothing inside");
    Line();
  }

  void Feeds(const EnergyDiagram& diagram, size_t from) {
    constexpr size_t kMost = 6;
    std::string line;
    size_t count = 0;
    for (const DiagramArrow& arrow : diagram.arrows) {
      if (arrow.from != from || ++count > kMost) continue;
      line += (line.empty() ? "" : ", ") + Printable(diagram.boxes[arrow.to].name);
    }
    if (count > kMost) line += fmt::format(" and {} more", count - kMost);
    if (!line.empty()) Paragraph("└> " + line, 4, kDimStyle);
  }
};

// Alternative text: the largest boxes of each figure.
std::string DescribeDiagrams(const std::vector<EnergyDiagram>& diagrams) {
  std::string text;
  for (const EnergyDiagram& diagram : diagrams) {
    text += fmt::format("{}{}: {}.", text.empty() ? "" : " ",
                        diagram.path.empty() ? "the whole program" : diagram.path,
                        diagram.energy ? FormatJoules(*diagram.energy) : "unknown");
    std::vector<const DiagramBox*> boxes;
    for (const DiagramBox& box : diagram.boxes) boxes.push_back(&box);
    std::stable_sort(boxes.begin(), boxes.end(), [](const DiagramBox* a, const DiagramBox* b) {
      return a->share.value_or(-1) > b->share.value_or(-1);
    });
    for (size_t i = 0; i < std::min<size_t>(boxes.size(), 3); ++i) {
      text += fmt::format(" {} {}.", boxes[i]->name,
                          boxes[i]->share ? FormatPercent(*boxes[i]->share) : "unknown");
    }
  }
  return text;
}

constexpr double kBetween = 56;  // space between figures
constexpr double kNarrowestFigure = 240;
constexpr double kName = 12;
constexpr size_t kManyArrows = 60;

std::string ShareText(const DiagramBox& box) {
  if (!box.share) return "unknown";
  if (*box.share > 0 && *box.share < 0.00005) return "<0.01%";
  return fmt::format("{:.2f}%", *box.share * 100);
}

std::string Tooltip(const DiagramBox& box) {
  std::string text = box.path.empty() ? box.name : box.path;
  if (!box.type.empty()) text += "\n" + box.type;
  text += "\n" + (box.energy ? FormatJoules(*box.energy) : "energy unknown");
  if (box.share) text += ", " + FormatPercent(*box.share);
  if (box.deviation) text += fmt::format(", ±{} per step", FormatJoules(*box.deviation));
  if (box.folded > 1) text += fmt::format("\n{} repeated parts: {}", box.folded, box.folded_range);
  return text;
}

class DiagramPicture {
 public:
  DiagramPicture(const AccountReport& report, const std::vector<EnergyDiagram>& diagrams)
      : report_(report), diagrams_(diagrams), canvas_(Title(), DescribeDiagrams(diagrams)) {}

  std::string Draw() {
    double width = 2 * kMargin - kBetween;
    std::vector<DiagramLayout> layouts;
    for (const EnergyDiagram& diagram : diagrams_) {
      layouts.push_back(LayOut(diagram));
      layouts.back().width = std::max(layouts.back().width, kNarrowestFigure);
      width += layouts.back().width + kBetween;
    }
    width = std::max(width, 640.0);
    const double top = DrawHeading(canvas_, width, Title(), Subtitle(), report_.context.label) + 12;
    double x = kMargin;
    double bottom = top;
    std::vector<double> separators;
    for (size_t i = 0; i < layouts.size(); ++i) {
      bottom = std::max(bottom, Figure(diagrams_[i], layouts[i], x, top));
      x += layouts[i].width + kBetween;
      if (i + 1 < layouts.size()) separators.push_back(x - kBetween / 2);
    }
    for (const double at : separators) {
      canvas_.Line({at, top - 8}, {at, bottom}, {.stroke = kGrid});
    }
    return FinishPicture(canvas_, width, bottom + 30, SourceLines(report_), report_.provenance);
  }

 private:
  std::string Title() const {
    std::string pass;
    if (!diagrams_.empty() && diagrams_.front().phase) {
      pass = fmt::format(", {} pass", PhaseName(*diagrams_.front().phase));
    }
    return fmt::format("Energy distribution{}: {}", pass, RunName(report_.context));
  }

  std::string Subtitle() const {
    std::string text =
        "shares are of all boxes of the same figure; rounded boxes have parts, sharp ones are "
        "operations";
    const bool flows =
        std::any_of(diagrams_.begin(), diagrams_.end(),
                    [](const EnergyDiagram& diagram) { return !diagram.arrows.empty(); });
    if (flows) {
      text += "; arrows are dataflow";
      if (diagrams_.front().described_dataflow) text += " from the model's description";
    } else if (diagrams_.empty() || !diagrams_.front().has_dataflow) {
      text += "; this trace has no dataflow: boxes are in order of first execution";
    } else {
      text += "; no dataflow between these boxes: they are in order of first execution";
    }
    return text;
  }

  double Figure(const EnergyDiagram& diagram, const DiagramLayout& layout, double x, double top) {
    const std::string path = diagram.path.empty() ? "the whole program" : diagram.path;
    canvas_.Text(x, top + 6, EllipsizePathToWidth(path, layout.width - 4, 13),
                 {.size = 13, .bold = true});
    canvas_.Text(x, top + 23, diagram.energy ? FormatJoules(*diagram.energy) : "energy unknown",
                 {.size = 11.5, .color = kDim});
    double highest = 0;
    for (const DiagramBox& box : diagram.boxes) highest = std::max(highest, box.share.value_or(0));
    DrawScaleLegend(canvas_, x, top + 34, "0%", FormatPercent(highest), ShareColor);
    const double y = top + 66;
    if (diagram.boxes.empty()) {
      canvas_.Text(x, y + 10, "nothing inside", {.color = kDim});
      return y + 20;
    }
    double used = 0;
    for (const Point& corner : layout.corners) used = std::max(used, corner.x + kBoxWidth);
    const double left = x + std::max(0.0, (layout.width - used) / 2);
    for (const PlacedArrow& arrow : layout.arrows) Arrow(diagram, arrow, left, y);
    for (size_t i = 0; i < diagram.boxes.size(); ++i) {
      Box(diagram.boxes[i], {left + layout.corners[i].x, y + layout.corners[i].y}, highest,
          HasArrow(diagram, i));
    }
    return y + layout.height + 14;
  }

  // Whether arrows end and start at a box.
  static std::pair<bool, bool> HasArrow(const EnergyDiagram& diagram, size_t box) {
    std::pair<bool, bool> has = {false, false};
    for (const DiagramArrow& arrow : diagram.arrows) {
      has.first = has.first || arrow.to == box;
      has.second = has.second || arrow.from == box;
    }
    return has;
  }

  void Arrow(const EnergyDiagram& diagram, const PlacedArrow& arrow, double x, double y) {
    std::vector<Point> points = arrow.points;
    for (Point& point : points) point = {point.x + x, point.y + y};
    const DiagramArrow& flow = diagram.arrows[arrow.arrow];
    ShapeStyle style{.stroke = kDim, .stroke_width = arrow.implied ? 1 : 1.4};
    // A few arrows are read one by one, many only as a whole.
    const bool many = diagram.arrows.size() > kManyArrows;
    style.opacity = (arrow.implied ? 0.35 : 0.9) * (many ? 0.45 : 1);
    if (arrow.back) style.dashes = "4 3";
    style.tooltip = fmt::format("{} to {}: {} flow(s)", diagram.boxes[flow.from].name,
                                diagram.boxes[flow.to].name, flow.count);
    canvas_.Arrow(points, style);
  }

  void Box(const DiagramBox& box, Point corner, double highest, std::pair<bool, bool> has_arrow) {
    const Color fill = box.share ? ShareColor(highest > 0 ? *box.share / highest : 0) : kPage;
    const Color ink = box.share ? TextColorOn(fill) : kDim;
    const double radius = box.composite || box.gathered > 0 ? 11 : 0;
    canvas_.BeginGroup(Tooltip(box));
    // Flows from and to the outside, for boxes without an inner arrow.
    const auto arrow = [&](double y) {
      const double x = corner.x + kBoxWidth / 2;
      canvas_.Arrow({{x, y}, {x, y + 5}, {x, y + 10}, {x, y + 15}},
                    {.stroke = kOther, .stroke_width = 1.4});
    };
    if (box.from_outside > 0 && !has_arrow.first) arrow(corner.y - 15);
    if (box.to_outside > 0 && !has_arrow.second) arrow(corner.y + kBoxHeight);
    if (box.folded > 1) {
      for (const double back : {6.0, 3.0}) {
        canvas_.Rectangle(corner.x + back, corner.y - back, kBoxWidth, kBoxHeight,
                          {.fill = fill, .stroke = kDim, .radius = radius});
      }
    }
    canvas_.Rectangle(
        corner.x, corner.y, kBoxWidth, kBoxHeight,
        {.fill = fill, .stroke = kDim, .radius = radius, .dashes = box.share ? "" : "3 3"});
    const std::string times = box.folded > 1 ? fmt::format(" ×{}", box.folded) : "";
    const double room = kBoxWidth - 14 - TextWidth(times, kName);
    canvas_.Text(corner.x + kBoxWidth / 2, corner.y + 17,
                 EllipsizeToWidth(box.name, room, kName) + times,
                 {.size = kName, .color = ink, .anchor = Anchor::kMiddle});
    canvas_.Text(corner.x + kBoxWidth / 2, corner.y + 33, ShareText(box),
                 {.size = 11, .color = ink, .anchor = Anchor::kMiddle});
    canvas_.EndGroup();
  }

  const AccountReport& report_;
  const std::vector<EnergyDiagram>& diagrams_;
  SvgCanvas canvas_;
};

}  // namespace

std::string Write(const AccountReport& report, const std::vector<EnergyDiagram>& diagrams,
                  Format format, const ViewOptions& options) {
  if (format == Format::kJson) return WriteDiagramsJson(report, diagrams);
  if (format == Format::kCsv) return WriteDiagramsCsv(report, diagrams);
  if (format == Format::kSvg) return DiagramPicture(report, diagrams).Draw();
  return WriteHead(report, options) + DiagramTable(options).Write(diagrams) +
         WriteBalances(report, options);
}

}  // namespace beryl::views
