// TensorFlow's timeline: what tensorflow.python.client.timeline writes from a step's RunMetadata.
//
// Each device is a process, named like `/job:localhost/replica:0/task:0/device:CPU:0 Compute`. With
// a GPU there are also
// `/device:GPU:0/stream:all Compute`, `.../stream:7 Compute` and `.../memcpy Compute`: what the GPU
// itself ran, twice over.
#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "importers/chrome_events.h"
#include "importers/importer.h"
#include "importers/tensorflow_names.h"
#include "types/op_pile.h"

namespace beryl::importers {
namespace {

struct Record {
  Nanos start;
  Nanos end;
  uint32_t kind;     // the worker's number
  uint32_t process;  // the worker's number
};

// The inputs of a kind, by the name of their producer.
struct Input {
  uint32_t kind;  // the worker's number
  StringId from;
};

// The time and place of an event: enough to find the flow that ends at it.
struct Spot {
  uint32_t process = ~uint32_t{0};
  uint64_t thread = 0;
  Nanos start;
  bool operator==(const Spot&) const = default;
};

// The end of a flow that leads into the previous event.
struct FlowEnd {
  Spot spot;
  StringId from;
  uint32_t kind;  // kNoKind: the event is in the previous batch
};

constexpr uint32_t kNoKind = ~uint32_t{0};

struct ProcessName {
  uint32_t process;
  StringId name;
  uint64_t offset;
};

struct Batch : ChromeBatch {
  std::vector<Record> records;
  std::vector<std::pair<StringId, StringId>> new_kinds;      // name, type
  std::vector<std::pair<StringId, uint64_t>> new_processes;  // pid as text, first offset
  std::vector<ProcessName> process_names;
  std::vector<Input> inputs;
  std::vector<FlowEnd> flow_ends;
  Spot last_spot;  // of the batch's last operation
  uint32_t last_kind = kNoKind;
};

class Visitor : public ChromeVisitor<Batch> {
 public:
  bool Event(json::Value event, uint64_t offset) override {
    if (!event.IsObject()) return batch_->DropElement(offset);
    ChromeEvent read;
    std::string_view name;
    std::string_view type;
    inputs_.clear();
    const bool whole = ReadChromeEvent(event, read, [&](json::Key arg, json::Value content) {
      if (arg == "name") {
        name = content.String().value_or(kAbsent);
      } else if (arg == "op") {
        type = content.String().value_or(kAbsent);
      } else if (arg.StartsWith("input")) {
        inputs_.push_back(Unquoted(content.Token()));
      }
    });
    if (!whole) return false;
    ++batch_->events;
    const char phase = read.phase;
    if (phase == 'X') {
      AddOperation(read, name, type, offset);
    } else if (phase == 'M') {
      AddMetadata(read, name, offset);
    } else if (phase == 's' || phase == 't' || phase == 'f') {
      batch_->notes.Count(NoteKind::kDataflowEdge, offset);
      if (phase == 't') AddFlowEnd(read, offset);
    } else if (phase == 'N' || phase == 'O' || phase == 'D' || phase == 'C') {
      batch_->notes.Count(NoteKind::kTensorLifeTime, offset);
    } else {
      SkipEvent(read, offset);
    }
    return true;
  }

 private:
  void AddOperation(const ChromeEvent& read, std::string_view name, std::string_view type,
                    uint64_t offset) {
    const auto interval = read.times.Get(offset, batch_->notes);
    if (!interval) return;
    if (name.empty()) {
      name = read.name;
      if (name.empty()) {
        batch_->notes.Count(NoteKind::kNoName, offset);
        return;
      }
      batch_->notes.Count(NoteKind::kNoArgsName, offset);
    }
    if (type.empty()) type = read.name;
    const uint32_t kind = Kind(name, type);
    const uint32_t process = Process(read.pid, offset);
    batch_->records.push_back({interval->start, interval->end, kind, process});
    if (!inputs_.empty() && !has_inputs_[kind]) AddInputs(kind);
    if (!saw_inputs_) {
      batch_->last_spot = {process, HashBytes(read.tid), interval->start};
      batch_->last_kind = kind;
    }
  }

  // A kind has the same inputs every time, so they are read once.
  void AddInputs(uint32_t kind) {
    saw_inputs_ = true;
    has_inputs_[kind] = true;
    for (std::string_view input : inputs_) {
      // `^name` is only a control dependency; `name:1` is the second output of `name`.
      if (input.empty() || input.front() == '^') continue;
      const size_t colon = input.rfind(':');
      batch_->inputs.push_back({kind, strings_.Intern(input.substr(0, colon))});
    }
  }

