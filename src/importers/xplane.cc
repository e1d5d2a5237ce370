// XPlane: what the profilers of TensorFlow 2, JAX and XLA write, `<host>.xplane.pb`.
//
// An XSpace has planes (a host, a device); a plane has lines (a thread, a stream); a line has
// events.
#include <algorithm>
#include <cmath>
#include <optional>

#include "base/text.h"
#include "base/wire_reader.h"
#include "importers/importer.h"
#include "importers/xla_events.h"
#include "importers/xplane_plane.h"

namespace beryl::importers {
namespace {

constexpr std::string_view kEnvironmentPlane = "Task Environment";
// Differences and sums of times up to this cannot overflow.
constexpr int64_t kFarthestNs = 1'000'000'000'000'000'000;

class SpaceReader {
 public:
  SpaceReader(ByteSource& source, const ImportOptions& options, OpTrace& trace,
              ImportReport& report)
      : wire_(source, options.progress),
        report_(report),
        assembler_(trace, report, options.event_offsets) {}

  Status Run() {
    while (wire_.Next()) {
      if (wire_.field() == 1 && wire_.Enter()) {
        PlaneReader(wire_, assembler_.programs(), plane_).Read();
        wire_.Leave();
        FinishPlane();
      } else if (wire_.field() == 4 && host_.empty()) {
        host_ = wire_.Text(kLongestXPlaneName);
      }
    }
    if (wire_.error()) return *wire_.error();
    if (report_.rank.empty()) report_.rank = Printable(host_);
    ReportDefects();
    assembler_.Finish(start_, report_.rank);
    return {};
  }

 private:
  void FinishPlane() {
    if (plane_.name == kEnvironmentPlane) FindStartTime();
    std::vector<XlaLine> lines;
    for (const RawLine& line : plane_.lines) lines.push_back(line.line);
    uint32_t number = assembler_.AddPlane(plane_.name, lines);
    device_plane_ = plane_.name.find("/device:") != std::string::npos;
    for (size_t i = 0; i < plane_.lines.size(); ++i, ++number) {
      const size_t end =
          i + 1 < plane_.lines.size() ? plane_.lines[i + 1].first_event : plane_.events.size();
      for (size_t event = plane_.lines[i].first_event; event < end; ++event) {
        AddEvent(event, plane_.lines[i], number);
      }
    }
    // Planes differ in size by orders of magnitude: frees the memory of a large one.
    plane_ = {};
  }

  void FindStartTime() {
    for (const Stat& stat : plane_.plane_stats) {
      const StatName* name = plane_.stat_names.Find(stat.id);
      if (name == nullptr || name->role != StatRole::kStartTime) continue;
      const auto limit = static_cast<uint64_t>(kFarthestNs) * 3;
      if (stat.form != Stat::Form::kNumber || stat.value > limit) {
        report_.Count(NoteKind::kStartTimeNotUsed, plane_.offset);
      } else if (!start_) {
        start_ = Nanos{static_cast<int64_t>(stat.value)};
      } else if (start_->value != static_cast<int64_t>(stat.value)) {
        report_.Count(NoteKind::kStartTimeRepeated, plane_.offset);
      }
    }
  }

  // What the stats of one event say, or of all events of a name.
  struct Said {
    XlaWhat what;
    int64_t correlation = kNoXlaNumber;
    int64_t group = kNoXlaNumber;
    int64_t step = kNoXlaNumber;
    bool unknown = false;  // a stat whose name or value is not in the file
  };

