// The accuracy of a law fitted to a few measurements: as a table, JSON and CSV.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "views/learned.h"
#include "views/text/csv_table.h"
#include "views/text/text_page.h"
#include "views/writers.h"

namespace beryl::views {
namespace {

constexpr const char* kSchema = "beryl.calibrate/2";

std::string Table(const Calibration& calibration, const ViewOptions& options) {
  TextPage page(options);
  page.Paragraph(page.Bold(fmt::format("energy = {}", LawSentence(*calibration.model.law()))));
  page.Paragraph(fmt::format("fitted to {} ML-level measurements of {} (seed {})", calibration.rows,
                             calibration.data, calibration.seed));
  page.Line();
  const std::vector<int> widths = {-30, 11, 11, 11};
  const auto row = [&](std::string_view what, const std::array<double, 3>& values) {
    page.Line(
        Cells(widths, {what, ErrorText(values[0]), ErrorText(values[1]), ErrorText(values[2])}));
  };
  page.Line(page.Dim(Cells(widths, {"", LevelName(kDataLevels[0]), LevelName(kDataLevels[1]),
                                    LevelName(kDataLevels[2])})));
  row("error on everything else", calibration.mape);
  if (calibration.draws > 1) {
    row(fmt::format("median of {} draws", calibration.draws), calibration.median);
    row("95 % of draws are below", calibration.p95);
  }
  page.Line();
  const ErrorBand& band = calibration.model.bands[0];
  page.Paragraph(
      fmt::format("from these rows alone, each predicted from the others: mean error {}; "
                  "expect measurements within {:+.2f} % to {:+.2f} % of a prediction",
                  ErrorText(calibration.expected), 100 * (band.low - 1), 100 * (band.high - 1)));
  page.SmallPrint(fmt::format("rows: {}", fmt::join(calibration.chosen, "; ")));
  page.Notes(calibration.notes);
  page.Foot("mean absolute percentage error of energy, mean of models", calibration.provenance);
  return page.Take();
}

std::string Json(const Calibration& calibration) {
  JsonWriter json;
  BeginResult(json, kSchema, calibration.provenance);
  json.Member("data", calibration.data).Member("rows", calibration.rows);
  json.Member("seed", calibration.seed);
  WriteLaw(json, *calibration.model.law());
  WriteLevels(json, "mape_models", calibration.mape);
  json.Member("expected_pct", calibration.expected);
  const ErrorBand& band = calibration.model.bands[0];
  json.Key("interval").BeginObject().Member("nominal", calibration.model.nominal);
  json.Member("low", band.low).Member("high", band.high).End();
  json.Key("draws").BeginObject().Member("count", calibration.draws);
  WriteLevels(json, "median", calibration.median);
  WriteLevels(json, "p95", calibration.p95);
  json.End();
  json.Member("chosen", calibration.chosen);
  return EndResult(json, calibration.notes, calibration.provenance);
}

std::string Csv(const Calibration& calibration) {
  CsvTable csv(kSchema, calibration.provenance, "level,rows,seed,mape_models,draws,median,p95");
  for (size_t level = 0; level < kDataLevels.size(); ++level) {
    csv.Row(LevelName(kDataLevels[level]), calibration.rows, calibration.seed,
            calibration.mape[level], calibration.draws, calibration.median[level],
            calibration.p95[level]);
  }
  return csv.Take();
}

}  // namespace

std::string Write(const Calibration& calibration, Format format, const ViewOptions& options) {
  return WriteUsual(calibration, format, options, Json, Csv, Table);
}

}  // namespace beryl::views
