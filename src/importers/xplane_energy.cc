// Writes energy into a copy of an XPlane file: an XStat on each event, in every plane with a name
// for it. A message that grows changes the length in front of it, and of all messages around it, so
// the file is read once to plan the changes and once to copy it.
#include <algorithm>

#include <fmt/format.h>

#include "base/wire_reader.h"
#include "base/wire_writer.h"
#include "importers/importers.h"

namespace beryl::importers {
namespace {

// What XProf shows as a column of its own.
constexpr std::string_view kStatName = "vdd_energy_j";

// Field numbers of xplane.proto.
constexpr uint32_t kPlanes = 1;
constexpr uint32_t kPlaneLines = 3;
constexpr uint32_t kPlaneStatNames = 5;
constexpr uint32_t kLineEvents = 4;
constexpr uint32_t kEventStats = 4;

// A message inside another: where its field starts, and its own bytes.
struct Place {
  uint64_t field = 0;
  uint64_t start = 0;
  uint64_t end = 0;
};

struct PlannedEvent {
  Place place;
  double energy_j;
};
struct PlannedLine {
  Place place;
  size_t first_event;  // index into Planner::events_
};

std::string Head(uint32_t field, uint64_t size) {
  std::string head;
  PutVarint(head, (field << 3) | 2);
  PutVarint(head, size);
  return head;
}

Error Damaged(std::string_view file) {
  return InvalidError(
      fmt::format("{}: the file is damaged, so a copy with energy in it would be too", file));
}

bool IsDamaged(const ImportReport& report) {
  return std::any_of(report.notes.begin(), report.notes.end(), [](const Note& note) {
    return note.kind == NoteKind::kMessageBroken || note.kind == NoteKind::kFileCutShort;
  });
}

class Planner {
 public:
  Planner(ByteSource& source, std::vector<EventEnergy> energies, std::string_view description)
      : name_(source.name()),
        wire_(source),
        energies_(std::move(energies)),
        description_(description) {
    std::sort(energies_.begin(), energies_.end(),
              [](const EventEnergy& a, const EventEnergy& b) { return a.offset < b.offset; });
  }

  Result<Splice> Plan() {
    while (wire_.Next()) {
      if (wire_.field() == kPlanes) TRY(AddPlane());
    }
    if (wire_.error()) return *wire_.error();
    if (wire_.truncated() || !wire_.defects().empty() || next_ != energies_.size()) {
      return Damaged(name_);
    }
    return std::move(splice_);
  }

 private:
  // Walks the message of the current field: visit() for each field in it.
  template <typename Visit>
  Result<Place> Walk(Visit&& visit) {
    Place place{wire_.offset(), wire_.position(), 0};
    if (!wire_.Enter()) return Damaged(name_);
    while (wire_.Next()) TRY(visit());
    place.end = wire_.position();
    wire_.Leave();
    return place;
  }

  Status AddPlane() {
    lines_.clear();
    events_.clear();
    highest_stat_ = 0;
    const Place plane = TRY(Walk([&]() -> Status {
      if (wire_.field() == kPlaneLines) return AddLine();
      if (wire_.field() == kPlaneStatNames) return AddStatName();
      return {};
    }));
    if (events_.empty()) return {};
    Write(plane);
    return {};
  }

  Status AddStatName() {
    const auto check = [&]() -> Status {
      if (wire_.field() != 2 || wire_.Text(kStatName.size() + 1) != kStatName) return {};
      return InvalidError(
          fmt::format("{}: it has {} already; take the file without energy", name_, kStatName));
    };
    const auto add = [&]() -> Status {
      if (wire_.field() == 1) highest_stat_ = std::max(highest_stat_, wire_.Signed());
      if (wire_.field() == 2) TRY(Walk(check));
      return {};
    };
    TRY(Walk(add));
    return {};
  }

  Status AddLine() {
    const size_t first = events_.size();
    const auto add = [&]() -> Status {
      if (wire_.field() != kLineEvents) return {};
      if (next_ == energies_.size() || energies_[next_].offset != wire_.offset()) return {};
      const Place event = TRY(Walk([]() -> Status { return {}; }));
      events_.push_back({event, energies_[next_++].energy_j});
      return {};
    };
    const Place line = TRY(Walk(add));
    if (events_.size() > first) lines_.push_back({line, first});
    return {};
  }

  std::string StatOf(const PlannedEvent& event) const {
    WireWriter stat;
    stat.Integer(1, static_cast<uint64_t>(highest_stat_ + 1));
    stat.Double(2, event.energy_j);
    std::string field;
    PutBytes(field, kEventStats, stat.bytes());
    return field;
  }

  std::string StatName() const {
    WireWriter metadata;
    metadata.Integer(1, static_cast<uint64_t>(highest_stat_ + 1));
    metadata.Bytes(2, kStatName);
    metadata.Bytes(3, description_);
    WireWriter entry;
    entry.Integer(1, static_cast<uint64_t>(highest_stat_ + 1));
    entry.Message(2, metadata);
    std::string field;
    PutBytes(field, kPlaneStatNames, entry.bytes());
    return field;
  }

  // The size of a message's field, with `more` bytes in the message.
  static uint64_t Grown(uint32_t field, const Place& place, uint64_t more) {
    const uint64_t size = place.end - place.start + more;
    return Head(field, size).size() + size;
  }

  void WriteHead(uint32_t field, const Place& place, uint64_t more) {
    splice_.Replace(place.field, place.start - place.field,
                    Head(field, place.end - place.start + more));
  }

  // All stats of a plane have the same size.
  void Write(const Place& plane) {
    const uint64_t stat = StatOf(events_.front()).size();
    const std::string stat_name = StatName();
    std::vector<uint64_t> more_of_line(lines_.size(), 0);
    uint64_t more = stat_name.size();
    for (size_t line = 0; line < lines_.size(); ++line) {
      for (size_t event = lines_[line].first_event; event < EndOf(line); ++event) {
        const Place& place = events_[event].place;
        more_of_line[line] += Grown(kLineEvents, place, stat) - (place.end - place.field);
      }
      const Place& place = lines_[line].place;
      more += Grown(kPlaneLines, place, more_of_line[line]) - (place.end - place.field);
    }
    WriteHead(kPlanes, plane, more);
    for (size_t line = 0; line < lines_.size(); ++line) {
      WriteHead(kPlaneLines, lines_[line].place, more_of_line[line]);
      for (size_t event = lines_[line].first_event; event < EndOf(line); ++event) {
        WriteHead(kLineEvents, events_[event].place, stat);
        splice_.Replace(events_[event].place.end, 0, StatOf(events_[event]));
      }
    }
    splice_.Replace(plane.end, 0, stat_name);
  }

  size_t EndOf(size_t line) const {
    return line + 1 < lines_.size() ? lines_[line + 1].first_event : events_.size();
  }

  std::string name_;
  WireReader wire_;
  std::vector<EventEnergy> energies_;
  std::string_view description_;
  size_t next_ = 0;  // of energies_
  // Of the plane that is being read.
  std::vector<PlannedLine> lines_;
  std::vector<PlannedEvent> events_;
  int64_t highest_stat_ = 0;
  Splice splice_;
};

}  // namespace

Result<Splice> PlanXPlaneEnergy(ByteSource& source, const ImportReport& report,
                                std::vector<EventEnergy> energies, std::string_view description) {
  if (IsDamaged(report)) return Damaged(source.name());
  return Planner(source, std::move(energies), description).Plan();
}

}  // namespace beryl::importers
