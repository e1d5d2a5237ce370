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
                 std::shared_ptr<SessionBook> book, std::shared_ptr<PublishedSpool> spool)
    : summary_(std::move(summary)),
      watches_(std::move(watches)),
      book_(std::move(book)),
      spool_(std::move(spool)),
      next_write_(summary_.start + kWriteEvery) {}

SessionSummary Session::Summary() const {
  SessionSummary summary = summary_;
  summary.open_windows = windows_.size();
  summary.bytes = bytes();
  if (book_) summary.devices = book_->devices();
  return summary;
}

sources::SampleSink& Session::sink() {
  if (spool_) return *spool_;
  return *book_;
}

Result<bool> Session::WriteDown(Nanos time) {
  next_write_ = time + kWriteEvery;
  auto readings = book_->Write();
  if (!readings) return readings.error();
  for (Stream& stream : streams_) {
    if (!stream.options.with_readings) continue;
    AppendReadings(*readings, stream.readings);
    if (BytesOf(stream.readings) <= BatchQueue::kMostBytes) continue;
    for (PowerChannel& channel : stream.readings.channels) {
      stream.lost += channel.times.size();
      channel.times.clear();
      channel.values.clear();
    }
  }
  return true;
}

std::string Session::AfterSamples(Nanos time, uint64_t missed_ticks, uint64_t most_bytes) {
  const auto full = [&] {
    return fmt::format("it reached the limit of {} for a session", FormatBytes(most_bytes));
  };
  if (spool_) {
    if (!spool_->is_full()) return "";
    const auto flushed = spool_->Flush();
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
  return book_->bytes() > most_bytes ? full() : "";
}

void Session::Send(Stream& stream, Nanos time, uint64_t missed_ticks, bool last) {
  LiveBatch batch;
  batch.time = time;
  batch.channels = book_->channels();
  batch.devices = book_->devices();
  batch.readings = std::exchange(stream.readings, {});
  batch.lost_readings = std::exchange(stream.lost, 0);
  batch.missed_ticks = missed_ticks;
  batch.last = last;
  stream.queue->Push(std::move(batch));
  stream.next = stream.next + stream.options.every;
  if (stream.next <= time) stream.next = time + stream.options.every;
}

Result<bool> Session::End(Nanos time, const std::string& why, uint64_t missed_ticks) {
  summary_.running = false;
  summary_.end = time;
  summary_.ended_because = why;
  if (spool_) return spool_->Finish();
  book_->KeepLast();
  // Windows that nobody closed end with the session.
  Result<bool> done = WriteDown(time);
  for (const Window& window : windows_) {
    if (done) done = book_->AddWindow({window.name, window.start, time});
  }
  windows_.clear();
  if (done) done = book_->Finish(time, why);
  for (Stream& stream : streams_) Send(stream, time, missed_ticks, true);
  streams_.clear();
  return done;
}

Result<uint64_t> Session::OpenWindow(const std::string& name, Nanos time) {
  book_->KeepLast();
  if (const auto written = WriteDown(time); !written) return written.error();
  book_->OpenWindow(next_window_, time);
  windows_.push_back({next_window_, name, time});
  return next_window_++;
}

Result<std::optional<WindowEnd>> Session::CloseWindow(uint64_t window, Nanos time) {
  const auto found = std::find_if(windows_.begin(), windows_.end(),
                                  [&](const Window& open) { return open.id == window; });
  if (found == windows_.end()) return std::optional<WindowEnd>();
  book_->EndWindow(window, time);
  book_->KeepLast();
  if (const auto written = WriteDown(time); !written) return written.error();
  WindowEnd end{found->name, found->start, time, book_->CloseWindow(window), {}, {}};
  const auto sum = [&](std::optional<Joules> LiveDevice::*part) -> std::optional<Joules> {
    std::optional<Joules> all;
    for (const LiveDevice& device : end.devices) {
      if (!(device.*part)) return std::nullopt;
      AddKnown(all, device.*part);
    }
    return all;
  };
  end.energy = sum(&LiveDevice::energy);
  end.ours = sum(&LiveDevice::ours);
  windows_.erase(found);
  if (const auto added = book_->AddWindow({end.name, end.start, end.end}); !added) {
    return added.error();
  }
  return std::optional<WindowEnd>(std::move(end));
}

std::shared_ptr<BatchQueue> Session::AddStream(const StreamOptions& options, Nanos time) {
  auto queue = std::make_shared<BatchQueue>(options.queue);
  streams_.push_back({queue, options, time + options.every, {}});
  return queue;
}

bool Session::WantsToEnd() {
  return std::any_of(streams_.begin(), streams_.end(), [](const Stream& stream) {
    return stream.options.stop_when_gone && stream.queue->is_detached();
  });
}

}  // namespace beryl::server
