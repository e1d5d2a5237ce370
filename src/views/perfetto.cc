// Perfetto's protobuf: https://github.com/google/perfetto/tree/main/protos/perfetto/trace
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "base/wire_writer.h"
#include "views/export.h"

namespace beryl::views {
namespace {

// Field numbers.
constexpr uint32_t kPacket = 1;  // of Trace
enum TracePacket : uint32_t {
  kTimestamp = 8,
  kSequenceId = 10,
  kTrackEvent = 11,
  kSequenceFlags = 13,
  kTrackDescriptor = 60,
};
enum TrackDescriptor : uint32_t {
  kUuid = 1,
  kTrackName = 2,
  kParentUuid = 5,
  kCounter = 8,
  kDescription = 14,
};
enum CounterDescriptor : uint32_t { kUnitName = 6, kYAxisShareKey = 7 };
enum TrackEvent : uint32_t {
  kType = 9,
  kTrackUuid = 11,
  kCategories = 22,
  kEventName = 23,
  kDoubleCounterValue = 44,
  kCallstack = 55,
  kCallstackWeight = 57,
};
enum class Type : uint8_t { kSliceBegin = 1, kSliceEnd = 2, kInstant = 3, kCounter = 4 };

// Tracks of all files of a bundle share their numbers.
constexpr uint64_t kFirstUuid = 0x6265'7279'6C00'0001;  // "beryl"
constexpr uint64_t kSequence = 1;
constexpr uint64_t kStateCleared = 1;
// Beyond that the stacks of all steps are one.
constexpr size_t kMostStacks = 200'000;

class TraceWriter {
 public:
  explicit TraceWriter(const ExportedRun& run) : run_(run), origin_(PerfettoOrigin(run)) {}

  std::string Write() {
    const uint64_t power = AddTrack("power (Beryl)", 0, ProvenanceText(run_.report));
    for (const ReadEnergy& read : run_.readings) AddPower(read, power);
    const uint64_t energy = AddTrack("energy (Beryl)", 0,
                                     "Select a stretch of the stacks to see where its joules went");
    AddSteps(AddTrack("steps", energy));
    AddStacks(AddTrack("stacks, weighted in joules", energy));
    return std::move(trace_);
  }

 private:
  void AddPacket(WireWriter packet) {
    packet.Integer(kSequenceId, kSequence);
    if (trace_.empty()) packet.Integer(kSequenceFlags, kStateCleared);
    PutBytes(trace_, kPacket, packet.bytes());
  }

  uint64_t AddTrack(std::string_view name, uint64_t parent, std::string_view description = "",
                    std::string_view unit = "") {
    const uint64_t uuid = next_uuid_++;
    WireWriter track;
    track.Integer(kUuid, uuid);
    track.Bytes(kTrackName, name);
    track.Integer(kParentUuid, parent);
    if (!description.empty()) track.Bytes(kDescription, description);
    if (!unit.empty()) {
      WireWriter counter;
      counter.Bytes(kUnitName, unit);
      counter.Bytes(kYAxisShareKey, "beryl power");
      track.Message(kCounter, counter);
    }
    WireWriter packet;
    packet.Message(kTrackDescriptor, track);
    AddPacket(std::move(packet));
    return uuid;
  }

  WireWriter Event(Type type, uint64_t track, std::string_view name = "") const {
    WireWriter event;
    event.Integer(kType, static_cast<uint64_t>(type));
    event.Integer(kTrackUuid, track);
    if (!name.empty()) event.Bytes(kEventName, name);
    return event;
  }

  void AddEvent(Nanos time, const WireWriter& event) {
    WireWriter packet;
    packet.Integer(kTimestamp, static_cast<uint64_t>((time - origin_).value));
    packet.Message(kTrackEvent, event);
    AddPacket(std::move(packet));
  }

  void AddSlice(Nanos start, Nanos end, uint64_t track, std::string_view name) {
    AddEvent(start, Event(Type::kSliceBegin, track, name));
    AddEvent(end, Event(Type::kSliceEnd, track));
  }

