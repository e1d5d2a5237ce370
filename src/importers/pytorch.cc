// PyTorch's profiler with Kineto, 1.8 to 2.15: what torch.profiler's export_chrome_trace writes.
//
// Categories changed their names over the years ("Operator" became "cpu_op"), times became
// fractions and then relative to `baseTimeNanoseconds`; all of these are read.
#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "importers/chrome_events.h"
#include "importers/importer.h"
#include "importers/pytorch_devices.h"
#include "importers/pytorch_fresh_modules.h"
#include "importers/pytorch_names.h"
#include "importers/pytorch_records.h"

namespace beryl::importers {
namespace {

constexpr std::string_view kModulePrefix = "nn.Module: ";
constexpr size_t kLongestShapes = 400;
constexpr size_t kLongestTypes = 100;

// Operations that do matrix products themselves, on numbers of the type that they name. Others may
// convert them first.
bool IsMatrixProduct(std::string_view name) {
  return name == "aten::mm" || name == "aten::addmm" || name == "aten::bmm";
}

// Of ["float", "float"]: float.
std::string_view FirstType(std::string_view types) {
  const size_t from = types.find('"');
  if (from == std::string_view::npos) return "";
  const size_t to = types.find('"', from + 1);
  return to == std::string_view::npos ? "" : types.substr(from + 1, to - from - 1);
}

struct Batch : ChromeBatch {
  std::vector<KinetoRecord> records;  // string ids are the worker's
  std::vector<ProcessNote> process_notes;
  std::optional<int64_t> base_time_ns;
  std::string rank;  // of a distributed run
};

// -1 for anything that cannot be a device number.
int32_t DeviceNumber(int64_t number) {
  return number >= 0 && number < 10'000 ? static_cast<int32_t>(number) : -1;
}

class Visitor : public ChromeVisitor<Batch> {
 public:
  bool Event(json::Value event, uint64_t offset) override {
    if (!event.IsObject()) return batch_->DropElement(offset);
    KinetoRecord record;
    record.offset = offset;
    ChromeEvent read;
    Texts texts;
    const bool whole = ReadChromeEvent(event, read, [&](json::Key arg, json::Value content) {
      ReadArgument(arg, content, record, texts);
    });
    if (!whole) return false;
    ++batch_->events;
    if (read.phase == 'X') {
      Add(record, read, texts);
    } else {
      CountOther(read.phase, read.cat, offset);
      if (read.phase == 'M' && (read.name == "process_labels" || read.name == "process_name")) {
        batch_->process_notes.push_back({strings_.Intern(read.pid), strings_.Intern(texts.note)});
      }
    }
    return true;
  }

  void Member(json::Key key, json::Value value) override {
    if (key == "baseTimeNanoseconds") batch_->base_time_ns = value.Integer();
    if (key == "distributedInfo" && value.IsObject()) {
      std::optional<int64_t> rank;
      int64_t world_size = 0;
      value.ForEachMember([&](json::Key member, json::Value content) {
        if (member == "rank") rank = content.Integer();
        if (member == "world_size") world_size = content.Integer().value_or(0);
      });
      if (world_size > 1 && rank && *rank >= 0) batch_->rank = fmt::format("{}", *rank);
    }
  }

 private:
  // From an event's arguments.
  struct Texts {
    std::string_view shapes;
    std::string_view types;
    std::string_view hierarchy;
    std::string_view note;  // a process's label or name
  };

  static void ReadArgument(json::Key arg, json::Value content, KinetoRecord& record, Texts& texts) {
    if (arg == "External id" || arg == "external id") {
      record.external_id = content.Integer().value_or(kNoNumber);
    } else if (arg == "correlation") {
      record.correlation = content.Integer().value_or(kNoNumber);
    } else if (arg == "Sequence number") {
      record.sequence = content.Integer().value_or(kNoNumber);
    } else if (arg == "Fwd thread id") {
      record.backward = content.Integer().value_or(0) > 0;
    } else if (arg == "device") {
      record.device_number = DeviceNumber(content.Integer().value_or(-1));
    } else if (arg == "Input Dims" || arg == "Input dims") {
      texts.shapes = content.Raw(kLongestShapes);
    } else if (arg == "Input type") {
      texts.types = content.Raw(kLongestTypes);
    } else if (arg == "Module Hierarchy") {
      texts.hierarchy = content.String().value_or("");
    } else if (arg == "labels" || arg == "name") {
      texts.note = content.String().value_or(kAbsent);
    }
  }

