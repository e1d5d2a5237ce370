#include "flows/machine_recording.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <thread>
#include <utility>

#include "base/this_machine.h"

namespace beryl::flows {
namespace {

// The period near both ends, which shows when counters step there.
constexpr Nanos kFastPeriod{1'000'000};
// Longer than the slowest meter worth waiting for.
constexpr int64_t kLongestWaitNs = 3'000'000'000;
constexpr Nanos kActivityPeriod{100'000'000};  // shares are averaged over this time anyway
// The most that a killed recorder loses.
constexpr int64_t kAppendEveryNs = 1'000'000'000;
// From this jump on, a clock that was set makes operations and power disagree.
constexpr int64_t kClockWasSetNs = 1'000'000;

int64_t EpochOffset(Nanos monotonic_epoch) {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec - monotonic_epoch.value;
}

}  // namespace

Result<std::unique_ptr<MachineRecording>> MachineRecording::Start(const Options& options,
                                                                  GrowingFile& file) {
  std::unique_ptr<MachineRecording> live(new MachineRecording(file));
  live->machine_ = options.machine;
  live->meters_ = TRY(FindReadableMeters(options.machine, options.discover));
  sources::Discovery& discovery = live->meters_.discovery;
  sources::SamplerOptions sampling;
  sampling.period = std::min(options.period, kFastPeriod);
  sampling.activity_period = kActivityPeriod;
  sources::Sampler& sampler = live->sampler_.emplace(options.machine, discovery, sampling);
  sources::Recorder::Options recording;
  for (const int32_t pid : options.pids) {
    recording.watches.push_back(TRY(sampler.Watch(pid)));
  }
  RecordingPiece head = sources::BlankPiece(discovery, sampler);
  head.recording.command = options.command;
  head.recording.pids = options.pids;
  head.recording.machine = MachineName();
  head.recording.period = options.period;
  head.recording.notes = live->meters_.notes;
  live->recording_.emplace(std::move(head), std::move(recording));
  if (!options.command.empty()) live->recording_->recorder().AddWatch(sampler.WatchChildren());
  live->epoch_offset_ns_ = EpochOffset(live->Now());
  TRY(sampler.Start());
  live->ReadUntilKnown(live->Now());
  return live;
}

void MachineRecording::ReadUntilKnown(Nanos time) {
  do {
    std::this_thread::sleep_for(std::chrono::nanoseconds(kFastPeriod.value));
    sampler_->Drain(recording_->recorder());
  } while (!recording_->recorder().HasReached(time) && (Now() - time).value < kLongestWaitNs);
}

void MachineRecording::ReadNow() {
  sampler_->ReadNow();
  sampler_->Drain(recording_->recorder());
}

Status MachineRecording::Begin() {
  ReadNow();
  appended_ = Now();
  recording_->recorder().StartFrom(appended_);
  return recording_->Begin(file_, appended_);
}

void MachineRecording::AddCommand(int32_t pid) {
  recording_->AddPid(pid);
  if (IsRunning(pid)) return;
  AddNote({NoteKind::kProcessNotThere, std::to_string(pid), {machine_.procfs}});
}

Status MachineRecording::Pump() {
  sampler_->Drain(recording_->recorder());
  const Recording& head = recording_->head();
  if (reads_fast_ && recording_->recorder().HasReached(head.start)) {
    reads_fast_ = false;
    sampler_->SetPeriod(head.period);
  }
  if ((Now() - appended_).value < kAppendEveryNs) return {};
  appended_ = Now();
  TRY(recording_->Write());
  return {};
}

Status MachineRecording::Finish(int exit_code, Nanos end) {
  const Nanos period = recording_->head().period;
  sampler_->SetPeriod(std::min(period, kFastPeriod));
  ReadUntilKnown(end);
  sampler_->SetPeriod(period);
  sampler_->Stop();
  sampler_->Drain(recording_->recorder());
  const int64_t moved = EpochOffset(Now()) - epoch_offset_ns_;
  if (std::abs(moved) > kClockWasSetNs) {
    AddNote({NoteKind::kClockSet, "", {static_cast<double>(moved) * 1e-9}});
  }
  for (Note& note : sampler_->notes()) AddNote(std::move(note));
  return recording_->Finish(end, sampler_->cost(), exit_code);
}

}  // namespace beryl::flows
