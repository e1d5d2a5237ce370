#include "server/recorded_book.h"

#include <cmath>
#include <utility>

#include "account/account.h"
#include "types/containment.h"
#include "version.h"
#include "views/views.h"

namespace beryl::server {

RecordedBook::RecordedBook(const Context& context, const BookOptions& options)
    : sampler_(&context.sampler),
      period_(options.period),
      channels_(context.discovery.channels),
      recorder_(context.discovery, context.sampler, {options.watches, Nanos{}, options.period}),
      running_(options.period) {
  head_.pids = options.pids;
  head_.machine = context.machine;
  head_.period = options.period;
  head_.start = options.start;
  head_.activity.cpu_package = context.sampler.cpu_packages();
  head_.activity.cpu_time = context.sampler.cpu_time();
  head_.notes = context.notes;
  if (!options.name.empty()) head_.notes.push_back({NoteKind::kSessionNamed, options.name});
}

Result<std::unique_ptr<RecordedBook>> RecordedBook::Start(const Context& context,
                                                          const BookOptions& options) {
  std::unique_ptr<RecordedBook> book(new RecordedBook(context, options));
  auto file = SpoolFile::Create(context.folder);
  if (!file) return file.error();
  book->file_ = std::make_unique<SpoolFile>(std::move(*file));
  PowerTrace channels;
  channels.report.file = "meters";
  channels.channels = context.discovery.channels;
  auto writer = store::RecordingWriter::Start(book->file_->file(), kTool, channels, book->head_);
  if (!writer) return writer.error();
  book->writer_.emplace(std::move(*writer));
  book->head_.notes.clear();  // they are written
  book->cost_at_start_ = context.sampler.cost();
  return book;
}

std::unique_ptr<RecordedBook> RecordedBook::Gauge(const Context& context) {
  return std::unique_ptr<RecordedBook>(new RecordedBook(context, {}));
}

void RecordedBook::OnPower(Nanos time, std::span<const sources::MeterReading> readings) {
  // The sampler may go faster for another session; ticks come a little early and late.
  if (last_power_ && (time - *last_power_).value < period_.value / 10 * 9) {
    held_time_ = time;
    held_.assign(readings.begin(), readings.end());
    return;
  }
  held_.clear();
  last_power_ = time;
  recorder_.OnPower(time, readings);
}
void RecordedBook::KeepLast() {
  if (held_.empty()) return;
  recorder_.OnPower(held_time_, held_);
  held_.clear();
}
void RecordedBook::OnTaskBirth(const sources::TaskBirth& birth) { recorder_.OnTaskBirth(birth); }
void RecordedBook::OnActivity(Nanos time, std::span<const sources::CpuJiffies> cpus,
                              std::span<const sources::TaskSample> tasks) {
  recorder_.OnActivity(time, cpus, tasks);
}
void RecordedBook::OnFeatures(Nanos time, std::span<const double> values) {
  recorder_.OnFeatures(time, values);
}
void RecordedBook::OnMissed(Nanos time, uint64_t ticks) { recorder_.OnMissed(time, ticks); }

Result<bool> RecordedBook::Append(const sources::Recorder::Piece& piece) {
  if (!writer_) return true;
  running_.Add(piece);
  running_.Settle();
  return writer_->Append(piece.power, piece.recording);
}

Result<PowerTrace> RecordedBook::Write() {
  sources::Recorder::Piece piece = recorder_.Take();
  if (auto ok = Append(piece); !ok) return ok.error();
  return std::move(piece.power);
}

Result<bool> RecordedBook::AddWindow(const RunWindow& window) {
  return writer_ ? writer_->Append(window) : Result<bool>(true);
}

Result<bool> RecordedBook::Finish(Nanos end, const std::string& why) {
  if (!writer_) return true;
  KeepLast();
  if (auto ok = Append(recorder_.Finish()); !ok) return ok;
  running_.Finish();
  head_.end = end;
  if (!why.empty()) head_.notes.push_back({NoteKind::kSessionEnded, "", {why}});
  // The sampler serves all sessions: what it cost since this one began is said of it.
  head_.cost = sampler_->cost();
  head_.cost.cpu_time -= cost_at_start_.cpu_time;
  head_.cost.wall_time -= cost_at_start_.wall_time;
  head_.cost.ticks -= cost_at_start_.ticks;
  head_.cost.late -= cost_at_start_.late;
  head_.cost.missed -= cost_at_start_.missed;
  head_.cost.lost -= cost_at_start_.lost;
  sampler_ = nullptr;
  auto finished = writer_->Finish(head_);
  writer_.reset();
  return finished;
}

std::vector<LiveChannel> RecordedBook::channels() const {
  const std::vector<double> energy = recorder_.energy_j();
  const std::vector<double> power = recorder_.power_w();
  // A counter that stood still at first may move yet.
  std::vector<bool> tells;
  tells.reserve(channels_.size());
  for (size_t i = 0; i < channels_.size(); ++i) {
    tells.push_back(channels_[i].meter.moves.value_or(true) || !std::isnan(energy[i]));
  }
  const Containment containment(channels_, tells);
  std::vector<LiveChannel> live(channels_.size());
  for (size_t i = 0; i < live.size(); ++i) {
    live[i] = {channels_[i], containment.WithinText(i), IfKnown<Joules>(energy[i]),
               IfKnown<Watts>(power[i])};
  }
  return live;
}

Result<size_t> RecordedBook::ReadFile(uint64_t offset, std::span<char> buffer) const {
  return file_->Read(offset, buffer);
}

Result<std::string> RecordedBook::Measure() const {
  auto source = ByteSource::Open(file_->path());
  if (!source) return source.error();
  store::StoredRun run;
  if (auto ok = store::Load(*source, {}, run); !ok) return ok.error();
  if (!run.recording) return InvalidError("the session's file holds no recording");
  Measurement measured = account::Measure(run.power, *run.recording, {});
  measured.context = run.context;
  measured.provenance = MakeProvenance(MetersOf(run.power.channels));
  return views::Write(measured, views::Format::kJson, {});
}

}  // namespace beryl::server
