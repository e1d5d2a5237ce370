// Writes a run to a run file.
#pragma once

#include <cstdint>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "flows/run_files.h"
#include "types/note.h"
#include "types/provenance.h"

namespace beryl::flows {

struct SavedRun {
  uint64_t operations = 0;
  uint64_t readings = 0;
  size_t channels = 0;
  std::vector<Note> notes;  // how many events of each trace could not be used
  Provenance provenance;    // only what is missing of the input
};
Result<SavedRun> SaveRun(const RunFiles& files, const RunOptions& options, GrowingFile& output);

}  // namespace beryl::flows
