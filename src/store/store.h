// The run as a thing: operations, power and where they came from in one file, `*.beryl`.
//
// A file is a header and blocks, each with its length and a checksum, written one after the other
// and never changed, so that what a killed program leaves behind is readable up to the last whole
// block. Blocks refer only to what stands before them. docs/run-file.md has the bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "types/op_trace.h"
#include "types/power_trace.h"
#include "types/run_context.h"

namespace beryl::store {

struct StoredRun {
  OpTrace ops;
  PowerTrace power;
  RunContext context;
  std::vector<std::string> notes;  // what was wrong with the inputs
};

// Whether a file with these first bytes is a run file.
bool IsRunFile(std::string_view first_bytes);

// What was written.
struct SavedRun {
  uint64_t operations = 0;
  uint64_t readings = 0;
};

// Writes a run. Its operations come to stand in order of their start, those that start together as
// they were.
Result<SavedRun> Save(const StoredRun& run, GrowingFile& file);

struct LoadOptions {
  // Where several files make one run: what this one's devices and channels are called after, and
  // its rank if the file knows none.
  std::string machine;
  std::string rank;
};

// Reads a run file and adds it to `run`. A file that is cut short or damaged gives what was written
// before, and an ImportReport that says where it broke. An Error is a file that is no run file, or
// that a later version made.
Result<bool> Load(ByteSource& source, const LoadOptions& options, StoredRun& run);

}  // namespace beryl::store
