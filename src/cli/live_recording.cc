#include "cli/live_recording.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <thread>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "base/this_machine.h"
#include "version.h"

namespace beryl::cli {
namespace {

constexpr Nanos kPatience{300'000'000};
// Around both ends meters are read this often, so that it is known when counters step there.
constexpr Nanos kFastPeriod{1'000'000};
// Longer than the slowest meter that is worth waiting for.
constexpr int64_t kLongestWaitNs = 3'000'000'000;
constexpr Nanos kActivityPeriod{100'000'000};  // shares are taken over as much anyway
// What a killed recorder loses at most.
constexpr int64_t kAppendEveryNs = 1'000'000'000;
// From here on a clock that was set makes operations and power disagree.
constexpr int64_t kClockWasSetNs = 1'000'000;

int64_t EpochOffset(Nanos monotonic_epoch) {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec - monotonic_epoch.value;
}

// What a reader of the numbers has to know about where they come from.
std::vector<Note> SourceNotes(const SourceReport& report, const std::vector<PowerChannel>& read) {
  std::vector<Note> notes;
  // A counter that stands still may move yet; whoever reads the recording sees whether it did.
  const bool estimated = std::any_of(read.begin(), read.end(), [&](const PowerChannel& channel) {
    return channel.meter.origin == Origin::kEstimated &&
           std::none_of(read.begin(), read.end(), [&](const PowerChannel& other) {
             return other.name == channel.meter.within;
           });
  });
  if (estimated) {
    std::vector<std::string> refused;
    for (const RefusedSource& source : report.refused) refused.push_back(source.source);
    notes.push_back({NoteKind::kCpusEstimated, "", {fmt::format("{}", fmt::join(refused, ", "))}});
  }
  for (const SourceCheck& check : report.checks) {
    if (check.verdict == SourceCheck::Verdict::kBad &&
        check.about == SourceCheck::About::kAgreement) {
      notes.push_back({NoteKind::kCheckFailed, check.what, {check.detail}});
    }
  }
  return notes;
}

}  // namespace

Result<LiveRecording> LiveRecording::Start(const Options& options, GrowingFile& file) {
  LiveRecording live;
  live.machine_ = options.machine;
  auto found = sources::Discover(options.machine, options.discover);
  if (!found) return found.error();
  live.discovery_ = std::make_unique<sources::Discovery>(std::move(*found));
  const SourceReport report =
      sources::Probe(options.machine, options.discover, *live.discovery_, kPatience);
  if (live.discovery_->channels.empty()) {
    return InvalidError(
        "there is no meter to read, and nothing to make an estimate from; beryl sources says why");
  }
  sources::SamplerOptions sampling;
  sampling.period = std::min(options.period, kFastPeriod);
  sampling.activity_period = kActivityPeriod;
  live.sampler_ = std::make_unique<sources::Sampler>(options.machine, *live.discovery_, sampling);
  sources::Recorder::Options recording;
  for (const int32_t pid : options.pids) {
    auto watch = live.sampler_->Watch(pid);
    if (!watch) return watch.error();
    recording.watches.push_back(*watch);
  }
  recording.period = options.period;
  live.recorder_ =
      std::make_unique<sources::Recorder>(*live.discovery_, *live.sampler_, std::move(recording));
  if (!options.command.empty()) live.recorder_->AddWatch(live.sampler_->WatchChildren());

  Recording& head = live.recording_;
  head.command = options.command;
  head.pids = options.pids;
  head.machine = MachineName();
  head.period = options.period;
  head.activity.cpu_package = live.sampler_->cpu_packages();
  head.activity.cpu_time = live.sampler_->cpu_time();
  head.notes = SourceNotes(report, live.discovery_->channels);
  live.file_ = &file;
  live.epoch_offset_ns_ = EpochOffset(live.Now());
  if (auto ok = live.sampler_->Start(); !ok) return ok.error();
  live.ReadUntilKnown(live.Now());
  return live;
}

void LiveRecording::ReadUntilKnown(Nanos time) {
  do {
    std::this_thread::sleep_for(std::chrono::nanoseconds(kFastPeriod.value));
    sampler_->Drain(*recorder_);
  } while (!recorder_->HasReached(time) && (Now() - time).value < kLongestWaitNs);
}

void LiveRecording::ReadNow() {
  sampler_->ReadNow();
  sampler_->Drain(*recorder_);
}

Result<bool> LiveRecording::Begin() {
  ReadNow();
  recording_.start = Now();
  recorder_->StartFrom(recording_.start);
  PowerTrace channels;
  channels.report.file = "meters";
  channels.channels = discovery_->channels;
  auto writer = store::RecordingWriter::Start(*file_, kTool, channels, recording_);
  if (!writer) return writer.error();
  writer_ = std::make_unique<store::RecordingWriter>(std::move(*writer));
  recording_.notes.clear();  // they are written
  appended_ = Now();
  return true;
}

void LiveRecording::AddCommand(int32_t pid) {
  recording_.pids.push_back(pid);
  if (IsRunning(pid)) return;
  AddNote({NoteKind::kProcessNotThere, std::to_string(pid), {machine_.procfs}});
}

Result<bool> LiveRecording::AppendPiece(const sources::Recorder::Piece& piece) {
  appended_ = Now();
  return writer_->Append(piece.power, piece.recording);
}

Result<bool> LiveRecording::Pump() {
  sampler_->Drain(*recorder_);
  if (reads_fast_ && recorder_->HasReached(recording_.start)) {
    reads_fast_ = false;
    sampler_->SetPeriod(recording_.period);
  }
  if ((Now() - appended_).value < kAppendEveryNs) return true;
  return AppendPiece(recorder_->Take());
}

Result<bool> LiveRecording::AddWindow(const RunWindow& window) { return writer_->Append(window); }

Result<bool> LiveRecording::Finish(int exit_code, Nanos end) {
  recording_.end = end;
  sampler_->SetPeriod(std::min(recording_.period, kFastPeriod));
  ReadUntilKnown(end);
  sampler_->SetPeriod(recording_.period);
  sampler_->Stop();
  sampler_->Drain(*recorder_);
  if (auto ok = AppendPiece(recorder_->Finish()); !ok) return ok;
  const int64_t moved = EpochOffset(Now()) - epoch_offset_ns_;
  if (std::abs(moved) > kClockWasSetNs) {
    AddNote({NoteKind::kClockSet, "", {static_cast<double>(moved) * 1e-9}});
  }
  AppendNotes(recording_.notes, sampler_->notes());
  recording_.exit_code = exit_code;
  recording_.cost = sampler_->cost();
  return writer_->Finish(recording_);
}

}  // namespace beryl::cli
