// TensorBoard's event files: TFRecords of tensorboard/compat/proto/event.proto.
#include <cmath>

#include <fmt/format.h>

#include "base/crc32c.h"
#include "base/text.h"
#include "base/wire_writer.h"
#include "views/export.h"

namespace beryl::views {
namespace {

// Field numbers.
enum Event : uint32_t { kWallTime = 1, kStep = 2, kFileVersion = 3, kSummary = 5 };
enum Value : uint32_t { kTag = 1, kSimpleValue = 2, kMetadata = 9 };
constexpr uint32_t kSummaryValue = 1;
constexpr uint32_t kSummaryDescription = 3;  // of the metadata

class EventFile {
 public:
  explicit EventFile(std::string_view description) : description_(description) {}

  void Begin(Nanos time) {
    WireWriter event = EventAt(time, 0);
    event.Bytes(kFileVersion, "brain.Event:2");
    AddRecord(event.bytes());
  }

  void Add(const std::string& tag, size_t step, Nanos time, double value) {
    if (std::isnan(value)) return;
    WireWriter scalar;
    scalar.Bytes(kTag, tag);
    scalar.Float(kSimpleValue, static_cast<float>(value));
    // Once is enough: it describes the tag.
    if (tag != described_) {
      WireWriter metadata;
      metadata.Bytes(kSummaryDescription, description_);
      scalar.Message(kMetadata, metadata);
      described_ = tag;
    }
    WireWriter summary;
    summary.Message(kSummaryValue, scalar);
    WireWriter event = EventAt(time, step);
    event.Message(kSummary, summary);
    AddRecord(event.bytes());
  }

  std::string Take() { return std::move(file_); }

 private:
  static WireWriter EventAt(Nanos time, size_t step) {
    WireWriter event;
    event.Double(kWallTime, time.seconds());
    event.Integer(kStep, step);
    return event;
  }

  void AddRecord(std::string_view bytes) {
    std::string length;
    PutFixed(length, uint64_t{bytes.size()});
    file_ += length;
    PutFixed(file_, MaskedCrc32c(length));
    file_ += bytes;
    PutFixed(file_, MaskedCrc32c(bytes));
  }

  std::string description_;
  std::string described_;
  std::string file_;
};

// The earliest time there is.
Nanos StartOf(const ExportedRun& run) {
  std::optional<Nanos> start;
  const auto include = [&](Nanos time) { start = start ? std::min(*start, time) : time; };
  for (const ReadEnergy& read : run.readings) {
    if (!read.times.empty()) include(read.times.front());
  }
  for (const StepEnergy& step : run.steps) include(step.start);
  return start.value_or(Nanos{});
}

}  // namespace

std::string WriteTfevents(const ExportedRun& run) {
  const AccountReport& report = run.report;
  EventFile file(ProvenanceText(report));
  const Nanos start = StartOf(run);
  file.Begin(start);
  for (const ReadEnergy& read : run.readings) {
    const std::string tag = "power (W)/" + Printable(read.channel);
    for (size_t i = 0; i < read.energy_j.size(); ++i) {
      const Nanos time = read.times[i + 1] - read.times[i];
      file.Add(tag, i, read.times[i], (Joules{read.energy_j[i]} / time).value);
    }
  }
  const auto by_step = [&](const std::string& tag, auto&& energy_of) {
    size_t number = 0;
    for (const StepEnergy& step : run.steps) {
      if (!step.name.empty()) file.Add(tag, number++, step.start, energy_of(step));
    }
  };
  by_step("energy of a step (J)/all", [](const StepEnergy& step) { return step.energy_j; });
  for (size_t i = 0; i < report.channels.size(); ++i) {
    if (report.channels[i].attributed == Joules{}) continue;
    by_step("energy of a step (J)/" + Printable(report.channels[i].channel),
            [&](const StepEnergy& step) { return At(step.channel_j, static_cast<NodeId>(i)); });
  }
  for (const ChannelAccount& channel : report.channels) {
    const std::string tag = "energy of the run (J)/" + Printable(channel.channel);
    file.Add(tag + "/operations", 0, start, channel.attributed.value);
    file.Add(tag + "/idle", 0, start, channel.idle.value);
    file.Add(tag + "/unattributed", 0, start, channel.unattributed.value);
  }
  return file.Take();
}

}  // namespace beryl::views
