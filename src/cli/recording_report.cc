#include "cli/recording_report.h"

#include <fmt/format.h>

#include "base/file.h"
#include "cli/pipeline.h"

namespace beryl::cli {

Result<Measurement> ReadMeasurement(const std::string& file,
                                    const account::MeasureOptions& options) {
  auto run = ReadRunFiles({file});
  if (!run) return run.error();
  if (run->power.channels.empty()) {
    return InvalidError(fmt::format("{}: a run file without power readings", file));
  }
  const bool recorded = run->recording.has_value();
  Measurement measured =
      account::Measure(run->power, recorded ? *run->recording : Recording(), options);
  measured.context = run->context;
  measured.provenance = MakeProvenance({file});
  AppendNotes(measured.notes, run->notes);
  for (const ImportReport& report : run->ops.reports) {
    if (report.format == "beryl-run") AppendNotes(measured.notes, report.notes, file);
  }
  return measured;
}

}  // namespace beryl::cli
