// A recording in progress: writes a sampler's readings to a run file, piece by piece.
#pragma once

#include <optional>
#include <vector>

#include "account/running_energy.h"
#include "base/file.h"
#include "base/result.h"
#include "sources/recorder.h"
#include "store/store.h"
#include "types/live_power.h"
#include "types/recording.h"

namespace beryl::flows {

// Not thread-safe.
class LiveRecording {
 public:
  // `head`: the channels without readings (sources::BlankPiece), and what is known before the
  // recording begins: command, processes, machine, period, notes.
  LiveRecording(RecordingPiece head, sources::Recorder::Options options);

  // Receives samples and sums them up.
  sources::Recorder& recorder() { return recorder_; }
  const sources::Recorder& recorder() const { return recorder_; }
  // As of the last sample.
  std::vector<LiveChannel> channels() const;

  // Makes energy() report the energy used from now on, while the recording continues.
  void FollowEnergy() { energy_.emplace(head_.recording.period); }
  // Precondition: FollowEnergy was called.
  account::RunningEnergy& energy() { return *energy_; }
  const account::RunningEnergy& energy() const { return *energy_; }

  // Writes the head of `file`, which must outlive the recording. Call once. `cost`: what the
  // sampler used before this recording.
  Status Begin(GrowingFile& file, Nanos start, const SamplerCost& cost = {});
  bool has_begun() const { return writer_.has_value(); }
  const Recording& head() const { return head_.recording; }

  // Notes and processes that become known before the end.
  void AddNote(Note note) { head_.recording.notes.push_back(std::move(note)); }
  void AddPid(int32_t pid) { head_.recording.pids.push_back(pid); }

  // Takes the readings since the last call and, if the recording has begun, writes them. Returns
  // them.
  Result<PowerTrace> Write();
  // Precondition: the recording has begun.
  Status AddWindow(const RunWindow& window) { return writer_->Append(window); }
  // Writes the last piece and the end of the file. Closes open windows. Call once.
  Status Finish(Nanos end, const SamplerCost& cost, int exit_code = -1);

 private:
  Status Append(const RecordingPiece& piece);

  RecordingPiece head_;
  sources::Recorder recorder_;
  std::optional<account::RunningEnergy> energy_;
  std::optional<store::RecordingWriter> writer_;
  SamplerCost cost_at_start_;
};

}  // namespace beryl::flows
