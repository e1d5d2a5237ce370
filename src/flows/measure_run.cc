#include "flows/measure_run.h"

#include <fmt/format.h>

#include "analyze/analyze.h"

namespace beryl::flows {

Measurement MeasureRun(const RunInput& run, const account::MeasureOptions& options) {
  Measurement measured =
      account::Measure(run.power, run.recording ? *run.recording : Recording(), options);
  measured.context = run.context;
  return measured;
}

Measurement MeasureRunFile(const RunInput& run, const std::string& file,
                           const account::MeasureOptions& options) {
  Measurement measured = MeasureRun(run, options);
  measured.provenance = MakeProvenance({file});
  measured.provenance.window = options.window;
  AppendNotes(measured.notes, run.notes);
  for (const ImportReport& report : run.ops.reports) {
    if (report.format == "beryl-run") AppendNotes(measured.notes, report.notes, file);
  }
  AddIncomplete(measured.notes, file, measured.provenance);
  return measured;
}

Result<Measurement> MeasureAndCost(const RunInput& run, const std::string& file,
                                   const MeasureRequest& request) {
  std::vector<Note> grid_notes;
  const Electricity grid = TRY(ChooseElectricity(request.electricity, grid_notes));
  if (run.power.channels.empty()) {
    return InvalidError(fmt::format("{}: the run file has no power readings", file));
  }
  account::MeasureOptions options = request.options;
  const RunPart part = TRY(ParseWindow(request.window));
  options.window = TRY(FindWindow(part, run, {}));
  Measurement measured = MeasureRunFile(run, file, options);
  measured.costs = analyze::CostMeasurement(measured, grid);
  AppendNotes(measured.notes, grid_notes);
  return measured;
}

Result<Measurement> ReadMeasurement(const std::string& file, const MeasureRequest& request) {
  TRY(ParseWindow(request.window));  // before a long reading
  return MeasureAndCost(TRY(ReadRunFiles(file)), file, request);
}

}  // namespace beryl::flows