  // Flows are only drawn between lanes: used if a trace has no inputs at all.
  void AddFlowEnd(const ChromeEvent& read, uint64_t offset) {
    const auto start = read.times.Start();
    if (saw_inputs_ || !start) return;
    const Spot spot{Process(read.pid, offset), HashBytes(read.tid), *start};
    const bool before = batch_->last_kind == kNoKind;
    if (!before && spot != batch_->last_spot) return;
    batch_->flow_ends.push_back({spot, strings_.Intern(read.name), batch_->last_kind});
  }

  void AddMetadata(const ChromeEvent& read, std::string_view name, uint64_t offset) {
    batch_->notes.Count(NoteKind::kMetadata, offset);
    if (read.name != "process_name") return;
    batch_->process_names.push_back({Process(read.pid, offset), strings_.Intern(name), offset});
  }

  uint32_t Kind(std::string_view name, std::string_view type) {
    const StringId name_id = strings_.Intern(name);
    // Nearly every name has one type: one array lookup, and no map.
    if (name_id >= kind_of_name_.size()) kind_of_name_.resize(size_t{name_id} + 64);
    const KnownKind known = kind_of_name_[name_id];
    if (known.kind != kNoKind && strings_.Text(known.type) == type) return known.kind;
    const StringId type_id = strings_.Intern(type);
    uint32_t kind = kind_count_;
    if (known.kind != kNoKind) {
      kind = further_kinds_.try_emplace({name_id, type_id}, kind).first->second;
    } else {
      kind_of_name_[name_id] = {type_id, kind};
    }
    if (kind == kind_count_) {
      ++kind_count_;
      has_inputs_.push_back(false);
      batch_->new_kinds.emplace_back(name_id, type_id);
    }
    return kind;
  }

  uint32_t Process(std::string_view pid, uint64_t offset) {
    // There are few processes with short numbers: eight bytes distinguish nearly all of them.
    uint64_t short_pid = 0;
    if (pid.size() <= sizeof short_pid) {
      std::memcpy(&short_pid, pid.data(), pid.size());
      for (const auto& [known, process] : short_pids_) {
        if (known == short_pid) return process;
      }
    }
    const StringId id = strings_.Intern(pid);
    auto [place, is_new] = processes_.try_emplace(id, process_count_);
    if (is_new) {
      ++process_count_;
      batch_->new_processes.emplace_back(id, offset);
    }
    if (pid.size() <= sizeof short_pid && short_pids_.size() < 16) {
      short_pids_.emplace_back(short_pid, place->second);
    }
    return place->second;
  }

  struct KnownKind {
    StringId type = 0;
    uint32_t kind = kNoKind;
  };
  std::vector<KnownKind> kind_of_name_;                              // the first
  std::map<std::pair<StringId, StringId>, uint32_t> further_kinds_;  // by name and type
  uint32_t kind_count_ = 0;
  std::vector<std::string_view> inputs_;  // of the event that is being read
  std::vector<bool> has_inputs_;          // by kind
  bool saw_inputs_ = false;
  std::unordered_map<StringId, uint32_t> processes_;
  uint32_t process_count_ = 0;
  std::vector<std::pair<uint64_t, uint32_t>> short_pids_;
};

// A process of the file.
struct Process {
  std::string name;
  bool named = false;
  uint64_t first_offset = 0;
  uint64_t operations = 0;
};

// Combines the batches and, at the end, puts operations on devices.
class Assembler {
 public:
  // `chunks`: the approximate number of batches to come, estimated from the size of the file.
  Assembler(OpTrace& trace, ImportReport& report, size_t chunks)
      : trace_(trace),
        report_(report),
        chunks_(chunks),
        first_kind_(trace.kinds.size()),
        rank_(trace.RankNumber(report.rank)) {}

  void Commit(Batch& batch, size_t worker, bool keep) {
    Worker& from = OfWorker(workers_, worker);
    from.strings.Add(batch.new_strings, trace_.strings);
    for (const auto& [name, type] : batch.new_kinds) {
      from.kinds.push_back(Kind(from.strings[name], from.strings[type]));
    }
    for (const auto& [pid, offset] : batch.new_processes) {
      from.processes.push_back(ProcessNumber(from.strings[pid], offset));
    }
    // A worker passes on a kind's inputs once, even in a discarded batch.
    for (const Input& input : batch.inputs) {
      inputs_.push_back({from.strings[input.from], from.kinds[input.kind]});
    }
    if (!keep) {
      threw_away_ = true;
      return;
    }
    batch.BookIn(report_);
    AddFlows(batch, from);
    for (const ProcessName& name : batch.process_names) {
      NameProcess(from.processes[name.process], trace_.strings.Text(from.strings[name.name]),
                  name.offset);
    }
    if (ops_.empty()) ops_.Expect(batch.records.size() * chunks_);
    for (const Record& record : batch.records) {
      const uint16_t process = from.processes[record.process];
      ++processes_[process].operations;
      ops_.Add({record.start, record.end, from.kinds[record.kind], kNoLane, kNoStep, process});
    }
  }

