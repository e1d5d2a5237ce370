// Shared by the formats written as Chrome trace events: times in their various spellings, counted
// notes, and names interned by several workers.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/event_stream.h"
#include "base/json.h"
#include "base/string_table.h"
#include "base/text.h"
#include "importers/importers.h"
#include "types/op_trace.h"

namespace beryl::importers {

// For a missing text: empty, but unlike a default view not null.
// NOLINTNEXTLINE(readability-redundant-string-init): for the pointer
inline constexpr std::string_view kAbsent = "";

// The letter of `ph`, or '?' if it is not one letter.
inline char PhaseLetter(json::Value value) {
  const std::string_view token = value.Token();
  return token.size() == 3 && token.front() == '"' ? token[1] : '?';
}

// The content of a string token, escapes left as they are; empty for anything else.
inline std::string_view Unquoted(std::string_view token) {
  return token.size() >= 2 && token.front() == '"' ? token.substr(1, token.size() - 2)
                                                   : std::string_view();
}

// The notes of one batch, by kind.
class NoteCounter {
 public:
  void Count(NoteKind kind, uint64_t offset) {
    for (Entry& entry : entries_) {
      if (entry.kind == kind) {
        ++entry.count;
        return;
      }
    }
    entries_.push_back({kind, 1, offset});
  }
  void AddTo(ImportReport& report) const {
    for (const Entry& entry : entries_) {
      report.Count(entry.kind, entry.first_offset, entry.count);
    }
  }

 private:
  struct Entry {
    NoteKind kind;
    uint64_t count;
    uint64_t first_offset;
  };
  std::vector<Entry> entries_;
};

// The interval of an event, read from `ts` and `dur`.
class EventTimes {
 public:
  void SetStart(json::Value value) { Set(value, start_, start_state_); }
  void SetDuration(json::Value value) { Set(value, duration_, duration_state_); }

  // The interval, or nothing and a note with the reason.
  struct Interval {
    Nanos start;
    Nanos end;
  };
  std::optional<Interval> Get(uint64_t offset, NoteCounter& notes) const;
  // The start of an event that has no duration.
  std::optional<Nanos> Start() const {
    if (start_state_ == State::kNumber || start_state_ == State::kString) return start_;
    return std::nullopt;
  }

 private:
  enum class State : uint8_t { kMissing, kNumber, kString, kBad };

  static void Set(json::Value value, Nanos& time, State& state) {
    std::string_view token = value.Token();
    state = State::kNumber;
    if (!token.empty() && token.front() == '"') {
      token = token.substr(1, token.size() - 2);
      state = State::kString;
    }
    const auto parsed = ParseMicros(token);
    if (parsed) {
      time = *parsed;
    } else {
      state = State::kBad;
    }
  }

  Nanos start_;
  Nanos duration_;
  State start_state_ = State::kMissing;
  State duration_state_ = State::kMissing;
};

// The members that all formats read. Views are valid until the visitor returns.
struct ChromeEvent {
  char phase = 0;  // 0: missing
  std::string_view name;
  std::string_view cat;
  std::string_view pid = kAbsent;
  std::string_view tid = kAbsent;
  std::string_view id;  // of a flow
  EventTimes times;
};

// Walks an event; passes its `args` to visit_argument(Key, Value). False if the text is broken.
template <typename VisitArgument>
bool ReadChromeEvent(json::Value event, ChromeEvent& read, VisitArgument&& visit_argument) {
  bool args_ok = true;
  const bool ok = event.ForEachMember([&](json::Key key, json::Value value) {
    if (key == "ph") {
      read.phase = PhaseLetter(value);
    } else if (key == "ts") {
      read.times.SetStart(value);
    } else if (key == "dur") {
      read.times.SetDuration(value);
    } else if (key == "pid") {
      read.pid = value.Token();
    } else if (key == "tid") {
      read.tid = value.Token();
    } else if (key == "name") {
      read.name = value.String().value_or(kAbsent);
    } else if (key == "cat") {
      read.cat = Unquoted(value.Token());
    } else if (key == "args" && value.IsObject()) {
      args_ok = value.ForEachMember(visit_argument);
    } else if (key == "id") {
      read.id = value.Token();
    }
  });
  return ok && args_ok;
}

// Common to the batches of all formats.
struct ChromeBatch : EventBatch {
  std::vector<std::string_view> new_strings;
  uint64_t events = 0;
  NoteCounter notes;

