#include "flows/live_recording.h"

#include <cmath>
#include <utility>

#include "types/containment.h"
#include "version.h"

namespace beryl::flows {

LiveRecording::LiveRecording(RecordingPiece head, sources::Recorder::Options options)
    : head_(std::move(head)), recorder_(head_, std::move(options)) {}

std::vector<LiveChannel> LiveRecording::channels() const {
  const std::vector<PowerChannel>& channels = head_.power.channels;
  const std::vector<double> energy = recorder_.energy_j();
  const std::vector<double> power = recorder_.power_w();
  // A counter that stood still at first may move later.
  std::vector<bool> tells;
  tells.reserve(channels.size());
  for (size_t i = 0; i < channels.size(); ++i) {
    tells.push_back(channels[i].meter.moves.value_or(true) || !std::isnan(energy[i]));
  }
  const Containment containment(channels, tells);
  std::vector<LiveChannel> live(channels.size());
  for (size_t i = 0; i < live.size(); ++i) {
    live[i] = {channels[i], containment.WithinText(i), IfKnown<Joules>(energy[i]),
               IfKnown<Watts>(power[i])};
  }
  return live;
}

Status LiveRecording::Begin(GrowingFile& file, Nanos start, const SamplerCost& cost) {
  head_.recording.start = start;
  cost_at_start_ = cost;
  writer_ = TRY(store::RecordingWriter::Start(file, kTool, head_.power, head_.recording));
  head_.recording.notes.clear();  // they are written
  return {};
}

Status LiveRecording::Append(const RecordingPiece& piece) {
  if (!writer_) return {};
  if (energy_) {
    energy_->Add(piece);
    energy_->Settle();
  }
  return writer_->Append(piece.power, piece.recording);
}

Result<PowerTrace> LiveRecording::Write() {
  RecordingPiece piece = recorder_.Take();
  TRY(Append(piece));
  return std::move(piece.power);
}

Status LiveRecording::Finish(Nanos end, const SamplerCost& cost, int exit_code) {
  TRY(Append(recorder_.Finish()));
  if (energy_) {
    for (const auto& window : energy_->open_windows()) {
      TRY(AddWindow({window.so_far.name, window.so_far.start, end}));
    }
    energy_->Finish();
  }
  Recording& head = head_.recording;
  head.end = end;
  head.exit_code = exit_code;
  head.cost = cost;
  head.cost.cpu_time -= cost_at_start_.cpu_time;
  head.cost.wall_time -= cost_at_start_.wall_time;
  head.cost.ticks -= cost_at_start_.ticks;
  head.cost.late -= cost_at_start_.late;
  head.cost.missed -= cost_at_start_.missed;
  head.cost.lost -= cost_at_start_.lost;
  return writer_->Finish(head);
}

}  // namespace beryl::flows