  void Add(KinetoRecord& record, const ChromeEvent& read, const Texts& texts) {
    const KinetoActivity activity = ActivityOf(read.cat);
    if (activity.no_work) {
      batch_->notes.Count(*activity.no_work, record.offset);
      return;
    }
    std::string_view name = StableName(read.name, stable_name_);
    record.category = activity.category;
    if (record.category == KinetoCategory::kModule) {
      if (!name.starts_with(kModulePrefix)) {
        batch_->notes.Count(NoteKind::kPythonFrameNoModule, record.offset);
        return;
      }
      name.remove_prefix(kModulePrefix.size());
    }
    if (record.category == KinetoCategory::kCpuOp && IsRegionName(name)) {
      record.category = KinetoCategory::kAnnotation;
    }
    if (record.category == KinetoCategory::kAnnotation && name.starts_with("ProfilerStep#")) {
      record.category = KinetoCategory::kStep;
    }
    const auto interval = read.times.Get(record.offset, batch_->notes);
    if (!interval) return;
    if (record.category == KinetoCategory::kModule ||
        record.category == KinetoCategory::kAnnotation) {
      batch_->notes.Count(NoteKind::kScopeFrame, record.offset);
    } else if (record.category == KinetoCategory::kStep) {
      batch_->notes.Count(NoteKind::kProfilerStep, record.offset);
    }
    record.start = interval->start;
    record.end = interval->end;
    record.name = strings_.Intern(name);
    if (record.category != KinetoCategory::kDevice) record.thread = Thread(read.pid, read.tid);
    if (MayBeDevice(record.category)) {
      record.process = strings_.Intern(read.pid);
      record.device = strings_.Intern(AcceleratorOf(read.cat));
    }
    record.shapes = texts.shapes.empty() ? 0 : strings_.Intern(texts.shapes);
    if (!texts.types.empty() && IsMatrixProduct(name)) {
      record.dtype = strings_.Intern(FirstType(texts.types));
    }
    record.hierarchy = texts.hierarchy.empty() ? 0 : strings_.Intern(texts.hierarchy);
    batch_->records.push_back(record);
  }

  static bool MayBeDevice(KinetoCategory category) {
    return category != KinetoCategory::kCpuOp && category != KinetoCategory::kModule &&
           category != KinetoCategory::kAnnotation && category != KinetoCategory::kStep;
  }

  StringId Thread(std::string_view pid, std::string_view tid) {
    // Most events run on the thread of the previous one.
    if (pid == last_pid_ && tid == last_tid_) return last_thread_;
    last_pid_ = pid;
    last_tid_ = tid;
    thread_text_.assign(pid).append("/").append(tid);
    return last_thread_ = strings_.Intern(thread_text_);
  }

  void CountOther(char phase, std::string_view cat, uint64_t offset) {
    NoteKind kind = NoteKind::kOtherEvent;
    if (phase == 'M') {
      kind = NoteKind::kMetadata;
    } else if (phase == 's' || phase == 't' || phase == 'f') {
      kind = cat == "fwdbwd" ? NoteKind::kFlowToBackward : NoteKind::kFlowToDevice;
    } else if (phase == 'i' || phase == 'I') {
      kind = NoteKind::kInstant;
    } else if (phase == 'C') {
      kind = NoteKind::kCounterEvent;
    } else if (phase == 0) {
      kind = NoteKind::kMissingPh;
    }
    batch_->notes.Count(kind, offset);
  }