  // Counts an element that is not an event. Returns true: the visitor is done with it.
  bool DropElement(uint64_t offset) {
    ++events;
    notes.Count(NoteKind::kNotObject, offset);
    return true;
  }
  // Adds the counts of a batch that is kept.
  void BookIn(ImportReport& report) const {
    report.events += events;
    notes.AddTo(report);
  }
};

// One worker's strings. Numbers are the worker's own; each batch brings its new texts along, so
// that the receiver need not touch the worker's table.
class WorkerStrings {
 public:
  StringId Intern(std::string_view text) { return table_.Intern(text); }
  std::string_view Text(StringId id) const { return table_.Text(id); }
  // The texts added since the last call.
  std::vector<std::string_view> TakeNew();

 private:
  StringTable table_;
  size_t published_ = 0;
};

// Common to the visitors of all formats. `Batch` is a ChromeBatch with records.
template <typename Batch>
class ChromeVisitor : public EventVisitor {
 public:
  void Member(json::Key /*key*/, json::Value /*value*/) override {}

  std::unique_ptr<EventBatch> Take() override {
    batch_->new_strings = strings_.TakeNew();
    auto taken = std::exchange(batch_, std::make_unique<Batch>());
    batch_->records.reserve(taken->records.size() + 64);
    return taken;
  }

 protected:
  // Counts an event of a phase that the format does not use.
  void SkipEvent(const ChromeEvent& read, uint64_t offset) {
    batch_->notes.Count(read.phase == 0 ? NoteKind::kMissingPh : NoteKind::kOtherEvent, offset);
  }

  std::unique_ptr<Batch> batch_ = std::make_unique<Batch>();
  WorkerStrings strings_;
};

// What a receiver keeps for each worker, by its number.
template <typename Worker>
Worker& OfWorker(std::vector<Worker>& workers, size_t worker) {
  if (workers.size() <= worker) workers.resize(worker + 1);
  return workers[worker];
}

// The receiver's side: maps a worker's numbers to the trace's.
class StringRemap {
 public:
  void Add(const std::vector<std::string_view>& texts, StringTable& table) {
    for (const std::string_view text : texts) ids_.push_back(table.Intern(text));
  }
  StringId operator[](StringId worker_id) const { return ids_[worker_id]; }

 private:
  std::vector<StringId> ids_;
};

// Adds notes about the stream itself.
void ReportStreamEnd(const EventStreamEnd& end, ImportReport& report);

// Walks a whole trace with one Visitor per worker. Calls commit(Batch&, worker, keep) like
// WalkEvents, and adds notes about the stream itself.
template <typename Visitor, typename Batch, typename Commit>
Status WalkChromeEvents(ByteSource& source, const ImportOptions& options, ImportReport& report,
                        Commit&& commit) {
  EventStreamOptions stream;
  stream.threads = options.threads;
  stream.progress = options.progress;
  const auto end = TRY(WalkEvents(
      source, stream, [](int) { return std::make_unique<Visitor>(); },
      [&](std::unique_ptr<EventBatch> taken, int worker, bool keep) {
        commit(static_cast<Batch&>(*taken), static_cast<size_t>(worker), keep);
      }));
  ReportStreamEnd(end, report);
  return {};
}

// The approximate number of batches of a file, to reserve room: growing step by step would touch
// twice the memory.
inline size_t BatchesOf(const ByteSource& source) {
  return source.file_size() / EventStreamOptions().chunk_bytes + 1;
}

// Whether `text` looks like the beginning of a JSON trace.
bool LooksLikeEvents(std::string_view text);

}  // namespace beryl::importers
