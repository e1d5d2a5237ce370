// PyTorch's profiler with Kineto, 1.8 to 2.15: what torch.profiler's export_chrome_trace writes.
//
// Categories changed their names over the years ("Operator" became "cpu_op"), times became
// fractions and then relative to `baseTimeNanoseconds`; all of these are read.
#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "importers/chrome_events.h"
#include "importers/importer.h"
#include "importers/pytorch_records.h"

namespace beryl::importers {
namespace {

constexpr std::string_view kModulePrefix = "nn.Module: ";
constexpr size_t kLongestShapes = 400;

struct Batch : ChromeBatch {
  std::vector<KinetoRecord> records;  // string ids are the worker's
  std::optional<int64_t> base_time_ns;
};

struct CategoryName {
  std::string_view name;
  KinetoCategory category;
};

constexpr std::array<CategoryName, 15> kCategories = {{
    {"cpu_op", KinetoCategory::kCpuOp},
    {"Operator", KinetoCategory::kCpuOp},
    {"kernel", KinetoCategory::kDevice},
    {"Kernel", KinetoCategory::kDevice},
    {"cuda_runtime", KinetoCategory::kRuntime},
    {"cuda_driver", KinetoCategory::kRuntime},
    {"Runtime", KinetoCategory::kRuntime},
    {"privateuse1_runtime", KinetoCategory::kRuntime},
    {"gpu_memcpy", KinetoCategory::kDevice},
    {"Memcpy", KinetoCategory::kDevice},
    {"gpu_memset", KinetoCategory::kDevice},
    {"Memset", KinetoCategory::kDevice},
    {"user_annotation", KinetoCategory::kAnnotation},
    {"python_function", KinetoCategory::kModule},
    {"Python function", KinetoCategory::kModule},
}};

std::optional<KinetoCategory> CategoryOf(std::string_view cat) {
  for (const CategoryName& known : kCategories) {
    if (known.name == cat) return known.category;
  }
  return std::nullopt;
}

// -1 for what cannot be the number of a device.
int32_t DeviceNumber(double number) {
  return number >= 0 && number < 10'000 ? static_cast<int32_t>(number) : -1;
}

// Regions that old versions filed under "Operator".
bool IsRegionName(std::string_view name) {
  return name.starts_with("ProfilerStep#") || name.starts_with("Optimizer.") ||
         name.starts_with("enumerate(DataLoader)");
}

class Visitor : public EventVisitor {
 public:
  Visitor() : batch_(std::make_unique<Batch>()) {}

  bool Event(json::Value event, uint64_t offset) override {
    if (!event.IsObject()) return batch_->DropElement(offset);
    KinetoRecord record;
    record.offset = offset;
    ChromeEvent read;
    std::string_view shapes;
    std::string_view hierarchy;
    const bool whole = ReadChromeEvent(event, read, [&](json::Key arg, json::Value content) {
      ReadArgument(arg, content, record, shapes, hierarchy);
    });
    if (!whole) return false;
    ++batch_->events;
    if (read.phase == 'X') {
      Add(record, read, shapes, hierarchy);
    } else {
      CountOther(read.phase, read.cat, offset);
    }
    return true;
  }

  void Member(json::Key key, json::Value value) override {
    if (key == "baseTimeNanoseconds") batch_->base_time_ns = value.Integer();
  }

  std::unique_ptr<EventBatch> Take() override {
    batch_->new_strings = strings_.TakeNew();
    return std::exchange(batch_, std::make_unique<Batch>());
  }

 private:
  static void ReadArgument(json::Key arg, json::Value content, KinetoRecord& record,
                           std::string_view& shapes, std::string_view& hierarchy) {
    if (arg == "External id" || arg == "external id") {
      record.external_id = content.Integer().value_or(kNoNumber);
    } else if (arg == "correlation") {
      record.correlation = content.Integer().value_or(kNoNumber);
    } else if (arg == "Sequence number") {
      record.sequence = content.Integer().value_or(kNoNumber);
    } else if (arg == "Fwd thread id") {
      record.backward = content.Integer().value_or(0) > 0;
    } else if (arg == "device") {
      record.device = DeviceNumber(static_cast<double>(content.Integer().value_or(-1)));
    } else if (arg == "Input Dims" || arg == "Input dims") {
      shapes = content.Raw(kLongestShapes);
    } else if (arg == "Module Hierarchy") {
      hierarchy = content.String().value_or("");
    }
  }

