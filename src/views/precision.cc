// How much a result hangs on how it was sampled: as a table, JSON and CSV.
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "views/compare.h"
#include "views/csv_table.h"
#include "views/matrix_looks.h"
#include "views/text_page.h"
#include "views/writers.h"

namespace beryl::views {
namespace {

constexpr const char* kSchema = "beryl.precision/1";

class PrecisionTable : public TextPage {
 public:
  PrecisionTable(const Precision& precision, const ViewOptions& options)
      : TextPage(options), precision_(precision) {}

  std::string Write() {
    for (const std::string& verdict : precision_.verdicts) Paragraph(verdict);
    Line();
    Sparsing();
    Widening();
    Stability();
    for (const std::string& line : SourcesOf(precision_.runs, precision_.labels)) Paragraph(line);
    for (const AccountReport& report : precision_.runs) {
      Notes(report.notes);
    }
    return Take();
  }

 private:
  void Sparsing() {
    const bool several = precision_.runs.size() > 1;
    Line(Bold("sampled more sparsely: every n-th power reading against all of them"));
    const std::vector<int> widths = {6, 11, 12, several ? 10 : 0, 9, 9};
    Line(Dim(Cells(widths, {"n", "period", "similarity", "lowest", "moved", "total"})));
    for (const Precision::Sparsing& point : precision_.sparsing) {
      Line(Cells(
          widths,
          {FormatCount(point.every), OrDash(point.period_ms * 1e-3, FormatSeconds),
           SimilarityText(point.pearson), SimilarityText(point.lowest), PercentOrDash(point.moved),
           (point.total_change > 0 ? "+" : "") + PercentOrDash(point.total_change)}));
    }
    SmallPrint(
        "similarity: Pearson's correlation over operations, layers added up. moved: share of the "
        "energy that went to other operations. total: change of the energy of all operations.");
    Line();
  }

  void Widening() {
    if (precision_.widening.empty()) return;
    Line(Bold(fmt::format("sampled longer: the first n {}s against all {}", precision_.sample,
                          precision_.widening.back().samples)));
    const std::vector<int> widths = {6, 12, 9};
    Line(Dim(Cells(widths, {"n", "similarity", "moved"})));
    for (const Precision::Widening& point : precision_.widening) {
      Line(Cells(widths, {FormatCount(point.samples), SimilarityText(point.pearson),
                          PercentOrDash(point.moved)}));
    }
    Line();
  }

  void Stability() {
    const SimilarityMatrices& found = precision_.stability;
    const size_t boxes = found.runs.size();
    if (boxes < 2) return;
    Line(Bold(fmt::format("again and again: similarity of energy between {}s", precision_.sample)));
    WriteMatrix(*this, found.energy_pearson, boxes, 8, SimilarityText);
    std::string names;
    for (size_t box = 0; box < boxes; ++box) {
      names += fmt::format("{}{} {}", box > 0 ? "; " : "", LetterOf(box), found.runs[box]);
    }
    SmallPrint(names);
    Line();
  }

  const Precision& precision_;
};

std::string Json(const Precision& precision) {
  JsonWriter json;
  BeginResult(json, "beryl.precision/1", precision.provenance);
  json.Member("verdicts", precision.verdicts);
  json.Objects("sparsing", precision.sparsing, [&](const Precision::Sparsing& point) {
    json.Member("every", point.every);
    json.Member("period_ms", point.period_ms);
    json.Member("pearson", point.pearson);
    json.Member("lowest", point.lowest);
    json.Member("moved", point.moved);
    json.Member("total_change", point.total_change);
  });
  json.Member("sample", precision.sample);
  json.Objects("widening", precision.widening, [&](const Precision::Widening& point) {
    json.Member("samples", point.samples);
    json.Member("pearson", point.pearson);
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
  std::vector<Note> notes;
  for (size_t run = 0; run < precision.runs.size(); ++run) {
    AppendNotes(notes, NotesOf(precision.runs[run]), precision.labels[run]);
  }
  WriteNotes(json, notes);
  return EndResult(json);
}

// Curves and matrix in one table of long form: what, at what, and how alike.
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

}  // namespace

std::string Write(const Precision& precision, Format format, const ViewOptions& options) {
  if (format == Format::kJson) return Json(precision);
  if (format == Format::kCsv) return Csv(precision);
  if (format == Format::kSvg) return DrawPrecision(precision);
  return PrecisionTable(precision, options).Write();
}

}  // namespace beryl::views
