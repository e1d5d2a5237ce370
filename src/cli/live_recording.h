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
  // Finds the meters, starts to read them and writes the head of the file. `file` has to outlive
  // the recording.
  static Result<LiveRecording> Start(const Options& options, GrowingFile& file);

  Nanos Now() const { return sampler_->Now(); }
  // A process that is about to start: all it does is ours. Where it cannot be watched, a note says
  // so.
  void Watch(int32_t pid);
  // Whether a process that is watched is still there.
  bool IsRunning(int32_t pid) const { return sources::IsRunning(machine_, pid); }
  // Writes down what was read since. To be called several times a second.
  Result<bool> Pump();
  Result<bool> AddWindow(const RunWindow& window);
  void AddNote(std::string note) { recording_.notes.push_back(std::move(note)); }

  // For whoever waits for the machine to come to rest.
  double joules() const { return recorder_->outermost_j(); }
  double cpu_util() const { return recorder_->cpu_util(); }

  // The last readings and the end of the file.
  Result<bool> Finish(int exit_code);

 private:
  LiveRecording() = default;
  Result<bool> AppendPiece(const sources::Recorder::Piece& piece);

  sources::Machine machine_;
  // Sources are used by the sampler, which is used by the recorder: they go in reverse order.
  std::unique_ptr<sources::Discovery> discovery_;
  std::unique_ptr<sources::Sampler> sampler_;
  std::unique_ptr<sources::Recorder> recorder_;
  std::unique_ptr<store::RecordingWriter> writer_;
  Recording recording_;
  int64_t epoch_offset_ns_ = 0;
  Nanos appended_;
};

}  // namespace beryl::cli
