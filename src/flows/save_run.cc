#include "flows/save_run.h"

#include "store/store.h"
#include "version.h"

namespace beryl::flows {

Result<SavedRun> SaveRun(const RunFiles& files, const RunOptions& options, GrowingFile& output) {
  auto run = TRY(ReadRunOf(files, options));
  run.tool = kTool;
  if (!run.ops.ops.empty()) run.ops.Unpack();
  const auto written = TRY(store::Save(run, output));
  SavedRun saved{written.operations, written.readings, run.power.channels.size(), {}, {}};
  for (const ImportReport& report : run.ops.reports) {
    const uint64_t dropped = report.Total(NoteClass::kDropped);
    AddIncomplete(report.notes, report.file, saved.provenance);
    if (dropped > 0) saved.notes.push_back({NoteKind::kEventsNotUsed, report.file, {dropped}});
  }
  return saved;
}

}  // namespace beryl::flows
