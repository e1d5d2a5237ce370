// The trace in Chrome's form that JAX, and TensorFlow up to 2.12, write beside the XPlane file:
// `<host>.trace.json.gz`. It has the same events, in planes that are processes and lines that are
// threads, but no programs and no start time.
#include <functional>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "importers/chrome_events.h"
#include "importers/importer.h"
#include "importers/xla_events.h"
#include "importers/xla_names.h"

namespace beryl::importers {
namespace {

constexpr Nanos kYear2000{946'684'800'000'000'000};

// An event as read; string ids are the worker's.
struct Record {
  XlaEvent event;  // its line is the worker's number, and so is its `what`
  int64_t step = kNoXlaNumber;
};

struct Naming {
  uint32_t line;
  StringId name;
  bool process;  // else the line's own
};

struct LineKey {
  StringId pid;
  StringId tid;
};

struct Batch : ChromeBatch {
  std::vector<Record> records;
  std::vector<XlaWhat> new_whats;
  std::vector<LineKey> new_lines;
  std::vector<Naming> namings;
};

class Visitor : public ChromeVisitor<Batch> {
 public:
  bool Event(json::Value event, uint64_t offset) override {
    if (!event.IsObject()) return batch_->DropElement(offset);
    ChromeEvent read;
    Arguments arguments;
    const bool whole = ReadChromeEvent(event, read, [&](json::Key key, json::Value value) {
      ReadArgument(key, value, arguments);
    });
    if (!whole) return false;
    ++batch_->events;
    if (read.phase == 'X') {
      AddEvent(read, arguments, offset);
    } else if (read.phase == 'M') {
      batch_->notes.Count(NoteKind::kMetadata, offset);
      const bool process = read.name == "process_name";
      if (!process && read.name != "thread_name") return true;
      batch_->namings.push_back(
          {Line(read.pid, process ? kAbsent : read.tid), strings_.Intern(arguments.name), process});
    } else if (read.phase == 0 && read.name.empty() && read.pid.empty()) {
      // The list ends in an empty object, so that every event can be followed by a comma.
      batch_->notes.Count(NoteKind::kEmptyObject, offset);
    } else {
      SkipEvent(read, offset);
    }
    return true;
  }

 private:
  struct Arguments {
    std::string_view name;
    std::string_view long_name;
    std::string_view hlo_op;
    std::string_view hlo_module;
    std::string_view tf_op;
    std::string_view eager_op;
    int64_t program = kNoXlaNumber;
    int64_t correlation = kNoXlaNumber;
    int64_t group = kNoXlaNumber;
    int64_t step = kNoXlaNumber;
    bool is_function = false;
  };

  static void ReadArgument(json::Key key, json::Value value, Arguments& arguments) {
    if (key == "name") {
      arguments.name = value.String().value_or(kAbsent);
    } else if (key == "long_name") {
      arguments.long_name = value.String().value_or(kAbsent);
    } else if (key == "hlo_op") {
      arguments.hlo_op = value.String().value_or(kAbsent);
    } else if (key == "hlo_module") {
      arguments.hlo_module = value.String().value_or(kAbsent);
    } else if (key == "tf_op" || key == "tf_op_name") {
      arguments.tf_op = value.String().value_or(kAbsent);
    } else if (key == "eager_op") {
      arguments.eager_op = value.String().value_or(kAbsent);
    } else if (key == "is_func") {
      arguments.is_function = value.Integer().value_or(0) != 0;
    } else if (key == "program_id") {
      arguments.program = value.Integer().value_or(kNoXlaNumber);
    } else if (key == "correlation_id") {
      arguments.correlation = value.Integer().value_or(kNoXlaNumber);
    } else if (key == "group_id") {
      arguments.group = value.Integer().value_or(kNoXlaNumber);
    } else if (key == "step_num") {
      arguments.step = value.Integer().value_or(kNoXlaNumber);
    }
  }

  void AddEvent(const ChromeEvent& read, const Arguments& arguments, uint64_t offset) {
    const auto interval = read.times.Get(offset, batch_->notes);
    if (!interval) return;
    if (read.name.empty() && arguments.long_name.empty()) {
      batch_->notes.Count(NoteKind::kNoName, offset);
      return;
    }
    // On the host, the full name shows whether an event is an operation. For an instruction on a
    // device, the full name is its text, and the short one its name.
    const bool full = read.name.empty() || ParseTensorFlowEvent(arguments.long_name);
    XlaWhat what;
    what.name = strings_.Intern(full ? arguments.long_name : read.name);
    what.hlo_op = Optional(arguments.hlo_op);
    what.hlo_module = Optional(arguments.hlo_module);
    what.tf_op = Optional(arguments.tf_op);
    what.eager_op = Optional(arguments.eager_op);
    what.program = arguments.program;
    what.is_function = arguments.is_function;
    what.calls_device = arguments.correlation != kNoXlaNumber;
    Record record;
    record.event = {interval->start, interval->end,         Line(read.pid, read.tid),
                    Number(what),    arguments.correlation, arguments.group,
                    offset};
    record.step = arguments.step;
    batch_->records.push_back(record);
  }

  StringId Optional(std::string_view text) { return text.empty() ? 0 : strings_.Intern(text); }

  uint32_t Number(const XlaWhat& what) {
    // Nearly every name has one meaning.
    if (what.name >= known_.size()) known_.resize(size_t{what.name} * 2 + 64);
    Known& known = known_[what.name];
    if (known.number == UINT32_MAX || !(known.what == what)) {
      auto [place, is_new] = numbers_.try_emplace(what, static_cast<uint32_t>(numbers_.size()));
      if (is_new) batch_->new_whats.push_back(what);
      known = {what, place->second};
    }
    return known.number;
  }

  uint32_t Line(std::string_view pid, std::string_view tid) {
    const uint64_t key = uint64_t{strings_.Intern(pid)} << 32 | strings_.Intern(tid);
    if (key == last_key_ && !lines_.empty()) return last_line_;
    auto [place, is_new] = lines_.try_emplace(key, static_cast<uint32_t>(lines_.size()));
    if (is_new) {
      batch_->new_lines.push_back(
          {static_cast<StringId>(key >> 32), static_cast<StringId>(key & UINT32_MAX)});
    }
    last_key_ = key;
    return last_line_ = place->second;
  }

  struct Known {
    XlaWhat what;
    uint32_t number = UINT32_MAX;
  };
  std::vector<Known> known_;
  std::unordered_map<XlaWhat, uint32_t, XlaWhatHash> numbers_;
  std::unordered_map<uint64_t, uint32_t> lines_;
  uint64_t last_key_ = 0;
  uint32_t last_line_ = 0;
};

// Puts the batches together; names of planes and lines may come after their events.
class Collector {
 public:
  Collector(OpTrace& trace, ImportReport& report) : report_(report), assembler_(trace, report) {}

  void Commit(Batch& batch, size_t worker, bool keep) {
    Worker& from = OfWorker(workers_, worker);
    from.strings.Add(batch.new_strings, assembler_.strings());
    for (XlaWhat what : batch.new_whats) {
      for (StringId* id :
           {&what.name, &what.hlo_op, &what.hlo_module, &what.tf_op, &what.eager_op}) {
        *id = from.strings[*id];
      }
      from.whats.push_back(what);
    }
    for (const LineKey& key : batch.new_lines) {
      from.lines.push_back(LineNumber(from.strings[key.pid], from.strings[key.tid]));
    }
    if (!keep) return;
    batch.BookIn(report_);
    report_.events -= batch.records.size();  // those are counted when they are added
    for (const Naming& naming : batch.namings) {
      const Line& line = lines_[from.lines[naming.line]];
      Process& process = processes_[line.process];
      std::string& name = naming.process ? process.name : lines_[from.lines[naming.line]].line.name;
      if (name.empty()) name = assembler_.strings().Text(from.strings[naming.name]);
      process.named = process.named || naming.process;
    }
    for (Record record : batch.records) {
      record.event.line = from.lines[record.event.line];
      record.event.what = Global(from, record.event.what);
      Line& line = lines_[record.event.line];
      ++line.line.events;
      line.line.relative = record.event.start < kYear2000;
      records_.push_back(record);
    }
  }

  void Finish(const std::string& rank) {
    std::vector<std::vector<uint32_t>> lines_of_process(processes_.size());
    for (uint32_t i = 0; i < lines_.size(); ++i) lines_of_process[lines_[i].process].push_back(i);
    std::vector<uint32_t> number(lines_.size());
    for (size_t i = 0; i < processes_.size(); ++i) {
      std::vector<XlaLine> lines;
      for (const uint32_t line : lines_of_process[i]) lines.push_back(lines_[line].line);
      uint32_t next = assembler_.AddPlane(processes_[i].name, lines);
      for (const uint32_t line : lines_of_process[i]) number[line] = next++;
    }
    for (Record& record : records_) {
      const Process& process = processes_[lines_[record.event.line].process];
      if (!process.named) {
        assembler_.Leave(NoteKind::kProcessNotNamed, record.event.offset);
        continue;
      }
      record.event.line = number[record.event.line];
      if (record.step != kNoXlaNumber && IsHostPlane(process.name)) {
        assembler_.AddStep(record.event, record.step);
      } else {
        assembler_.Add(record.event);
      }
    }
    records_ = {};
    assembler_.Finish(std::nullopt, rank);
  }

 private:
  struct Worker {
    StringRemap strings;
    std::vector<XlaWhat> whats;
    std::vector<uint32_t> numbers;  // of `whats`, for the assembler; requested on first use
    std::vector<uint32_t> lines;
  };
  struct Line {
    XlaLine line;
    uint32_t process = 0;
  };
  struct Process {
    std::string name;
    bool named = false;
  };

  uint32_t Global(Worker& from, uint32_t what) {
    if (what >= from.numbers.size()) from.numbers.resize(from.whats.size(), UINT32_MAX);
    uint32_t& number = from.numbers[what];
    if (number == UINT32_MAX) number = assembler_.WhatNumber(from.whats[what]);
    return number;
  }

  uint32_t LineNumber(StringId pid, StringId tid) {
    auto [line, is_new] = numbers_.try_emplace({pid, tid}, static_cast<uint32_t>(lines_.size()));
    if (is_new) {
      auto [process, new_process] =
          processes_of_pid_.try_emplace(pid, static_cast<uint32_t>(processes_.size()));
      if (new_process) processes_.emplace_back();
      Line added;
      added.process = process->second;
      if (tid != 0) added.line.thread = tid;
      lines_.push_back(std::move(added));
    }
    return line->second;
  }

  ImportReport& report_;
  XlaAssembler assembler_;
  std::vector<Worker> workers_;
  std::vector<Line> lines_;
  std::vector<Process> processes_;
  std::map<std::pair<StringId, StringId>, uint32_t> numbers_;
  std::unordered_map<StringId, uint32_t> processes_of_pid_;
  std::vector<Record> records_;
};

class XlaTraceImporter : public Importer {
 public:
  FormatDescriptor Descriptor() const override {
    return {"xla-trace", "trace JSON of JAX, XLA and TensorFlow 2 (.trace.json.gz)",
            "microseconds since the start of the profile"};
  }

  int Sniff(std::string_view text) const override {
    if (!LooksLikeEvents(text)) return 0;
    auto has = [&](std::string_view part) { return text.find(part) != std::string_view::npos; };
    // In a timeline, a word follows the device: `/device:CPU:0 Compute`.
    if (has("\"/host:CPU\"")) return 94;
    if (has("\"/device:") && !has(" Compute\"")) return 92;
    return 0;
  }

  Status Read(ByteSource& source, const ImportOptions& options, OpTrace& trace,
              ImportReport& report) const override {
    Collector collector(trace, report);
    TRY(WalkChromeEvents<Visitor, Batch>(source, options, report,
                                         std::bind_front(&Collector::Commit, &collector)));
    collector.Finish(report.rank);
    return {};
  }
};

}  // namespace

std::unique_ptr<Importer> MakeXlaTraceImporter() { return std::make_unique<XlaTraceImporter>(); }

}  // namespace beryl::importers
