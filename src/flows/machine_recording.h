// A recording of this machine by this program: owns meters, sampler and file.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "flows/find_meters.h"
#include "flows/live_recording.h"
#include "sources/discover.h"
#include "sources/machine.h"
#include "sources/processes.h"
#include "sources/sampler.h"
#include "types/recording.h"

namespace beryl::flows {

class MachineRecording {
 public:
  struct Options {
    sources::Machine machine;
    sources::DiscoverOptions discover;
    Nanos period;
    std::vector<std::string> command;
    std::vector<int32_t> pids;  // processes that already run
  };
  // Finds the meters and reads them until each has reported, so that the recording is complete from
  // its first moment. Fails if there is nothing to read or an option is invalid. `file` must
  // outlive the recording.
  static Result<std::unique_ptr<MachineRecording>> Start(const Options& options, GrowingFile& file);
  // Begins the recording: writes the head of the file. Call once.
  Status Begin();
  bool has_begun() const { return recording_->has_begun(); }

  Nanos Now() const { return sampler_->Now(); }
  // Watches a process that this program started. Its children are watched anyway. If it cannot be
  // watched, a note says so.
  void AddCommand(int32_t pid);
  // Whether a watched process still runs.
  bool IsRunning(int32_t pid) const { return sources::IsRunning(machine_, pid); }
  // Takes an extra reading, so that the energy up to now is known.
  void ReadNow();
  // Writes the readings since the last call. Call it several times a second.
  Status Pump();
  Status AddWindow(const RunWindow& window) { return recording_->AddWindow(window); }
  void AddNote(Note note) { recording_->AddNote(std::move(note)); }

  // What was used since the last call, as far as it is known, for a live view; at most once a
  // second. Call FollowEnergy before Begin.
  void FollowEnergy() { recording_->FollowEnergy(); }
  std::optional<Measurement> TakeStretch() { return recording_->energy().TakeLast(); }
  // What it reads and who, for the heading of a live view.
  const Recording& head() const { return recording_->head(); }
  const std::vector<Note>& notes() const { return meters_.notes; }

  // Energy so far, for code that waits until the machine is idle.
  std::optional<Joules> energy() const { return recording_->recorder().outermost_energy(); }
  double cpu_util() const { return recording_->recorder().cpu_util(); }
  // The time up to which the use of the CPUs is known.
  Nanos last_activity() const { return recording_->recorder().last_activity().value_or(Nanos{}); }

  // Ends the recording at `end`: reads until the energy used by then is known, and writes the end
  // of the file. Commands must not have been waited for.
  Status Finish(int exit_code, Nanos end);

 private:
  explicit MachineRecording(GrowingFile& file) : file_(file) {}
  // Reads until every meter has reported the energy used by `time`.
  void ReadUntilKnown(Nanos time);

  GrowingFile& file_;
  sources::Machine machine_;
  FoundMeters meters_;  // used by the sampler
  std::optional<sources::Sampler> sampler_;
  std::optional<LiveRecording> recording_;
  int64_t epoch_offset_ns_ = 0;
  Nanos appended_;
  bool reads_fast_ = true;  // around the ends
};

}  // namespace beryl::flows