  void Finish() {
    const std::vector<uint16_t> devices = PlaceProcesses();
    AddDataflow();
    // Leaves out what is not on a device; the reasons were counted by process.
    std::vector<uint32_t> numbers(trace_.kinds.size(), kNoKind);
    bool dropped = false;
    ops_.ForEach([&](Op& op) {
      const bool stays = devices[op.device] != kNoDevice;
      if (stays) numbers[op.kind] = op.kind;
      dropped = dropped || !stays;
      return stays;
    });
    if (dropped || threw_away_) ForgetUnusedKinds(numbers);
    ops_.MoveTo(trace_, [&](Op& op) {
      op.device = devices[op.device];
      op.kind = op.device == kNoDevice ? op.kind : numbers[op.kind];
      return op.device != kNoDevice;
    });
  }

 private:
  static constexpr uint16_t kNoDevice = 0xFFFF;
  static constexpr size_t kMostProcesses = 0xFFFF;

  struct Worker {
    StringRemap strings;
    std::vector<uint32_t> kinds;
    std::vector<uint16_t> processes;
  };

  uint32_t Kind(StringId name, StringId type) {
    if (name >= kind_of_name_.size()) kind_of_name_.resize(trace_.strings.size(), kNoKind);
    const uint32_t known = kind_of_name_[name];
    if (known != kNoKind && trace_.kinds[known].type == type) return known;
    const auto next = static_cast<uint32_t>(trace_.kinds.size());
    if (known == kNoKind) {
      kind_of_name_[name] = next;
    } else {
      const auto [place, is_new] = further_kinds_.try_emplace({name, type}, next);
      if (!is_new) return place->second;
    }
    trace_.kinds.push_back(MakeTensorFlowKind(trace_, name, type));
    trace_.kinds.back().rank = rank_;
    return next;
  }

  // Calls visit(kind) for those with that name.
  template <typename Visit>
  void ForEachKindOf(StringId name, Visit&& visit) const {
    if (name >= kind_of_name_.size() || kind_of_name_[name] == kNoKind) return;
    visit(kind_of_name_[name]);
    for (auto kind = further_kinds_.lower_bound({name, 0});
         kind != further_kinds_.end() && kind->first.first == name; ++kind) {
      visit(kind->second);
    }
  }

  // An arrow whose start is known only by name.
  struct Arrow {
    StringId from;
    uint32_t to;
  };

  void AddFlows(const Batch& batch, const Worker& from) {
    auto in_file = [&](Spot spot) {
      if (spot.process < from.processes.size()) spot.process = from.processes[spot.process];
      return spot;
    };
    for (const FlowEnd& flow : batch.flow_ends) {
      if (flow.kind != kNoKind) {
        flows_.push_back({from.strings[flow.from], from.kinds[flow.kind]});
      } else if (last_kind_ != kNoKind && in_file(flow.spot) == last_spot_) {
        flows_.push_back({from.strings[flow.from], last_kind_});
      }
    }
    if (batch.last_kind == kNoKind) return;
    last_kind_ = from.kinds[batch.last_kind];
    last_spot_ = in_file(batch.last_spot);
  }

  void AddDataflow() {
    const auto first = static_cast<std::ptrdiff_t>(trace_.dataflow.size());
    for (const Arrow& arrow : inputs_.empty() ? flows_ : inputs_) {
      ForEachKindOf(arrow.from, [&](uint32_t maker) {
        trace_.dataflow.push_back({maker, arrow.to});
      });
    }
    // Kinds of this file are new, so its arrows come after those of the others.
    std::sort(trace_.dataflow.begin() + first, trace_.dataflow.end());
    trace_.dataflow.erase(std::unique(trace_.dataflow.begin() + first, trace_.dataflow.end()),
                          trace_.dataflow.end());
  }