  void Listen(const Stat& stat, Said& said) {
    const StatName* name = plane_.stat_names.Find(stat.id);
    if (name == nullptr || !name->known) {
      said.unknown = true;
      return;
    }
    switch (name->role) {
      case StatRole::kHloOp:
        said.what.hlo_op = TextOf(stat, said);
        break;
      case StatRole::kHloModule:
        said.what.hlo_module = TextOf(stat, said);
        break;
      case StatRole::kTfOp:
        said.what.tf_op = TextOf(stat, said);
        break;
      case StatRole::kEagerOp:
        said.what.eager_op = TextOf(stat, said);
        break;
      case StatRole::kIsFunction:
        said.what.is_function = stat.value != 0;
        break;
      case StatRole::kProgram:
        said.what.program = NumberOf(stat);
        break;
      case StatRole::kCorrelation:
        said.correlation = NumberOf(stat);
        break;
      case StatRole::kGroup:
        said.group = NumberOf(stat);
        break;
      case StatRole::kStepNumber:
        said.step = NumberOf(stat);
        break;
      case StatRole::kNone:
      case StatRole::kStartTime:
        break;
    }
  }

  StringId TextOf(const Stat& stat, Said& said) {
    if (stat.form == Stat::Form::kText) {
      return assembler_.strings().Intern(plane_.texts.Text(static_cast<StringId>(stat.value)));
    }
    if (stat.form == Stat::Form::kNumber) return 0;
    StatName* text = plane_.stat_names.Find(static_cast<int64_t>(stat.value));
    if (text == nullptr || !text->known) {
      said.unknown = true;
      return 0;
    }
    return Keep(text->name);
  }

  StringId Keep(PlaneText& text) {
    if (text.kept == 0) text.kept = assembler_.strings().Intern(plane_.texts.Text(text.text));
    return text.kept;
  }

  int64_t NumberOf(const Stat& stat) const {
    if (stat.form == Stat::Form::kNumber) return static_cast<int64_t>(stat.value);
    if (stat.form == Stat::Form::kReference) return kNoXlaNumber;
    const auto number = ParseNumber(plane_.texts.Text(static_cast<StringId>(stat.value)));
    return number && std::abs(*number) < 9e15 ? static_cast<int64_t>(*number) : kNoXlaNumber;
  }

  void AddEvent(size_t index, const RawLine& line, uint32_t number) {
    const RawEvent& raw = plane_.events[index];
    EventName* name = plane_.event_names.Find(raw.metadata);
    if (name == nullptr || !name->known) {
      assembler_.Leave(NoteKind::kEventNameNotInFile, raw.offset);
      return;
    }
    if (!raw.has_time) {
      assembler_.Leave(NoteKind::kSumOfEvents, raw.offset);
      return;
    }
    XlaEvent event;
    event.line = number;
    event.offset = raw.offset;
    if (!SetTimes(raw, line, event)) return;

    Said said;
    // The name of a device's instruction is its whole text; its display name is short.
    said.what.name = Keep(device_plane_ && name->display.text != 0 ? name->display : name->full);
    for (size_t i = 0; i < name->stats; ++i) Listen(plane_.name_stats[name->first_stat + i], said);
    const size_t end = index + 1 < plane_.events.size() ? plane_.events[index + 1].first_stat
                                                        : plane_.stats.size();
    for (size_t i = raw.first_stat; i < end; ++i) Listen(plane_.stats[i], said);
    if (said.unknown && wire_.truncated()) {
      assembler_.Leave(NoteKind::kEventCutOff, raw.offset);
      return;
    }
    said.what.calls_device = said.correlation != kNoXlaNumber && !device_plane_;
    event.correlation = said.correlation;
    event.group = said.group;
    if (name->last_number == UINT32_MAX || !(name->last == said.what)) {
      name->last = said.what;
      name->last_number = assembler_.WhatNumber(said.what);
    }
    event.what = name->last_number;
    if (said.step != kNoXlaNumber && !device_plane_) {
      assembler_.AddStep(event, said.step);
    } else {
      assembler_.Add(event);
    }
  }

