#include "server/session.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"

namespace beryl::server {
namespace {

constexpr Nanos kWriteEvery{1'000'000'000};

void AppendReadings(const PowerTrace& from, PowerTrace& to) {
  if (to.channels.size() != from.channels.size()) {
    to = from;
    return;
  }
  for (size_t i = 0; i < from.channels.size(); ++i) {
    const PowerChannel& source = from.channels[i];
    PowerChannel& target = to.channels[i];
    target.times.insert(target.times.end(), source.times.begin(), source.times.end());
    target.values.insert(target.values.end(), source.values.begin(), source.values.end());
  }
}

}  // namespace

Session::Session(SessionSummary summary, std::vector<sources::WatchId> watches,
                 std::unique_ptr<flows::LiveRecording> recording, std::shared_ptr<UnnamedFile> file)
    : summary_(std::move(summary)),
      watches_(std::move(watches)),
      file_(std::move(file)),
      recording_(std::move(recording)),
      next_write_(summary_.start + kWriteEvery) {}

Session::Session(SessionSummary summary, std::vector<sources::WatchId> watches,
                 std::shared_ptr<PublishedSamples> samples)
    : summary_(std::move(summary)), watches_(std::move(watches)), samples_(std::move(samples)) {}

SessionSummary Session::Summary() const {
  SessionSummary summary = summary_;
  summary.bytes = bytes();
  if (!recording_) return summary;
  summary.devices = recording_->energy().devices();
  if (summary.running) summary.open_windows = recording_->energy().open_windows().size();
  return summary;
}

sources::SampleSink& Session::sink() {
  if (samples_) return *samples_;
  return recording_->recorder();
}

Status Session::WriteDown(Nanos time) {
  next_write_ = time + kWriteEvery;
  auto readings = TRY(recording_->Write());
  for (Stream& stream : streams_) {
    if (!stream.options.with_readings) continue;
    AppendReadings(readings, stream.readings);
    if (BytesOf(stream.readings) <= BatchQueue::kMostBytes) continue;
    for (PowerChannel& channel : stream.readings.channels) {
      stream.lost += channel.times.size();
      channel.times.clear();
      channel.values.clear();
    }
  }
  return {};
}

std::string Session::AfterSamples(Nanos time, uint64_t missed_ticks, uint64_t most_bytes) {
  const auto full = [&] {
    return fmt::format("it reached the limit of {} for a session", FormatBytes(most_bytes));
  };
  if (samples_) {
    if (!samples_->is_full()) return "";
    const auto flushed = samples_->Flush();
    return flushed ? full() : flushed.error().message;
  }
  std::erase_if(streams_, [](const Stream& stream) {
    return stream.queue->is_detached() && !stream.options.stop_when_gone;
  });
  const bool send = std::any_of(streams_.begin(), streams_.end(),
                                [&](const Stream& stream) { return time >= stream.next; });
  if (!send && time < next_write_) return "";
  if (const auto written = WriteDown(time); !written) return written.error().message;
  for (Stream& stream : streams_) {
    if (time >= stream.next) Send(stream, time, missed_ticks, false);
  }
  return file_->size() > most_bytes ? full() : "";
}

void Session::Send(Stream& stream, Nanos time, uint64_t missed_ticks, bool last) {
  LiveBatch batch;
  batch.time = time;
  batch.channels = recording_->channels();
  batch.devices = recording_->energy().devices();
  batch.readings = std::exchange(stream.readings, {});
  batch.lost_readings = std::exchange(stream.lost, 0);
  batch.missed_ticks = missed_ticks;
  batch.last = last;
  stream.queue->Push(std::move(batch));
  stream.next = stream.next + stream.options.every;
  if (stream.next <= time) stream.next = time + stream.options.every;
}

Status Session::End(Nanos time, const std::string& why, const SamplerCost& cost) {
  summary_.running = false;
  summary_.end = time;
  summary_.ended_because = why;
  if (samples_) return samples_->Finish();
  if (!why.empty()) recording_->AddNote({NoteKind::kSessionEnded, "", {why}});
  recording_->recorder().KeepLast();
  Status done = WriteDown(time);
  if (done) done = recording_->Finish(time, cost);
  for (Stream& stream : streams_) Send(stream, time, cost.missed, true);
  streams_.clear();
  return done;
}

Result<uint64_t> Session::OpenWindow(const std::string& name, Nanos time) {
  recording_->recorder().KeepLast();
  TRY(WriteDown(time));
  return recording_->energy().OpenWindow(name, time);
}

Result<LiveWindow> Session::CloseWindow(uint64_t id, Nanos time) {
  if (!recording_->energy().EndWindow(id, time)) {
    return Error{ErrorCode::kNotFound,
                 fmt::format("session {} has no open window {}", summary_.id, id)};
  }
  recording_->recorder().KeepLast();
  TRY(WriteDown(time));
  LiveWindow window = *recording_->energy().CloseWindow(id);
  TRY(recording_->AddWindow({window.name, window.start, window.end}));
  return window;
}

std::shared_ptr<BatchQueue> Session::AddStream(const StreamOptions& options, Nanos time) {
  auto queue = std::make_shared<BatchQueue>(options.queue);
  streams_.push_back({queue, options, time + options.every, {}});
  return queue;
}

size_t Session::streams() const {
  return static_cast<size_t>(
      std::count_if(streams_.begin(), streams_.end(),
                    [](const Stream& stream) { return !stream.queue->is_detached(); }));
}

void Session::AddNote(Note note) {
  if (recording_) recording_->AddNote(std::move(note));
}

bool Session::WantsToEnd() {
  return std::any_of(streams_.begin(), streams_.end(), [](const Stream& stream) {
    return stream.options.stop_when_gone && stream.queue->is_detached();
  });
}

}  // namespace beryl::server
