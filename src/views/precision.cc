// How much a result hangs on how it was sampled: as a table, JSON and CSV.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "views/compare.h"
#include "views/matrix_looks.h"
#include "views/precision_svg.h"
#include "views/text_page.h"
#include "views/writers.h"

namespace beryl::views {
namespace {

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
  static std::string Similarity(double value) {
    if (!std::isfinite(value)) return "-";
    return value < 1 ? fmt::format("{:.4f}", std::min(value, 0.9999)) : "1";
  }
  static std::string Percent(double share) {
    return std::isfinite(share) ? FormatPercent(share) : "-";
  }

  void Sparsing() {
    const bool several = precision_.runs.size() > 1;
    Line(Bold("sampled more sparsely: every n-th power reading against all of them"));
    Line(Dim(RightAligned("n", 6) + RightAligned("period", 11) + RightAligned("similarity", 12) +
             (several ? RightAligned("lowest", 10) : "") + RightAligned("moved", 9) +
             RightAligned("total", 9)));
    for (const Precision::Sparsing& point : precision_.sparsing) {
      Line(RightAligned(FormatCount(point.every), 6) +
           RightAligned(
               std::isfinite(point.period_ms) ? FormatSeconds(point.period_ms * 1e-3) : "-", 11) +
           RightAligned(Similarity(point.pearson), 12) +
           (several ? RightAligned(Similarity(point.lowest), 10) : "") +
           RightAligned(Percent(point.moved), 9) +
           RightAligned((point.total_change > 0 ? "+" : "") + Percent(point.total_change), 9));
    }
    Paragraph(
        "similarity: Pearson's correlation over operations, layers added up. moved: share of the "
        "energy that went to other operations. total: change of the energy of all operations.",
        0, kDimStyle);
    Line();
  }

  void Widening() {
    if (precision_.widening.empty()) return;
    Line(Bold(fmt::format("sampled longer: the first n {}s against all {}", precision_.sample,
                          precision_.widening.back().samples)));
    Line(Dim(RightAligned("n", 6) + RightAligned("similarity", 12) + RightAligned("moved", 9)));
    for (const Precision::Widening& point : precision_.widening) {
      Line(RightAligned(FormatCount(point.samples), 6) +
           RightAligned(Similarity(point.pearson), 12) + RightAligned(Percent(point.moved), 9));
    }
    Line();
  }

  void Stability() {
    const SimilarityMatrices& found = precision_.stability;
    const size_t boxes = found.runs.size();
    if (boxes < 2) return;
    Line(Bold(fmt::format("again and again: similarity of energy between {}s", precision_.sample)));
    std::string head = Blanks(3);
    for (size_t column = 0; column < boxes; ++column) head += RightAligned(LetterOf(column), 8);
    Line(Dim(head));
    for (size_t row = 0; row < boxes; ++row) {
      std::string line = Padded(LetterOf(row), 3);
      for (size_t column = 0; column < boxes; ++column) {
        line += RightAligned(Similarity(found.energy_pearson[row * boxes + column]), 8);
      }
      Line(line);
    }
    std::string names;
    for (size_t box = 0; box < boxes; ++box) {
      names += fmt::format("{}{} {}", box > 0 ? "; " : "", LetterOf(box), found.runs[box]);
    }
    Paragraph(names, 0, kDimStyle);
    Line();
  }

  const Precision& precision_;
};

std::string Json(const Precision& precision) {
  JsonWriter json;
  json.BeginObject();
  json.Member("schema", "beryl.precision/1");
  json.Key("verdicts").BeginArray();
  for (const std::string& verdict : precision.verdicts) json.Value(verdict);
  json.End();
  json.Key("sparsing").BeginArray();
  for (const Precision::Sparsing& point : precision.sparsing) {
    json.BeginObject();
    json.Member("every", point.every);
    json.Member("period_ms", point.period_ms);
    json.Member("pearson", point.pearson);
    json.Member("lowest", point.lowest);
    json.Member("moved", point.moved);
    json.Member("total_change", point.total_change);
    json.End();
  }
  json.End();
  json.Member("sample", precision.sample);
  json.Key("widening").BeginArray();
  for (const Precision::Widening& point : precision.widening) {
    json.BeginObject();
    json.Member("samples", point.samples);
    json.Member("pearson", point.pearson);
    json.Member("moved", point.moved);
    json.End();
  }
  json.End();
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
  json.End();
  return json.Take() + "\n";
}

// Curves and matrix in one table of long form: what, at what, and how alike.
std::string Csv(const Precision& precision) {
  auto number = [](double value) {
    return CsvNumber(std::isfinite(value) ? std::optional(value) : std::nullopt);
  };
  std::string text = "what,a,b,period_ms,pearson,lowest,moved,total_change,schema\n";
  for (const Precision::Sparsing& point : precision.sparsing) {
    text += fmt::format("sparsing,{},,{},{},{},{},{},beryl.precision/1\n", point.every,
                        number(point.period_ms), number(point.pearson), number(point.lowest),
                        number(point.moved), number(point.total_change));
  }
  for (const Precision::Widening& point : precision.widening) {
    text += fmt::format("widening,{},,,{},,{},,beryl.precision/1\n", point.samples,
                        number(point.pearson), number(point.moved));
  }
  const SimilarityMatrices& found = precision.stability;
  const size_t boxes = found.runs.size();
  for (size_t at = 0; at < boxes * boxes; ++at) {
    text +=
        fmt::format("stability,{},{},,{},,,,beryl.precision/1\n", CsvText(found.runs[at / boxes]),
                    CsvText(found.runs[at % boxes]), number(found.energy_pearson[at]));
  }
  return text;
}

}  // namespace

std::string Write(const Precision& precision, Format format, const ViewOptions& options) {
  if (format == Format::kJson) return Json(precision);
  if (format == Format::kCsv) return Csv(precision);
  if (format == Format::kSvg) return DrawPrecision(precision);
  return PrecisionTable(precision, options).Write();
}

}  // namespace beryl::views
