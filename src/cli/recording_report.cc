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
  for (const std::string& note : run->notes) measured.notes.push_back(note);
  for (const ImportReport& report : run->ops.reports) {
    if (report.format != "beryl-run") continue;
    for (const Finding& finding : report.findings) {
      measured.notes.push_back(
          fmt::format("{}: {} (at byte {})", file, finding.reason, finding.first_offset));
    }
  }
  return measured;
}

}  // namespace beryl::cli
