// XPlane: what the profilers of TensorFlow 2, JAX and XLA write, `<host>.xplane.pb`.
//
// An XSpace has planes (a host, a device), a plane lines (a thread, a stream), a line events. Names
// stand apart: an event has the number of its XEventMetadata, an XStat the number of its
// XStatMetadata, and both tables follow behind the lines. So the events of one plane are kept in
// short form until the plane ends.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/text.h"
#include "base/wire_reader.h"
#include "importers/importer.h"
#include "importers/xla_events.h"

namespace beryl::importers {
namespace {

constexpr std::string_view kEnvironmentPlane = "Task Environment";
constexpr std::string_view kProgramsPlane = "/host:metadata";
// Names beyond this are cut: they are for people. XLA writes whole instructions as names.
constexpr size_t kLongestName = 4096;
constexpr Nanos kYear2000{946'684'800'000'000'000};
// Differences and sums of times up to this cannot overflow.
constexpr int64_t kFarthestNs = 1'000'000'000'000'000'000;

// What a stat says, by its name.
enum class StatRole : uint8_t {
  kNone,
  kHloOp,
  kHloModule,
  kTfOp,
  kEagerOp,
  kIsFunction,
  kProgram,
  kCorrelation,
  kGroup,
  kStepNumber,
  kStartTime,
};

StatRole RoleOf(std::string_view name) {
  struct Named {
    std::string_view name;
    StatRole role;
  };
  constexpr std::array<Named, 11> kRoles = {{{"hlo_op", StatRole::kHloOp},
                                             {"hlo_module", StatRole::kHloModule},
                                             {"tf_op", StatRole::kTfOp},
                                             {"tf_op_name", StatRole::kTfOp},
                                             {"eager_op", StatRole::kEagerOp},
                                             {"is_func", StatRole::kIsFunction},
                                             {"program_id", StatRole::kProgram},
                                             {"correlation_id", StatRole::kCorrelation},
                                             {"group_id", StatRole::kGroup},
                                             {"step_num", StatRole::kStepNumber},
                                             {"profile_start_time", StatRole::kStartTime}}};
  for (const Named& known : kRoles) {
    if (known.name == name) return known.role;
  }
  return StatRole::kNone;
}

// A value as it stands: a number, a text of the plane, or the number of a stat's name.
struct Stat {
  enum class Form : uint8_t { kNumber, kText, kReference };
  uint64_t value = 0;
  uint32_t id = 0;
  Form form = Form::kNumber;
};

// The values behind numbers that are small and dense nearly always.
template <typename T>
class NumberedTable {
 public:
  T& operator[](int64_t id) {
    if (id < 0 || id >= kDense) return sparse_[id];
    const auto index = static_cast<size_t>(id);
    if (index >= dense_.size()) dense_.resize(std::max(index + 1, dense_.size() * 2));
    return dense_[index];
  }
  T* Find(int64_t id) {
    if (id < 0 || id >= kDense) {
      const auto place = sparse_.find(id);
      return place == sparse_.end() ? nullptr : &place->second;
    }
    return static_cast<size_t>(id) < dense_.size() ? &dense_[static_cast<size_t>(id)] : nullptr;
  }
  void Clear() {
    dense_.clear();
    sparse_.clear();
  }

 private:
  static constexpr int64_t kDense = 1 << 16;
  std::vector<T> dense_;
  std::unordered_map<int64_t, T> sparse_;
};

// An event as it stands in a plane that is not at its end.
struct RawEvent {
  int64_t offset_ps = 0;
  int64_t duration_ps = 0;
  int64_t metadata = 0;
  uint64_t offset = 0;
  size_t first_stat = 0;  // up to the first of the next event
  bool has_time = true;
};

struct RawLine {
  XlaLine line;
  int64_t timestamp_ns = 0;
  size_t first_event = 0;
};

// Texts are the plane's until they are used.
struct PlaneText {
  StringId text = 0;
  StringId kept = 0;  // the assembler's number for it; 0: not asked for yet
};

struct EventName {
  PlaneText full;
  PlaneText display;
  bool known = false;
  size_t first_stat = 0;
  size_t stats = 0;
  // The kind that the last event of that name was of: nearly always the next one's too.
  XlaWhat last;
  uint32_t last_number = UINT32_MAX;
};

struct StatName {
  PlaneText name;
  StatRole role = StatRole::kNone;
  bool known = false;
};

class SpaceReader {
 public:
  SpaceReader(ByteSource& source, const ImportOptions& options, OpTrace& trace,
              ImportReport& report)
      : wire_(source, options.progress), report_(report), assembler_(trace, report) {}

  Result<bool> Run() {
    while (wire_.Next()) {
      if (wire_.field() == 1 && wire_.Enter()) {
        ReadPlane();
        wire_.Leave();
        FinishPlane();
      } else if (wire_.field() == 4 && host_.empty()) {
        host_ = wire_.Text(kLongestName);
      }
    }
    if (wire_.error()) return *wire_.error();
    if (report_.rank.empty()) report_.rank = Printable(host_);
    ReportDefects();
    assembler_.Finish(start_, report_.rank);
    return true;
  }

 private:
  // ---- the plane, as it is read

  void ReadPlane() {
    name_.clear();
    plane_offset_ = wire_.offset();
    while (wire_.Next()) {
      switch (wire_.field()) {
        case 2:
          name_ = wire_.Text(kLongestName);
          break;
        case 3:
          if (wire_.Enter()) {
            ReadLine();
            wire_.Leave();
          }
          break;
        case 4:
          if (wire_.Enter()) {
            ReadEventName();
            wire_.Leave();
          }
          break;
        case 5:
          if (wire_.Enter()) {
            ReadStatName();
            wire_.Leave();
          }
          break;
        case 6:
          if (wire_.Enter()) {
            ReadStat(plane_stats_);
            wire_.Leave();
          }
          break;
        default:
          break;
      }
    }
  }

  void ReadLine() {
    RawLine line;
    line.first_event = events_.size();
    StringId name = 0;
    StringId display = 0;
    while (wire_.Next()) {
      switch (wire_.field()) {
        case 1:
          line.line.thread = wire_.Signed();
          break;
        case 2:
          name = texts_.Intern(wire_.Text(kLongestName));
          break;
        case 3:
          line.timestamp_ns = wire_.Signed();
          break;
        case 4: {
          const uint64_t offset = wire_.offset();
          if (wire_.Enter()) {
            ReadEvent(offset);
            wire_.Leave();
          }
          break;
        }
        case 11:
          display = texts_.Intern(wire_.Text(kLongestName));
          break;
        default:
          break;
      }
    }
    line.line.name = texts_.Text(display != 0 ? display : name);
    line.line.events = events_.size() - line.first_event;
    line.line.relative = line.timestamp_ns < kYear2000.value;
    lines_.push_back(std::move(line));
  }

  void ReadEvent(uint64_t offset) {
    RawEvent event;
    event.offset = offset;
    event.first_stat = stats_.size();
    while (wire_.Next()) {
      switch (wire_.field()) {
        case 1:
          event.metadata = wire_.Signed();
          break;
        case 2:
          event.offset_ps = wire_.Signed();
          break;
        case 3:
          event.duration_ps = wire_.Signed();
          break;
        case 4:
          if (wire_.Enter()) {
            ReadStat(stats_);
            wire_.Leave();
          }
          break;
        case 5:
          event.has_time = false;
          break;
        default:
          break;
      }
    }
    if (wire_.truncated()) {
      stats_.resize(event.first_stat);
    } else {
      events_.push_back(event);
    }
  }

  void ReadStat(std::vector<Stat>& stats) {
    Stat stat;
    while (wire_.Next()) {
      switch (wire_.field()) {
        case 1:
          stat.id = static_cast<uint32_t>(std::min<uint64_t>(wire_.Unsigned(), UINT32_MAX));
          break;
        case 3:
        case 4:
          stat.value = wire_.Unsigned();
          break;
        case 5:
          stat.form = Stat::Form::kText;
          stat.value = texts_.Intern(wire_.Text(kLongestName));
          break;
        case 6:
          if (name_ == kProgramsPlane && wire_.Enter()) {
            assembler_.programs().Read(wire_, program_name_);
            wire_.Leave();
          }
          break;
        case 7:
          stat.form = Stat::Form::kReference;
          stat.value = wire_.Unsigned();
          break;
        default:
          break;
      }
    }
    stats.push_back(stat);
  }

  // An entry of a map: its number, and the message.
  template <typename Read>
  void ReadEntry(Read&& read) {
    int64_t id = 0;
    while (wire_.Next()) {
      if (wire_.field() == 1) {
        id = wire_.Signed();
      } else if (wire_.field() == 2 && wire_.Enter()) {
        read(id);
        wire_.Leave();
      }
    }
  }

  void ReadEventName() {
    ReadEntry([&](int64_t id) {
      EventName read;
      read.known = true;
      read.first_stat = name_stats_.size();
      while (wire_.Next()) {
        if (wire_.field() == 1) {
          id = wire_.Signed();
        } else if (wire_.field() == 2) {
          program_name_ = wire_.Text(kLongestName);
          read.full.text = texts_.Intern(program_name_);
        } else if (wire_.field() == 4) {
          read.display.text = texts_.Intern(wire_.Text(kLongestName));
        } else if (wire_.field() == 5 && wire_.Enter()) {
          ReadStat(name_stats_);
          wire_.Leave();
        }
      }
      read.stats = name_stats_.size() - read.first_stat;
      // Half a name is none.
      if (!wire_.truncated()) event_names_[id] = read;
    });
  }

  void ReadStatName() {
    ReadEntry([&](int64_t id) {
      while (wire_.Next()) {
        if (wire_.field() == 1) {
          id = wire_.Signed();
        } else if (wire_.field() == 2) {
          const std::string_view name = wire_.Text(kLongestName);
          const StatRole role = RoleOf(name);
          // Half a name is none.
          if (!wire_.truncated()) stat_names_[id] = {{texts_.Intern(name), 0}, role, true};
        }
      }
    });
  }

  // ---- the plane, at its end

  void FinishPlane() {
    if (name_ == kEnvironmentPlane) FindStartTime();
    std::vector<XlaLine> lines;
    for (const RawLine& line : lines_) lines.push_back(line.line);
    uint32_t number = assembler_.AddPlane(name_, lines);
    device_plane_ = name_.find("/device:") != std::string::npos;
    for (size_t i = 0; i < lines_.size(); ++i, ++number) {
      const size_t end = i + 1 < lines_.size() ? lines_[i + 1].first_event : events_.size();
      for (size_t event = lines_[i].first_event; event < end; ++event) {
        AddEvent(event, lines_[i], number);
      }
    }
    // Planes differ in size by orders of magnitude: what a large one took is given back.
    lines_ = {};
    events_ = {};
    stats_ = {};
    name_stats_.clear();
    plane_stats_.clear();
    event_names_.Clear();
    stat_names_.Clear();
    texts_ = StringTable();
  }

  void FindStartTime() {
    for (const Stat& stat : plane_stats_) {
      const StatName* name = stat_names_.Find(stat.id);
      if (name == nullptr || name->role != StatRole::kStartTime) continue;
      const auto limit = static_cast<uint64_t>(kFarthestNs) * 3;
      if (stat.form != Stat::Form::kNumber || stat.value > limit) {
        report_.Count(NoteKind::kStartTimeNotUsed, plane_offset_);
      } else if (!start_) {
        start_ = Nanos{static_cast<int64_t>(stat.value)};
      } else if (start_->value != static_cast<int64_t>(stat.value)) {
        report_.Count(NoteKind::kStartTimeRepeated, plane_offset_);
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
    const StatName* name = stat_names_.Find(stat.id);
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
      return assembler_.strings().Intern(texts_.Text(static_cast<StringId>(stat.value)));
    }
    if (stat.form == Stat::Form::kNumber) return 0;
    StatName* text = stat_names_.Find(static_cast<int64_t>(stat.value));
    if (text == nullptr || !text->known) {
      said.unknown = true;
      return 0;
    }
    return Keep(text->name);
  }

  StringId Keep(PlaneText& text) {
    if (text.kept == 0) text.kept = assembler_.strings().Intern(texts_.Text(text.text));
    return text.kept;
  }

  int64_t NumberOf(const Stat& stat) const {
    if (stat.form == Stat::Form::kNumber) return static_cast<int64_t>(stat.value);
    if (stat.form == Stat::Form::kReference) return kNoXlaNumber;
    const auto number = ParseNumber(texts_.Text(static_cast<StringId>(stat.value)));
    return number && std::abs(*number) < 9e15 ? static_cast<int64_t>(*number) : kNoXlaNumber;
  }

  void AddEvent(size_t index, const RawLine& line, uint32_t number) {
    const RawEvent& raw = events_[index];
    EventName* name = event_names_.Find(raw.metadata);
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
    // A device's instructions have their whole text as name, and a short one to show.
    said.what.name = Keep(device_plane_ && name->display.text != 0 ? name->display : name->full);
    for (size_t i = 0; i < name->stats; ++i) Listen(name_stats_[name->first_stat + i], said);
    const size_t end = index + 1 < events_.size() ? events_[index + 1].first_stat : stats_.size();
    for (size_t i = raw.first_stat; i < end; ++i) Listen(stats_[i], said);
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

  // Starts and ends are rounded alike, so what nests still does.
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

  // Of the plane that is being read.
  std::string name_;
  std::string program_name_;
  uint64_t plane_offset_ = 0;
  bool device_plane_ = false;
  std::vector<RawLine> lines_;
  std::vector<RawEvent> events_;
  std::vector<Stat> stats_;
  std::vector<Stat> name_stats_;
  std::vector<Stat> plane_stats_;
  StringTable texts_;
  NumberedTable<EventName> event_names_;
  NumberedTable<StatName> stat_names_;
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

  Result<bool> Read(ByteSource& source, const ImportOptions& options, OpTrace& trace,
                    ImportReport& report) const override {
    return SpaceReader(source, options, trace, report).Run();
  }
};

}  // namespace

std::unique_ptr<Importer> MakeXPlaneImporter() { return std::make_unique<XPlaneImporter>(); }

}  // namespace beryl::importers