  std::string thread_text_;
  std::string stable_name_;
  std::string last_pid_;
  std::string last_tid_;
  StringId last_thread_ = 0;
};

// Whether all times stay in a range that allows differences after adding `base_ns`.
bool CanMove(const std::vector<KinetoRecord>& records, int64_t base_ns) {
  constexpr int64_t kFarthest = 4'000'000'000'000'000'000;
  if (base_ns < -kFarthest || base_ns > kFarthest) return false;
  return std::all_of(records.begin(), records.end(), [&](const KinetoRecord& record) {
    return record.start.value >= -kFarthest - std::min<int64_t>(base_ns, 0) &&
           record.end.value <= kFarthest - std::max<int64_t>(base_ns, 0);
  });
}

class PyTorchImporter : public Importer {
 public:
  FormatDescriptor Descriptor() const override {
    return {"pytorch-kineto", "PyTorch profiler JSON with Kineto (torch.profiler, 1.8 to 2.15)",
            "microseconds since baseTimeNanoseconds, or since the epoch if that is absent"};
  }

  int Sniff(std::string_view text) const override {
    // Without categories it is the older profiler's format, which this does not read.
    if (!LooksLikeEvents(text) || text.find("\"cat\"") == std::string_view::npos) {
      return text.find("\"baseTimeNanoseconds\"") != std::string_view::npos ? 95 : 0;
    }
    auto has = [&](std::string_view part) { return text.find(part) != std::string_view::npos; };
    if (has("\"baseTimeNanoseconds\"") || has("\"deviceProperties\"") || has("\"External id\"") ||
        has("\"cpu_op\"") || has("\"ProfilerStep#") || has("\"external id\"")) {
      return 95;
    }
    if (has("\"schemaVersion\"") || has("\"aten::") || has("\"python_function\"") ||
        has("\"cuda_runtime\"") || has("\"user_annotation\"") || has("\"cat\": \"kernel\"")) {
      return 70;
    }
    return 0;
  }

  Status Read(ByteSource& source, const ImportOptions& options, OpTrace& trace,
              ImportReport& report) const override {
    RecordCollector collector(trace, report, BatchesOf(source));
    std::vector<ProcessNote> process_notes;
    std::optional<int64_t> base_time_ns;
    auto commit = [&](Batch& batch, size_t worker, bool keep) {
      if (batch.base_time_ns) base_time_ns = batch.base_time_ns;
      if (report.rank.empty()) report.rank = batch.rank;
      const StringRemap* remap = collector.Add(batch, worker, keep);
      if (remap == nullptr) return;
      for (const ProcessNote& note : batch.process_notes) {
        process_notes.push_back({(*remap)[note.process], (*remap)[note.text]});
      }
    };
    TRY(WalkChromeEvents<Visitor, Batch>(source, options, report, commit));

    std::vector<KinetoRecord>& records = collector.records;
    constexpr int64_t kYear2000 = 946'684'800'000'000'000;
    if (base_time_ns && !CanMove(records, *base_time_ns)) {
      report.Count(NoteKind::kBaseTimeNotUsed, 0);
      base_time_ns.reset();
    }
    if (base_time_ns && *base_time_ns != 0) {
      trace.anchors.push_back({Nanos{0}, Nanos{*base_time_ns}});
      report.moved = Nanos{*base_time_ns};
      for (KinetoRecord& record : records) {
        record.start = record.start + Nanos{*base_time_ns};
        record.end = record.end + Nanos{*base_time_ns};
      }
    } else if (!records.empty() && records.front().start.value < kYear2000) {
      trace.clock = "the start of the machine or of the trace";
    }
    KinetoDevices(process_notes, trace.strings).Settle(records, report);
    NameFreshModules(records, trace.strings);
    const bool has_host_operations = std::any_of(
        records.begin(), records.end(),
        [](const KinetoRecord& record) { return record.category == KinetoCategory::kCpuOp; });
    AssembleKineto(std::move(records), trace, report);
    if (has_host_operations && report.inside_modules == 0 && report.outside_modules == 0) {
      report.notes.emplace_back(NoteKind::kNoModules);
    }
    return {};
  }
};

}  // namespace

std::unique_ptr<Importer> MakePyTorchImporter() { return std::make_unique<PyTorchImporter>(); }

}  // namespace beryl::importers
