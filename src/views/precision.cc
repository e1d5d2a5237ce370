// How much a result depends on its sampling: as a table, JSON, CSV, and as curves of similarity.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "views/compare.h"
#include "views/draw/heat_map.h"
#include "views/draw/svg_parts.h"
#include "views/text/csv_table.h"
#include "views/text/figures.h"
#include "views/text/notes.h"
#include "views/text/text_page.h"
#include "views/writers.h"

namespace beryl::views {
namespace {

constexpr const char* kSchema = "beryl.precision/1";

std::vector<std::string> VerdictTexts(const Precision& precision) {
  std::vector<std::string> texts;
  for (const Note& verdict : precision.verdicts) texts.push_back(NoteWords(verdict));
  return texts;
}

class PrecisionTable : public PageOf<Precision> {
 public:
  using PageOf::PageOf;

  std::string Write() {
    Incomplete(result_.provenance);
    for (const std::string& verdict : VerdictTexts(result_)) Paragraph(verdict);
    Line();
    Sparsing();
    Widening();
    Stability();
    for (const std::string& line : SourcesOf(result_.runs, result_.labels)) Paragraph(line);
    for (const AccountReport& report : result_.runs) {
      Notes(report.notes);
    }
    return Take();
  }

 private:
  void Sparsing() {
    const bool several = result_.runs.size() > 1;
    Line(Bold("sampled more sparsely: every n-th power reading against all of them"));
    const std::vector<int> widths = {6, 11, 12, several ? 10 : 0, 9, 9};
    Line(Dim(Cells(widths, {"n", "period", "similarity", "lowest", "moved", "total"})));
    for (const Precision::Sparsing& point : result_.sparsing) {
      Line(Cells(
          widths,
          {FormatCount(point.every), OrDash(point.period_ms * 1e-3, FormatSeconds),
           SimilarityText(point.pearson), SimilarityText(point.lowest), PercentOrDash(point.moved),
           (point.total_change > 0 ? "+" : "") + PercentOrDash(point.total_change)}));
    }
    SmallPrint(
        "similarity: Pearson's correlation over operations, layers folded. moved: share of the "
        "energy that went to other operations. total: change of the energy of all operations.");
    Line();
  }

  void Widening() {
    if (result_.widening.empty()) return;
    Line(Bold(fmt::format("sampled longer: the first n {}s against all {}", result_.sample,
                          result_.widening.back().samples)));
    const std::vector<int> widths = {6, 12, 9};
    Line(Dim(Cells(widths, {"n", "similarity", "moved"})));
    for (const Precision::Widening& point : result_.widening) {
      Line(Cells(widths, {FormatCount(point.samples), SimilarityText(point.pearson),
                          PercentOrDash(point.moved)}));
    }
    Line();
  }

