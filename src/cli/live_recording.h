// A recording as it is made: meters, sampler and file in one hand.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "sources/sources.h"
#include "store/store.h"
#include "types/recording.h"

namespace beryl::cli {

class LiveRecording {
 public:
  struct Options {
    sources::Machine machine;
    sources::DiscoverOptions discover;
    Nanos period;
    std::vector<std::string> command;
    std::vector<int32_t> pids;  // processes that run already
  };
  // Finds the meters and reads them until each of them has told something, so that what follows is
  // known from its first moment. An Error: there is nothing to read, or an option makes no sense.
  // `file` has to outlive the recording.
  static Result<LiveRecording> Start(const Options& options, GrowingFile& file);
  // The recording begins now: writes the head of the file. Once.
  Result<bool> Begin();
  bool has_begun() const { return writer_ != nullptr; }

  Nanos Now() const { return sampler_->Now(); }
  // A process that this program has started; all that it starts is watched anyway. Where it cannot
  // be watched, a note says so.
  void AddCommand(int32_t pid);
  // Whether a process that is watched is still there.
  bool IsRunning(int32_t pid) const { return sources::IsRunning(machine_, pid); }
  // A reading beside the others: what meters show now counts for the time up to now.
  void ReadNow();
  // Writes down what was read since. To be called several times a second.
  Result<bool> Pump();
  Result<bool> AddWindow(const RunWindow& window);
  void AddNote(Note note) { recording_.notes.push_back(std::move(note)); }

  // For whoever waits for the machine to come to rest.
  std::optional<Joules> energy() const { return recorder_->outermost_energy(); }
  double cpu_util() const { return recorder_->cpu_util(); }
  // Who used the CPUs is known until then.
  Nanos last_activity() const { return recorder_->last_activity().value_or(Nanos{}); }

  // The recording ended at `end`: reads on until what was used by then is known, and writes the end
  // of the file. Commands must not have been waited for.
  Result<bool> Finish(int exit_code, Nanos end);

 private:
  LiveRecording() = default;
  // Reads until every meter has told what was used by `time`.
  void ReadUntilKnown(Nanos time);
  Result<bool> AppendPiece(const sources::Recorder::Piece& piece);

  sources::Machine machine_;
  GrowingFile* file_ = nullptr;
  // Sources are used by the sampler, which is used by the recorder: they go in reverse order.
  std::unique_ptr<sources::Discovery> discovery_;
  std::unique_ptr<sources::Sampler> sampler_;
  std::unique_ptr<sources::Recorder> recorder_;
  std::unique_ptr<store::RecordingWriter> writer_;
  Recording recording_;
  int64_t epoch_offset_ns_ = 0;
  Nanos appended_;
  bool reads_fast_ = true;  // around the ends
};

}  // namespace beryl::cli
