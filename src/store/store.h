// The run file, `*.beryl`: operations, power and their origin in one file.
//
// A file is a header and blocks, each with its length and a checksum, written one after another and
// never changed, so that a file left by a killed program is readable up to its last complete block.
// Blocks refer only to earlier ones. docs/run-file.md specifies the bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "types/op_trace.h"
#include "types/power_trace.h"
#include "types/recording.h"
#include "types/run_context.h"

namespace beryl::store {

struct StoredRun {
  std::string tool;  // that wrote the file: "beryl 0.1.0"
  OpTrace ops;
  PowerTrace power;
  RunContext context;
  std::vector<Note> notes;             // problems of the inputs
  std::optional<Recording> recording;  // for a run that this program measured
};

// Whether a file with these first bytes is a run file.
bool IsRunFile(std::string_view first_bytes);

// What was written.
struct SavedRun {
  uint64_t operations = 0;
  uint64_t readings = 0;
};

// Writes a run, and shows the file when it is complete. Sorts its operations by start, stably; they
// are in the list or packed, not both.
Result<SavedRun> Save(const StoredRun& run, GrowingFile& file);

// Writes a recording while it is made: after every call the file contains everything passed so far,
// even if the writer is killed.
class RecordingWriter {
 public:
  // Writes what is known at the start: the channels of `power` without readings, and all of
  // `recording` but activity, features and windows, which follow later. Shows the file then.
  static Result<RecordingWriter> Start(GrowingFile& file, std::string_view tool,
                                       const PowerTrace& power, const Recording& recording);
  RecordingWriter(RecordingWriter&&) noexcept;
  RecordingWriter& operator=(RecordingWriter&&) noexcept;
  ~RecordingWriter();

  // Writes the next piece of readings (see sources::Recorder::Take). A channel's gaps count from
  // the first reading of the piece.
  Status Append(const PowerTrace& power, const Recording& piece);
  Status Append(const RunWindow& window);
  // Writes what is known at the end: end, exit code, cost and notes. Marks the file as complete.
  Status Finish(const Recording& recording);

 private:
  struct State;
  explicit RecordingWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

struct LoadOptions {
  // If several files make one run: the prefix of this file's devices and channels, and its rank if
  // the file has none.
  std::string machine;
  std::string rank;
};

// Reads a run file and adds it to `run`. A truncated or damaged file gives what was written before,
// and an ImportReport that says where it broke. An Error is a file that is not a run file, or one
// from a later version.
Status Load(ByteSource& source, const LoadOptions& options, StoredRun& run);

}  // namespace beryl::store