  void Add(KinetoRecord& record, const ChromeEvent& read, std::string_view shapes,
           std::string_view hierarchy) {
    const auto category = CategoryOf(read.cat);
    if (!category) {
      batch_->findings.Count(Finding::Kind::kSkipped, SkipReason(read.cat), record.offset);
      return;
    }
    std::string_view name = read.name;
    record.category = *category;
    if (record.category == KinetoCategory::kModule) {
      if (!name.starts_with(kModulePrefix)) {
        batch_->findings.Count(Finding::Kind::kSkipped, "Python frame that is no module",
                               record.offset);
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
    const auto interval = read.times.Get(record.offset, batch_->findings);
    if (!interval) return;
    if (record.category == KinetoCategory::kDevice && record.device < 0) {
      // Without a device argument, the process is the device's number.
      record.device = DeviceNumber(ParseNumber(read.pid).value_or(-1));
      if (record.device < 0) {
        batch_->findings.Count(Finding::Kind::kDropped, "a device event that names no device",
                               record.offset);
        return;
      }
    }
    if (record.category == KinetoCategory::kModule ||
        record.category == KinetoCategory::kAnnotation) {
      batch_->findings.Count(Finding::Kind::kSkipped, "module frame or annotation: a scope",
                             record.offset);
    } else if (record.category == KinetoCategory::kStep) {
      batch_->findings.Count(Finding::Kind::kSkipped, "ProfilerStep: a step", record.offset);
    }
    record.start = interval->start;
    record.end = interval->end;
    record.name = strings_.Intern(name);
    if (record.category != KinetoCategory::kDevice) record.thread = Thread(read.pid, read.tid);
    record.shapes = shapes.empty() ? 0 : strings_.Intern(shapes);
    record.hierarchy = hierarchy.empty() ? 0 : strings_.Intern(hierarchy);
    batch_->records.push_back(record);
  }

  StringId Thread(std::string_view pid, std::string_view tid) {
    thread_text_.assign(pid).append("/").append(tid);
    return strings_.Intern(thread_text_);
  }

  void CountOther(char phase, std::string_view cat, uint64_t offset) {
    const char* reason = "an event of another kind";
    if (phase == 'M') {
      reason = "metadata";
    } else if (phase == 's' || phase == 't' || phase == 'f') {
      reason = cat == "fwdbwd" ? "flow from forward to backward" : "flow from host to device";
    } else if (phase == 'i' || phase == 'I') {
      reason = "instant";
    } else if (phase == 'C') {
      reason = "counter";
    } else if (phase == 0) {
      batch_->findings.Count(Finding::Kind::kDropped, "missing ph", offset);
      return;
    }
    batch_->findings.Count(Finding::Kind::kSkipped, reason, offset);
  }

  static const char* SkipReason(std::string_view cat) {
    if (cat == "gpu_user_annotation") return "annotation mirrored onto the device";
    if (cat == "overhead") return "the profiler's own overhead";
    if (cat == "cuda_sync") return "synchronisation record: no work";
    if (cat == "Trace") return "the span of the trace";
    return "a category that is no operation";
  }

  std::unique_ptr<Batch> batch_;
  WorkerStrings strings_;
  std::string thread_text_;
};

// Whether all times stay in the range that differences can be taken in after adding `base_ns`.
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
            "microseconds since baseTimeNanoseconds, or since the epoch where that is absent"};
  }

  int Sniff(std::string_view text) const override {
    // Without categories it is the older profiler's form, which this does not read.
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

  Result<bool> Read(ByteSource& source, const ImportOptions& options, OpTrace& trace,
                    ImportReport& report) const override {
    std::vector<StringRemap> remaps;
    std::vector<KinetoRecord> records;
    std::optional<int64_t> base_time_ns;
    auto commit = [&](std::unique_ptr<EventBatch> taken, int worker, bool keep) {
      auto& batch = static_cast<Batch&>(*taken);
      if (remaps.size() <= static_cast<size_t>(worker)) {
        remaps.resize(static_cast<size_t>(worker) + 1);
      }
      StringRemap& remap = remaps[static_cast<size_t>(worker)];
      remap.Add(batch.new_strings, trace.strings);
      if (batch.base_time_ns) base_time_ns = batch.base_time_ns;
      if (!keep) return;
      report.events += batch.events;
      batch.findings.AddTo(report);
      for (KinetoRecord& record : batch.records) {
        record.name = remap[record.name];
        record.thread = remap[record.thread];
        record.shapes = remap[record.shapes];
        record.hierarchy = remap[record.hierarchy];
        records.push_back(record);
      }
    };
    EventStreamOptions stream;
    stream.threads = options.threads;
    stream.progress = options.progress;
    auto end = WalkEvents(
        source, stream, [](int) { return std::make_unique<Visitor>(); }, commit);
    if (!end) return end.error();
    ReportStreamEnd(*end, report);

    constexpr int64_t kYear2000 = 946'684'800'000'000'000;
    if (base_time_ns && !CanMove(records, *base_time_ns)) {
      report.Count(Finding::Kind::kRepaired, "baseTimeNanoseconds leads out of time: not used", 0);
      base_time_ns.reset();
    }
    if (base_time_ns && *base_time_ns != 0) {
      trace.anchors.push_back({Nanos{0}, Nanos{*base_time_ns}});
      for (KinetoRecord& record : records) {
        record.start = record.start + Nanos{*base_time_ns};
        record.end = record.end + Nanos{*base_time_ns};
      }
    } else if (!records.empty() && records.front().start.value < kYear2000) {
      trace.clock = "the start of the machine or of the trace";
    }
    AssembleKineto(std::move(records), trace, report);
    return true;
  }
};

}  // namespace

std::unique_ptr<Importer> MakePyTorchImporter() { return std::make_unique<PyTorchImporter>(); }

}  // namespace beryl::importers