  // Starts and ends are rounded alike, so nested events stay nested.
  bool SetTimes(const RawEvent& raw, const RawLine& line, XlaEvent& event) {
    if (raw.duration_ps < 0) {
      assembler_.Leave(NoteKind::kNegativeDuration, raw.offset);
      return false;
    }
    const int64_t base_limit = line.line.relative ? kFarthestNs : 3 * kFarthestNs;
    const int64_t start_ns = FloorToNanos(raw.offset_ps);
    const bool overflows = raw.offset_ps > INT64_MAX - raw.duration_ps;
    if (overflows || line.timestamp_ns > base_limit || line.timestamp_ns < -kFarthestNs) {
      assembler_.Leave(NoteKind::kTimeOutOfRange, raw.offset);
      return false;
    }
    event.start = Nanos{line.timestamp_ns + start_ns};
    event.end = Nanos{line.timestamp_ns + FloorToNanos(raw.offset_ps + raw.duration_ps)};
    return true;
  }

  static int64_t FloorToNanos(int64_t ps) { return ps >= 0 ? ps / 1000 : -((999 - ps) / 1000); }

  void ReportDefects() {
    for (const WireReader::Defect& defect : wire_.defects()) {
      report_.Count({NoteKind::kMessageBroken, std::string(defect.what)}, defect.first_offset,
                    defect.count);
    }
    if (wire_.truncated()) {
      report_.Count(
          {NoteKind::kFileCutShort, "", {wire_.position(), "expected the rest of a message"}},
          wire_.broke_at());
    }
  }

  WireReader wire_;
  ImportReport& report_;
  XlaAssembler assembler_;
  std::string host_;
  std::optional<Nanos> start_;

  RawPlane plane_;  // the one that is being read
  bool device_plane_ = false;
};

// How much the first bytes look like an XSpace.
class Sniffer {
 public:
  explicit Sniffer(std::string_view bytes)
      : source_(ByteSource::FromMemory(bytes, "first bytes")), wire_(source_) {}

  int Score() {
    int planes = 0;
    while (wire_.Next()) {
      // Planes, errors, warnings and host names: all of them have a length.
      if (wire_.field() > 4 || !wire_.IsBytes()) return 0;
      if (wire_.field() != 1) continue;
      if (!wire_.Enter() || !IsPlane()) return 0;
      wire_.Leave();
      ++planes;
      if (known_name_) return 95;
    }
    if (!wire_.defects().empty()) return 0;
    return planes > 0 && named_ ? 40 : 0;
  }

 private:
  bool IsPlane() {
    while (wire_.Next()) {
      const bool number = wire_.field() == 1;
      if (wire_.field() > 6 || (number ? !wire_.IsNumber() : !wire_.IsBytes())) return false;
      if (wire_.field() != 2) continue;
      const std::string_view name = wire_.Text(256);
      named_ = std::all_of(name.begin(), name.end(),
                           [](char c) { return static_cast<unsigned char>(c) >= ' '; });
      if (!named_) return false;
      known_name_ = name.find("/host:") != std::string_view::npos ||
                    name.find("/device:") != std::string_view::npos || name == kEnvironmentPlane;
      if (known_name_) return true;
    }
    return wire_.defects().empty();
  }

  ByteSource source_;
  WireReader wire_;
  bool named_ = false;
  bool known_name_ = false;
};

class XPlaneImporter : public Importer {
 public:
  FormatDescriptor Descriptor() const override {
    return {"xplane", "XPlane protobuf of TensorFlow 2, JAX and XLA (.xplane.pb)",
            "nanoseconds since the epoch, or since the start of the profile where it does not say "
            "when that was"};
  }

  int Sniff(std::string_view bytes) const override { return Sniffer(bytes).Score(); }

  Status Read(ByteSource& source, const ImportOptions& options, OpTrace& trace,
              ImportReport& report) const override {
    return SpaceReader(source, options, trace, report).Run();
  }
};

}  // namespace

std::unique_ptr<Importer> MakeXPlaneImporter() { return std::make_unique<XPlaneImporter>(); }

}  // namespace beryl::importers