  // A kind that never ran has no place in the model: its number is kNoKind. The others get new
  // ones.
  void ForgetUnusedKinds(std::vector<uint32_t>& numbers) {
    auto next = static_cast<uint32_t>(first_kind_);
    for (size_t kind = first_kind_; kind < trace_.kinds.size(); ++kind) {
      if (numbers[kind] == kNoKind) continue;
      trace_.kinds[next] = trace_.kinds[kind];
      numbers[kind] = next++;
    }
    trace_.kinds.resize(next);
    // Numbers keep their order, so the arrows stay sorted.
    size_t kept = 0;
    for (const Dataflow arrow : trace_.dataflow) {
      Dataflow moved = arrow;
      if (arrow.from >= first_kind_) moved = {numbers[arrow.from], numbers[arrow.to]};
      if (moved.from != kNoKind && moved.to != kNoKind) trace_.dataflow[kept++] = moved;
    }
    trace_.dataflow.resize(kept);
  }

  uint16_t ProcessNumber(StringId pid, uint64_t offset) {
    auto [place, is_new] = process_numbers_.try_emplace(pid, processes_.size());
    if (is_new && processes_.size() < kMostProcesses) {
      processes_.emplace_back();
      processes_.back().first_offset = offset;
    }
    return static_cast<uint16_t>(std::min(place->second, kMostProcesses - 1));
  }

  void NameProcess(uint16_t number, std::string_view name, uint64_t offset) {
    Process& process = processes_[number];
    if (process.named) {
      report_.Count(
          process.name == name ? NoteKind::kProcessNamedTwice : NoteKind::kProcessNamedOtherwise,
          offset);
      return;
    }
    process.named = true;
    process.name = name;
  }

  // The device of each process, or kNoDevice, with the reason in the report.
  std::vector<uint16_t> PlaceProcesses() {
    std::vector<TensorFlowProcess> parsed;
    for (const Process& process : processes_) parsed.push_back(ParseProcessName(process.name));
    const TensorFlowLayout layout(parsed);
    std::vector<uint16_t> devices;
    for (size_t i = 0; i < processes_.size(); ++i) {
      const Process& process = processes_[i];
      devices.push_back(kNoDevice);
      std::string device;
      if (!process.named) {
        CountOperations(NoteKind::kProcessNotNamed, process);
      } else if (!parsed[i].compute) {
        CountOperations(NoteKind::kNotComputation, process);
      } else if (layout.IsRepetition(parsed[i])) {
        CountOperations(NoteKind::kRepeatsStreams, process);
      } else {
        devices.back() = trace_.DeviceNumber(layout.DeviceName(parsed[i]));
      }
    }
    return devices;
  }

  void CountOperations(NoteKind why, const Process& process) {
    if (process.operations == 0) return;
    report_.Count(why, process.first_offset, process.operations);
  }

  OpTrace& trace_;
  ImportReport& report_;
  size_t chunks_;
  OpPile ops_;  // with numbers of processes for devices
  size_t first_kind_;
  uint16_t rank_;
  bool threw_away_ = false;  // a batch was discarded, and its kinds may have no operation
  std::vector<Arrow> inputs_;
  std::vector<Arrow> flows_;
  Spot last_spot_;  // of the last operation so far
  uint32_t last_kind_ = kNoKind;
  std::vector<Worker> workers_;
  std::vector<uint32_t> kind_of_name_;                               // the first
  std::map<std::pair<StringId, StringId>, uint32_t> further_kinds_;  // by name and type
  std::unordered_map<StringId, size_t> process_numbers_;
  std::vector<Process> processes_;
};

class TensorFlowImporter : public Importer {
 public:
  FormatDescriptor Descriptor() const override {
    return {"tensorflow-timeline", "TensorFlow timeline JSON (RunOptions.FULL_TRACE)",
            "microseconds since the epoch"};
  }

  int Sniff(std::string_view text) const override {
    if (!LooksLikeEvents(text)) return 0;
    const bool device = text.find("/device:") != std::string_view::npos;
    if (device && text.find(" Compute\"") != std::string_view::npos) return 90;
    if (text.find("\"op\":") != std::string_view::npos) return 60;
    // A trace of events without content: count its bad data, unless it is a bare array of anything.
    const bool has_events = text.find("\"ph\"") != std::string_view::npos;
    return !has_events || text.find("\"traceEvents\"") != std::string_view::npos ? 1 : 0;
  }

  Status Read(ByteSource& source, const ImportOptions& options, OpTrace& trace,
              ImportReport& report) const override {
    Assembler assembler(trace, report, BatchesOf(source));
    TRY(WalkChromeEvents<Visitor, Batch>(source, options, report,
                                         std::bind_front(&Assembler::Commit, &assembler)));
    assembler.Finish();
    return {};
  }
};

}  // namespace

std::unique_ptr<Importer> MakeTensorFlowImporter() {
  return std::make_unique<TensorFlowImporter>();
}

}  // namespace beryl::importers