  void Stability() {
    const SimilarityMatrices& found = result_.stability;
    const size_t boxes = found.runs.size();
    if (boxes < 2) return;
    Line(Bold(fmt::format("repeated: similarity of energy between {}s", result_.sample)));
    WriteMatrix(*this, found.energy_pearson, boxes, 8, SimilarityText);
    std::string names;
    for (size_t box = 0; box < boxes; ++box) {
      names += fmt::format("{}{} {}", box > 0 ? "; " : "", LetterOf(box), found.runs[box]);
    }
    SmallPrint(names);
    Line();
  }
};

std::string Json(const Precision& precision) {
  JsonWriter json;
  BeginResult(json, "beryl.precision/1", precision.provenance);
  json.Member("verdicts", VerdictTexts(precision));
  json.Objects("sparsing", precision.sparsing, [&](const Precision::Sparsing& point) {
    json.Member("every", point.every).Member("period_ms", point.period_ms);
    json.Member("pearson", point.pearson).Member("lowest", point.lowest);
    json.Member("moved", point.moved).Member("total_change", point.total_change);
  });
  json.Member("sample", precision.sample);
  json.Objects("widening", precision.widening, [&](const Precision::Widening& point) {
    json.Member("samples", point.samples).Member("pearson", point.pearson);
    json.Member("moved", point.moved);
  });
  WriteSimilarity(json, "stability", precision.stability);
  json.Key("runs").BeginArray();
  for (size_t run = 0; run < precision.runs.size(); ++run) {
    json.BeginObject();
    json.Member("label", precision.labels[run]);
    WriteContext(json, precision.runs[run]);
    WriteClosure(json, precision.runs[run]);
    json.End();
  }
  json.End();
  WriteNotes(json, NotesOf(precision));
  return EndResult(json);
}

// Curves and matrix in one long table: kind, position and similarity.
std::string Csv(const Precision& precision) {
  CsvTable csv(kSchema, precision.provenance,
               "what,a,b,period_ms,pearson,lowest,moved,total_change");
  for (const Precision::Sparsing& point : precision.sparsing) {
    csv.Row("sparsing", point.every, "", point.period_ms, point.pearson, point.lowest, point.moved,
            point.total_change);
  }
  for (const Precision::Widening& point : precision.widening) {
    csv.Row("widening", point.samples, "", "", point.pearson, "", point.moved, "");
  }
  const SimilarityMatrices& found = precision.stability;
  const size_t boxes = found.runs.size();
  for (size_t at = 0; at < boxes * boxes; ++at) {
    csv.Row("stability", found.runs[at / boxes], found.runs[at % boxes], "",
            found.energy_pearson[at], "", "", "");
  }
  return csv.Take();
}

constexpr double kPlotHeight = 220;

struct CurvePoint {
  double x = 0;
  double y = 0;
  std::string tick;
  std::string tooltip;
};

// A curve over a logarithmic axis. The value axis ends at 1 and starts below the curve.
void DrawCurve(SvgCanvas& canvas, Point at, double width, std::string_view title,
               std::string_view along, const std::vector<CurvePoint>& points) {
  canvas.Text(at.x, at.y + 12, title, {.size = 12.5, .bold = true, .room = width});
  const double top = at.y + 28;
  const double bottom = top + kPlotHeight;
  double lowest = 1;
  for (const CurvePoint& point : points) {
    if (std::isfinite(point.y)) lowest = std::min(lowest, point.y);
  }
  // The range has a minimum: a curve between 0.9999 and 1 is flat and should look flat.
  const double low = std::max(-1.0, std::min(0.9, std::floor(lowest * 10) / 10));
  const Scale y{low, 1, bottom, top};
  const double left = at.x + kAxisRoom;
  DrawLeftAxis(canvas, y, {left, at.x + width}, "similarity", "");
  if (points.empty()) return;
  const double first = std::log2(points.front().x);
  const double last = std::log2(points.back().x);
  const Scale x{first, last > first ? last : first + 1, left + 14, at.x + width - 14};
  std::vector<Point> line;
  double free_from = 0;
  for (const CurvePoint& point : points) {
    const double px = x(std::log2(point.x));
    const double room = TextWidth(point.tick, 11);
    if (px - room / 2 >= free_from) {
      canvas.Text(px, bottom + 16, point.tick,
                  {.size = 11, .color = kDim, .anchor = Anchor::kMiddle});
      free_from = px + room / 2 + 6;
    }
    if (std::isfinite(point.y)) line.push_back({px, y(point.y)});
  }
  canvas.Text((x.from + x.to) / 2, bottom + 34, along,
              {.size = 11, .color = kDim, .anchor = Anchor::kMiddle});
  if (line.size() > 1) canvas.Polyline(line, {.stroke = kAccent, .stroke_width = 2});
  for (const CurvePoint& point : points) {
    if (!std::isfinite(point.y)) continue;
    canvas.Rectangle(x(std::log2(point.x)) - 3, y(point.y) - 3, 6, 6,
                     {.fill = kAccent, .radius = 3, .tooltip = point.tooltip});
  }
}

std::string DrawPrecision(const Precision& precision) {
  const std::string said = fmt::format("{}", fmt::join(VerdictTexts(precision), ". "));
  SvgCanvas canvas("How much the result depends on its sampling", said);
  double y = DrawHeading(canvas, kWidth, "How much the result depends on its sampling", said,
                         WarningLabel(precision.runs)) +
             8;
  const bool has_widening = !precision.widening.empty();
  constexpr double kGap = 30;
  const double half = (kInner - kGap) / 2;
  std::vector<CurvePoint> sparsing;
  const bool timed = std::all_of(precision.sparsing.begin(), precision.sparsing.end(),
                                 [](const auto& point) { return point.period_ms > 0; });
  for (const Precision::Sparsing& point : precision.sparsing) {
    sparsing.push_back(
        {timed ? point.period_ms : point.every, point.pearson,
         timed ? FormatSeconds(point.period_ms * 1e-3) : fmt::format("{}", point.every),
         fmt::format("every {}. reading: similarity {:.4f}, {} moved, total {}", point.every,
                     point.pearson, PercentOrDash(point.moved),
                     PercentOrDash(point.total_change))});
  }
  DrawCurve(canvas, {kMargin, y}, has_widening ? half : kInner,
            "sampled more sparsely, against all readings", "time between power readings", sparsing);
  if (has_widening) {
    std::vector<CurvePoint> widening;
    for (const Precision::Widening& point : precision.widening) {
      widening.push_back({static_cast<double>(point.samples), point.pearson,
                          FormatCount(point.samples),
                          fmt::format("the first {}: similarity {:.4f}, {} moved", point.samples,
                                      point.pearson, PercentOrDash(point.moved))});
    }
    DrawCurve(canvas, {kMargin + half + kGap, y}, half,
              fmt::format("sampled longer, against all {}s", precision.sample),
              fmt::format("{}s taken", precision.sample), widening);
  }
  y += 28 + kPlotHeight + 62;
  const SimilarityMatrices& stability = precision.stability;
  if (stability.runs.size() > 1) {
    const double end =
        DrawHeatMap(canvas, {kMargin, y}, half + 60,
                    {fmt::format("similarity of energy between {}s (Pearson)", precision.sample),
                     &stability.energy_pearson, stability.runs.size(), "", stability.runs});
    double line = y + 46;
    const double x = kMargin + half + 60 + kGap;
    for (size_t box = 0; box < stability.runs.size(); ++box) {
      canvas.Text(x, line, fmt::format("{}  {}", LetterOf(box), Printable(stability.runs[box])),
                  {.size = 11, .color = kDim, .room = kWidth - kMargin - x});
      line += 17;
    }
    y = std::max(end, line) + 16;
  }
  return FinishPicture(canvas, kWidth, y, SourcesOf(precision.runs, precision.labels),
                       precision.provenance);
}

}  // namespace

std::vector<Note> NotesOf(const Precision& precision) {
  std::vector<Note> notes = precision.verdicts;
  for (size_t run = 0; run < precision.runs.size(); ++run) {
    AppendNotes(notes, NotesOf(precision.runs[run]), precision.labels[run]);
  }
  return notes;
}

std::string Write(const Precision& precision, Format format, const ViewOptions& options) {
  if (format == Format::kJson) return Json(precision);
  if (format == Format::kCsv) return Csv(precision);
  if (format == Format::kSvg) return DrawPrecision(precision);
  return PrecisionTable(precision, options).Write();
}

}  // namespace beryl::views