  // A counter keeps its value until the next one, so where nothing is known, a slice says so.
  void AddPower(const ReadEnergy& read, uint64_t parent) {
    std::string name = Printable(read.channel);
    if (read.origin != Origin::kMeasured) name += fmt::format(" ({})", OriginName(read.origin));
    const std::string within =
        read.within.empty() ? "" : "within " + Printable(read.within) + ": do not add them up";
    const uint64_t track = AddTrack(name, parent, within, "W");
    uint64_t unknown = 0;
    double power_w = 0;
    bool any = false;
    for (size_t i = 0; i < read.energy_j.size(); ++i) {
      const Nanos end = read.times[i + 1];
      if (std::isnan(read.energy_j[i])) {
        if (unknown == 0) unknown = AddTrack(name + ": no readings", parent);
        AddSlice(read.times[i], end, unknown, "no readings");
        continue;
      }
      power_w = (Joules{read.energy_j[i]} / (end - read.times[i])).value;
      any = true;
      AddCounter(read.times[i], track, power_w);
    }
    if (any) AddCounter(read.times.back(), track, power_w);
  }

  void AddCounter(Nanos time, uint64_t track, double value) {
    WireWriter event = Event(Type::kCounter, track);
    event.Double(kDoubleCounterValue, value);
    AddEvent(time, event);
  }

  // Those of several ranks may overlap, but slices of a track must not.
  void AddSteps(uint64_t track) {
    Nanos free = origin_;
    for (const StepEnergy& step : run_.steps) {
      if (step.name.empty() || step.start < free) continue;
      AddSlice(step.start, step.end, track, Printable(step.name));
      free = step.end;
    }
  }

  void AddStacks(uint64_t track) {
    size_t stacks = 0;
    for (const StepEnergy& step : run_.steps) stacks += step.self_j.size();
    if (stacks <= kMostStacks) {
      for (const StepEnergy& step : run_.steps) AddStacksOf(step, track);
      return;
    }
    StepEnergy all = run_.steps.front();
    all.self_j.clear();
    for (const StepEnergy& step : run_.steps) {
      all.start = std::min(all.start, step.start);
      all.end = std::max(all.end, step.end);
    }
    const std::vector<double>& self_j = EnergyOf(run_.report).self;
    for (NodeId id = 0; id < self_j.size(); ++id) all.self_j.emplace_back(id, self_j[id]);
    AddStacksOf(all, track);
  }

  // Spread over the step, so that selecting it selects them.
  void AddStacksOf(const StepEnergy& step, uint64_t track) {
    const ModelTree& tree = run_.report.tree.tree;
    int64_t at = 0;
    const auto count = static_cast<int64_t>(step.self_j.size());
    for (const auto& [node, energy_j] : step.self_j) {
      const Nanos time{step.start.value + ((step.end - step.start).value / (count + 1)) * ++at};
      if (!(energy_j > 0)) continue;
      WireWriter stack;
      for (const NodeId id : StackOf(tree, node)) {
        WireWriter frame;
        frame.Bytes(1, FrameName(tree[id].name));
        stack.Message(1, frame);
      }
      WireWriter event = Event(Type::kInstant, track, FrameName(tree[node].name));
      event.Bytes(kCategories, "energy");
      event.Message(kCallstack, stack);
      event.Double(kCallstackWeight, energy_j);
      AddEvent(time, event);
    }
  }

  const ExportedRun& run_;
  Nanos origin_;
  uint64_t next_uuid_ = kFirstUuid;
  std::string trace_;
};

}  // namespace

Nanos PerfettoOrigin(const ExportedRun& run) {
  Nanos origin;
  for (const ReadEnergy& read : run.readings) {
    if (!read.times.empty()) origin = std::min(origin, read.times.front());
  }
  for (const StepEnergy& step : run.steps) origin = std::min(origin, step.start);
  return origin;
}

std::string WritePerfetto(const ExportedRun& run) { return TraceWriter(run).Write(); }

}  // namespace beryl::views
