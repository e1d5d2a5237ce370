// Energy distribution diagrams as a table, JSON and CSV.
#include "views/diagram.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "views/text_page.h"
#include "views/writers.h"

namespace beryl::views {
namespace {

constexpr const char* kSchema = "beryl.edd/1";

std::string WriteDiagramsJson(const AccountReport& report,
                              const std::vector<EnergyDiagram>& diagrams) {
  JsonWriter json;
  json.BeginObject();
  json.Member("schema", kSchema);
  WriteContext(json, report);
  WriteClosure(json, report);
  json.Key("diagrams").BeginArray();
  for (const EnergyDiagram& diagram : diagrams) {
    json.BeginObject();
    json.Member("path", diagram.path);
    json.Key("phase").Value(diagram.phase ? std::optional(PhaseName(*diagram.phase))
                                          : std::nullopt);
    json.Member("energy_j", diagram.energy);
    json.Member("has_dataflow", diagram.has_dataflow);
    json.Member("described_dataflow", diagram.described_dataflow);
    json.Key("boxes").BeginArray();
    for (const DiagramBox& box : diagram.boxes) {
      json.BeginObject();
      json.Member("name", box.name);
      json.Member("path", box.path);
      json.Member("type", box.type);
      json.Member("composite", box.composite);
      json.Member("layers", box.folded);
      json.Member("range", box.folded_range);
      json.Member("gathered", box.gathered);
      json.Member("energy_j", box.energy);
      json.Member("share", box.share);
      json.Member("deviation_j", box.deviation);
      json.Member("from_outside", box.from_outside);
      json.Member("to_outside", box.to_outside);
      json.End();
    }
    json.End();
    json.Key("arrows").BeginArray();
    for (const DiagramArrow& arrow : diagram.arrows) {
      json.BeginObject();
      json.Member("from", arrow.from);
      json.Member("to", arrow.to);
      json.Member("count", arrow.count);
      json.End();
    }
    json.End();
    json.End();
  }
  json.End();
  json.End();
  return json.Take() + "\n";
}

std::string WriteDiagramsCsv(const std::vector<EnergyDiagram>& diagrams) {
  std::string text =
      "diagram,name,path,type,composite,layers,phase,energy_j,share,deviation_j,source,schema\n";
  for (const EnergyDiagram& diagram : diagrams) {
    for (const DiagramBox& box : diagram.boxes) {
      text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{}\n", CsvText(diagram.path),
                          CsvText(box.name), CsvText(box.path), CsvText(box.type),
                          box.composite ? "true" : "false", box.folded,
                          diagram.phase ? PhaseName(*diagram.phase) : "all", CsvFigure(box.energy),
                          CsvNumber(box.share), CsvFigure(box.deviation),
                          box.energy ? OriginName(box.origin) : "unknown", kSchema);
    }
  }
  return text;
}

class DiagramTable : public TextPage {
 public:
  using TextPage::TextPage;

  std::string Write(const std::vector<EnergyDiagram>& diagrams) {
    for (const EnergyDiagram& diagram : diagrams) Figure(diagram);
    if (diagrams.empty() || !diagrams.front().has_dataflow) {
      Paragraph("no dataflow in this trace: boxes in order of first run", 0, kDimStyle);
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
      // ( ) has parts, [ ] is an operation, as in the picture.
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
                         RightAligned(box.share ? FormatPercent(*box.share) : "?", 8);
      if (deviations) {
        line += RightAligned(box.deviation ? "±" + FormatJoules(*box.deviation) : "", 11);
      }
      while (line.ends_with(' ')) line.pop_back();
      Line(line);
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

}  // namespace

std::string DescribeDiagrams(const std::vector<EnergyDiagram>& diagrams) {
  std::string text;
  for (const EnergyDiagram& diagram : diagrams) {
    text += fmt::format("{}{}: {}.", text.empty() ? "" : " ",
                        diagram.path.empty() ? "the whole program" : diagram.path,
                        diagram.energy ? FormatJoules(*diagram.energy) : "not known");
    std::vector<const DiagramBox*> boxes;
    for (const DiagramBox& box : diagram.boxes) boxes.push_back(&box);
    std::stable_sort(boxes.begin(), boxes.end(), [](const DiagramBox* a, const DiagramBox* b) {
      return a->share.value_or(-1) > b->share.value_or(-1);
    });
    for (size_t i = 0; i < std::min<size_t>(boxes.size(), 3); ++i) {
      text += fmt::format(" {} {}.", boxes[i]->name,
                          boxes[i]->share ? FormatPercent(*boxes[i]->share) : "not known");
    }
  }
  return text;
}

std::string Write(const AccountReport& report, const std::vector<EnergyDiagram>& diagrams,
                  Format format, const ViewOptions& options) {
  switch (format) {
    case Format::kJson:
      return WriteDiagramsJson(report, diagrams);
    case Format::kCsv:
      return WriteDiagramsCsv(diagrams);
    case Format::kSvg:
      return DrawDiagrams(report, diagrams);
    default:
      return WriteHead(report, options) + DiagramTable(options).Write(diagrams) +
             WriteBooks(report, options);
  }
}

}  // namespace beryl::views
