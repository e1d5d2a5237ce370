// A plane of an XSpace as stored in the file.
//
// Names are stored separately: an event has the number of its XEventMetadata, an XStat the number
// of its XStatMetadata, and both tables follow after the lines. So the events of a plane are kept
// in short form until the plane ends.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/string_table.h"
#include "base/wire_reader.h"
#include "importers/hlo_table.h"
#include "importers/xla_events.h"

namespace beryl::importers {

// Longer names are cut: they are for people. XLA writes whole instructions as names.
inline constexpr size_t kLongestXPlaneName = 4096;
inline constexpr Nanos kYear2000{946'684'800'000'000'000};

// The meaning of a stat, by its name.
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

// A value as stored: a number, a text of the plane, or the number of a stat's name.
struct Stat {
  enum class Form : uint8_t { kNumber, kText, kReference };
  uint64_t value = 0;
  uint32_t id = 0;
  Form form = Form::kNumber;
};

// Maps numbers, nearly always small and dense, to values.
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

// An event of a plane that is still being read.
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
  StringId kept = 0;  // the assembler's number for it; 0: not requested yet
};

struct EventName {
  PlaneText full;
  PlaneText display;
  bool known = false;
  size_t first_stat = 0;
  size_t stats = 0;
  // The kind of the last event of that name: nearly always the next one's too.
  XlaWhat last;
  uint32_t last_number = UINT32_MAX;
};

struct StatName {
  PlaneText name;
  StatRole role = StatRole::kNone;
  bool known = false;
};

struct RawPlane {
  std::string name;
  uint64_t offset = 0;  // in the file
  std::vector<RawLine> lines;
  std::vector<RawEvent> events;
  std::vector<Stat> stats;  // of events
  std::vector<Stat> name_stats;
  std::vector<Stat> plane_stats;
  StringTable texts;
  NumberedTable<EventName> event_names;
  NumberedTable<StatName> stat_names;
};

// Reads a plane that `wire` has entered; programs in it go to `programs`.
class PlaneReader {
 public:
  PlaneReader(WireReader& wire, HloTable& programs, RawPlane& plane)
      : wire_(wire), programs_(programs), plane_(plane) {}
  void Read();

 private:
  template <typename Read>
  void Within(Read&& read) {
    if (!wire_.Enter()) return;
    read();
    wire_.Leave();
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
  void ReadLine();
  void ReadEvent(uint64_t offset);
  void ReadStat(std::vector<Stat>& stats);
  void ReadEventName();
  void ReadStatName();

  WireReader& wire_;
  HloTable& programs_;
  RawPlane& plane_;
  std::string program_name_;
};

}  // namespace beryl::importers
