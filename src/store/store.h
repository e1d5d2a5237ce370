// The run as a thing: operations, power and where they came from in one file, `*.beryl`.
//
// A file is a header and blocks, each with its length and a checksum, written one after the other
// and never changed, so that what a killed program leaves behind is readable up to the last whole
// block. Blocks refer only to what stands before them. docs/run-file.md has the bytes.
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
  std::string tool;  // that writes the file: "beryl 0.1.0"
  OpTrace ops;
  PowerTrace power;
  RunContext context;
  std::vector<Note> notes;             // what was wrong with the inputs
  std::optional<Recording> recording;  // of a run that this program measured
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

// Writes a recording while it goes on: after every call what was given stands in the file, and a
// file whose writer was killed holds all of that.
class RecordingWriter {
 public:
  // Writes what is known at the start: of `power` the channels without readings, of `recording`
  // all but activity, features and windows, which come later.
  static Result<RecordingWriter> Start(GrowingFile& file, std::string_view tool,
                                       const PowerTrace& power, const Recording& recording);
  RecordingWriter(RecordingWriter&&) noexcept;
  RecordingWriter& operator=(RecordingWriter&&) noexcept;
  ~RecordingWriter();

  // The next piece of the readings (see sources::Recorder::Take). Gaps of a channel count from the
  // first reading of the piece.
  Result<bool> Append(const PowerTrace& power, const Recording& piece);
  Result<bool> Append(const RunWindow& window);
  // What is known at the end: end, exit code, cost and notes. Marks the file as whole.
  Result<bool> Finish(const Recording& recording);

 private:
  struct State;
  explicit RecordingWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

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
