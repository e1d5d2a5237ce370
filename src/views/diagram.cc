// Energy distribution diagrams as a table, JSON and CSV.
#include "views/diagram.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "views/csv_table.h"
#include "views/text_page.h"
#include "views/writers.h"

namespace beryl::views {
namespace {

constexpr const char* kSchema = "beryl.edd/1";

std::string WriteDiagramsJson(const AccountReport& report,
                              const std::vector<EnergyDiagram>& diagrams) {
  JsonWriter json;
  BeginResult(json, kSchema, report.provenance);
  WriteContext(json, report);
  WriteClosure(json, report);
  WriteNotes(json, NotesOf(report));
  json.Objects("diagrams", diagrams, [&](const EnergyDiagram& diagram) {
    json.Member("path", diagram.path);
    json.Key("phase").Value(diagram.phase ? std::optional(PhaseName(*diagram.phase))
                                          : std::nullopt);
    json.Member("energy_j", diagram.energy);
    json.Member("has_dataflow", diagram.has_dataflow);
    json.Member("described_dataflow", diagram.described_dataflow);
    json.Objects("boxes", diagram.boxes, [&](const DiagramBox& box) {
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
    });
    json.Objects("arrows", diagram.arrows, [&](const DiagramArrow& arrow) {
      json.Member("from", arrow.from);
      json.Member("to", arrow.to);
      json.Member("count", arrow.count);
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
      SmallPrint("no dataflow in this trace: boxes in order of first run");
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
  if (format == Format::kJson) return WriteDiagramsJson(report, diagrams);
  if (format == Format::kCsv) return WriteDiagramsCsv(report, diagrams);
  if (format == Format::kSvg) return DrawDiagrams(report, diagrams);
  return WriteHead(report, options) + DiagramTable(options).Write(diagrams) +
         WriteBooks(report, options);
}

}  // namespace beryl::views
