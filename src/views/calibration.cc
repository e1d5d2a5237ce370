// How well a law does that was fitted to a few measurements: as a table, JSON and CSV.
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "views/energy_use.h"
#include "views/learned.h"
#include "views/text_page.h"
#include "views/writers.h"

namespace beryl::views {
namespace {

class CalibrationTable : public TextPage {
 public:
  CalibrationTable(const Calibration& calibration, const ViewOptions& options)
      : TextPage(options), calibration_(calibration) {}

  std::string Write() {
    Paragraph(Bold(fmt::format("energy = {}", LawSentence(calibration_.model.law))));
    Paragraph(fmt::format("fitted to {} ML-level measurements of {} (seed {})", calibration_.rows,
                          calibration_.data, calibration_.seed));
    Line();
    Line(Dim(Padded("", 30) + Level(0) + Level(1) + Level(2)));
    Row("error on everything else", calibration_.mape);
    if (calibration_.draws > 1) {
      Row(fmt::format("median of {} draws", calibration_.draws), calibration_.median);
      Row("95 % of draws are below", calibration_.p95);
    }
    Line();
    const ErrorBand& band = calibration_.model.bands[0];
    Paragraph(
        fmt::format("from these rows alone, each by a law from the others: {} off on average; "
                    "expect measurements within {:+.2f} % to {:+.2f} % of a prediction",
                    ErrorText(calibration_.expected), 100 * (band.low - 1), 100 * (band.high - 1)));
    std::string rows = "rows: ";
    for (const std::string& row : calibration_.chosen) {
      rows += (rows.size() > 6 ? "; " : "") + row;
    }
    Paragraph(rows, 0, kDimStyle);
    Notes(calibration_.notes);
    Paragraph(fmt::format("mean absolute percentage error of energy, mean of models; {}",
                          calibration_.tool),
              0, kDimStyle);
    return Take();
  }

 private:
  static std::string Level(size_t level) { return RightAligned(LevelName(kDataLevels[level]), 11); }
  void Row(std::string_view what, const std::array<double, 3>& values) {
    std::string line = Padded(what, 30);
    for (const double value : values) line += RightAligned(ErrorText(value), 11);
    Line(line);
  }

  const Calibration& calibration_;
};

std::string Json(const Calibration& calibration) {
  JsonWriter json;
  json.BeginObject();
  json.Member("schema", "beryl.calibrate/2");
  json.Member("data", calibration.data);
  json.Member("rows", calibration.rows);
  json.Member("seed", calibration.seed);
  WriteLaw(json, calibration.model.law);
  WriteLevels(json, "mape_models", calibration.mape);
  json.Member("expected_pct", calibration.expected);
  json.Key("interval").BeginObject();
  json.Member("nominal", calibration.model.nominal);
  json.Member("low", calibration.model.bands[0].low);
  json.Member("high", calibration.model.bands[0].high);
  json.End();
  json.Key("draws").BeginObject();
  json.Member("count", calibration.draws);
  WriteLevels(json, "median", calibration.median);
  WriteLevels(json, "p95", calibration.p95);
  json.End();
  json.Key("chosen").BeginArray();
  for (const std::string& row : calibration.chosen) json.Value(row);
  json.End();
  WriteNotes(json, calibration.notes);
  json.Member("tool", calibration.tool);
  json.End();
  return json.Take() + "\n";
}

std::string Csv(const Calibration& calibration) {
  std::string text = "level,rows,seed,mape_models,draws,median,p95,schema\n";
  for (size_t level = 0; level < kDataLevels.size(); ++level) {
    text += fmt::format("{},{},{},{},{},{},{},beryl.calibrate/2\n", LevelName(kDataLevels[level]),
                        calibration.rows, calibration.seed, CsvFigure(calibration.mape[level]),
                        calibration.draws, CsvFigure(calibration.median[level]),
                        CsvFigure(calibration.p95[level]));
  }
  return text;
}

}  // namespace

std::string Write(const Calibration& calibration, Format format, const ViewOptions& options) {
  if (format == Format::kJson) return Json(calibration);
  if (format == Format::kCsv) return Csv(calibration);
  return CalibrationTable(calibration, options).Write();
}

}  // namespace beryl::views
