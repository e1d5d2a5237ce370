// PyTorch's profiler without Kineto: what torch.autograd.profiler's export_chrome_trace writes, in
// 0.4 to 1.7 always, later in builds without Kineto and with use_kineto=False.
//
// The file is a bare array. The process shows where an event ran: `CPU functions`, `CUDA
// functions`, or another accelerator's; on an accelerator the thread is the number of the device.
// There are no categories, and times start with the profile. A flow (`s` on the operator, `f` on
// the kernel) connects a kernel to its operator; later versions write only the `s`, without the
// kernel.
//
// Before 1.8, a kernel is the time between two events on the stream, one before and one after an
// operator, so these nest like the operators.
#include <algorithm>
#include <limits>
#include <optional>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "importers/chrome_events.h"
#include "importers/importer.h"
#include "importers/number_index.h"
#include "importers/pytorch_names.h"
#include "importers/pytorch_records.h"

namespace beryl::importers {
namespace {

// One end of an arrow from an operator to a kernel.
struct Flow {
  int64_t id = 0;
  StringId thread = 0;
  StringId name = 0;
  Nanos time;
  uint64_t offset = 0;
  bool starts = false;
};

struct Batch : ChromeBatch {
  std::vector<KinetoRecord> records;  // string ids are the worker's
  std::vector<Flow> flows;
};

// "CPU" from `"CPU functions"`, which RecordProfile in C++ also writes with a capital; nothing for
// another process.
std::optional<std::string_view> PlaceOf(std::string_view pid_token) {
  std::string_view pid = Unquoted(pid_token);
  for (const std::string_view ending : {" functions", " Functions"}) {
    if (!pid.ends_with(ending)) continue;
    pid.remove_suffix(ending.size());
    return pid == "CUDA" ? "GPU" : pid;
  }
  return std::nullopt;
}

// N from `" node_id:N, thread_id:3 "`, the form of a remote call's thread.
std::optional<std::string_view> NodeOf(std::string_view tid_token) {
  constexpr std::string_view kNode = "node_id:";
  const std::string_view tid = Unquoted(tid_token);
  const size_t at = tid.find(kNode);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view rest = tid.substr(at + kNode.size());
  return rest.substr(0, rest.find_first_not_of("0123456789"));
}

// What the process and thread of an event tell about it.
struct Lane {
  std::string pid;  // as written
  std::string tid;
  std::string device;  // such as "GPU:0"; empty: CPU:0, or unknown
  bool is_known = false;
  bool is_host = false;
  // 0 until an event is used: what no event needs is not in the trace.
  StringId thread_id = 0;
  StringId device_id = 0;
};

Lane MakeLane(std::string_view pid, std::string_view tid) {
  Lane lane;
  lane.pid = pid;
  lane.tid = tid;
  const auto place = PlaceOf(pid);
  if (!place) return lane;
  lane.is_known = true;
  lane.is_host = *place == "CPU";
  if (lane.is_host) {
    if (const auto node = NodeOf(tid)) lane.device = fmt::format("node{}/CPU:0", *node);
    return lane;
  }
  const double number = ParseNumber(tid).value_or(-1);
  if (number >= 0 && number < 10'000) {
    lane.device = fmt::format("{}:{}", *place, static_cast<int>(number));
  }
  return lane;
}

// The number of a flow, which is nearly always a short one in plain digits.
std::optional<int64_t> FlowNumber(std::string_view token) {
  constexpr size_t kShort = 15;
  int64_t number = 0;
  size_t at = 0;
  for (; at < token.size() && at < kShort && token[at] >= '0' && token[at] <= '9'; ++at) {
    number = number * 10 + (token[at] - '0');
  }
  if (at == token.size() && at > 0) return number;
  const auto parsed = ParseNumber(token);
  if (!parsed || *parsed < 0 || *parsed > 9e15) return std::nullopt;
  return static_cast<int64_t>(*parsed);
}

class Visitor : public ChromeVisitor<Batch> {
 public:
  bool Event(json::Value event, uint64_t offset) override {
    if (!event.IsObject()) return batch_->DropElement(offset);
    ChromeEvent read;
    if (!ReadChromeEvent(event, read, [](json::Key, json::Value) {})) return false;
    ++batch_->events;
    if (read.phase == 'X') {
      Add(read, offset);
    } else if (read.phase == 's' || read.phase == 'f') {
      AddFlow(read, offset);
    } else {
      SkipEvent(read, offset);
    }
    return true;
  }

 private:
  void Add(const ChromeEvent& read, uint64_t offset) {
    Lane& lane = LaneOf(read);
    if (!lane.is_known) {
      batch_->notes.Count(NoteKind::kNeitherHostNorDevice, offset);
      return;
    }
    const auto interval = read.times.Get(offset, batch_->notes);
    if (!interval) return;
    KinetoRecord record;
    record.start = interval->start;
    record.end = interval->end;
    record.offset = offset;
    record.name = strings_.Intern(StableName(read.name, text_));
    record.thread = Thread(lane);
    if (!lane.is_host && lane.device.empty()) {
      batch_->notes.Count(NoteKind::kDeviceEventWithoutDevice, offset);
      return;
    }
    if (lane.device_id == 0 && !lane.device.empty()) lane.device_id = strings_.Intern(lane.device);
    record.device = lane.device_id;
    if (lane.is_host) {
      record.category = HostCategory(read.name);
      record.external_id = BackwardsNumber(offset);
    } else {
      record.category = KinetoCategory::kDevice;
    }
    if (record.category == KinetoCategory::kAnnotation) {
      batch_->notes.Count(NoteKind::kAnnotation, offset);
    } else if (record.category == KinetoCategory::kStep) {
      batch_->notes.Count(NoteKind::kProfilerStep, offset);
    }
    batch_->records.push_back(record);
  }

  static KinetoCategory HostCategory(std::string_view name) {
    if (!IsRegionName(name)) return KinetoCategory::kCpuOp;
    return name.starts_with("ProfilerStep#") ? KinetoCategory::kStep : KinetoCategory::kAnnotation;
  }

  // Of host events with the same time, frequent with whole microseconds, the later one is the
  // caller: they are written in the order they ended.
  static int64_t BackwardsNumber(uint64_t offset) {
    return std::numeric_limits<int64_t>::max() - static_cast<int64_t>(offset);
  }

  void AddFlow(const ChromeEvent& read, uint64_t offset) {
    const auto number = FlowNumber(read.id);
    const auto time = read.times.Start();
    if (!number || !time) {
      batch_->notes.Count(NoteKind::kFlowNotUsable, offset);
      return;
    }
    // Its thread first: names are numbered in that order.
    const StringId thread = Thread(LaneOf(read));
    batch_->flows.push_back({*number, thread, strings_.Intern(StableName(read.name, text_)), *time,
                             offset, read.phase == 's'});
  }

  Lane& LaneOf(const ChromeEvent& read) {
    const auto is_it = [&](const Lane& lane) {
      return lane.tid == read.tid && lane.pid == read.pid;
    };
    // There are few, and events come in bursts.
    if (last_lane_ < lanes_.size() && is_it(lanes_[last_lane_])) return lanes_[last_lane_];
    const auto known = std::find_if(lanes_.begin(), lanes_.end(), is_it);
    last_lane_ = static_cast<size_t>(known - lanes_.begin());
    if (known == lanes_.end()) {
      if (lanes_.size() == kMostLanes) lanes_.clear();
      last_lane_ = lanes_.size();
      lanes_.push_back(MakeLane(read.pid, read.tid));
    }
    return lanes_[last_lane_];
  }

  StringId Thread(Lane& lane) {
    if (lane.thread_id == 0) {
      text_.assign(lane.pid).append("/").append(lane.tid);
      lane.thread_id = strings_.Intern(text_);
    }
    return lane.thread_id;
  }

  static constexpr size_t kMostLanes = 64;
  std::vector<Lane> lanes_;
  size_t last_lane_ = 0;
  std::string text_;
};

// Finds the events at the ends of the flows, and connects them.
class FlowTies {
 public:
  FlowTies(std::vector<KinetoRecord>& records, const std::vector<Flow>& flows)
      : records_(records), flows_(flows), event_of_(flows.size(), NumberIndex::kNone) {}

  void Tie() {
    FindNeighbours();
    FindOthers();
    std::vector<std::pair<int64_t, uint32_t>> starts;
    starts.reserve(flows_.size());
    for (size_t i = 0; i < flows_.size(); ++i) {
      if (flows_[i].starts && event_of_[i] != NumberIndex::kNone) {
        starts.emplace_back(flows_[i].id, event_of_[i]);
      }
    }
    const NumberIndex launcher_of(starts);
    for (size_t i = 0; i < flows_.size(); ++i) {
      if (flows_[i].starts || event_of_[i] == NumberIndex::kNone) continue;
      const uint32_t launcher = launcher_of.Find(flows_[i].id);
      if (launcher == NumberIndex::kNone) continue;
      KinetoRecord& kernel = records_[event_of_[i]];
      records_[launcher].correlation = kernel.correlation = launcher;
      kernel.encloses = kernel.name == records_[launcher].name;
    }
  }

 private:
  struct Spot {
    StringId thread;
    StringId name;
    int64_t start;
    bool operator==(const Spot&) const = default;
  };
  struct SpotHash {
    size_t operator()(const Spot& spot) const {
      const uint64_t ids = (static_cast<uint64_t>(spot.thread) << 32) | spot.name;
      return ((ids ^ (static_cast<uint64_t>(spot.start) * 0x9E3779B97F4A7C15ULL)) *
              0xC2B2AE3D27D4EB4FULL) >>
             7;
    }
  };

  static Spot SpotOf(const KinetoRecord& record) {
    return {record.thread, record.name, record.start.value};
  }
  static Spot SpotOf(const Flow& flow) { return {flow.thread, flow.name, flow.time.value}; }

  // A flow leaves an operation at its start and reaches a kernel at its start.
  bool Joins(const Flow& flow, uint32_t event) const {
    const bool on_device = records_[event].category == KinetoCategory::kDevice;
    return on_device != flow.starts && SpotOf(flow) == SpotOf(records_[event]);
  }

  // All versions write an operation, and then for each of its kernels the flow's two ends and the
  // kernel.
  void FindNeighbours() {
    uint32_t operation = NumberIndex::kNone;
    size_t reaching = flows_.size();
    uint32_t next = 0;
    auto pass = [&](uint64_t offset) {
      for (; next < records_.size() && records_[next].offset < offset; ++next) {
        if (records_[next].category != KinetoCategory::kDevice) {
          operation = next;
        } else if (reaching < flows_.size()) {
          if (Joins(flows_[reaching], next)) event_of_[reaching] = next;
          reaching = flows_.size();
        }
      }
    };
    for (size_t i = 0; i < flows_.size(); ++i) {
      pass(flows_[i].offset);
      if (!flows_[i].starts) {
        reaching = i;
      } else if (operation != NumberIndex::kNone && Joins(flows_[i], operation)) {
        event_of_[i] = operation;
      }
    }
    pass(std::numeric_limits<uint64_t>::max());
  }

  // For files in another order: by time and place alone, the first event there.
  void FindOthers() {
    if (std::find(event_of_.begin(), event_of_.end(), NumberIndex::kNone) == event_of_.end()) {
      return;
    }
    std::unordered_map<Spot, uint32_t, SpotHash> event_at;
    for (uint32_t i = 0; i < records_.size(); ++i) event_at.try_emplace(SpotOf(records_[i]), i);
    for (size_t i = 0; i < flows_.size(); ++i) {
      if (event_of_[i] != NumberIndex::kNone) continue;
      const auto found = event_at.find(SpotOf(flows_[i]));
      if (found != event_at.end() && Joins(flows_[i], found->second)) event_of_[i] = found->second;
    }
  }

  std::vector<KinetoRecord>& records_;
  const std::vector<Flow>& flows_;
  std::vector<uint32_t> event_of_;  // by flow
};

void BookFlows(const std::vector<Flow>& flows, ImportReport& report) {
  std::vector<std::pair<int64_t, uint32_t>> ends;
  ends.reserve(flows.size());
  for (const Flow& flow : flows) {
    if (!flow.starts) ends.emplace_back(flow.id, 0);
  }
  const NumberIndex reached(ends);
  NoteCounter notes;
  for (const Flow& flow : flows) {
    notes.Count(reached.Find(flow.id) != NumberIndex::kNone ? NoteKind::kFlowToDevice
                                                            : NoteKind::kLaunchOfUnseenKernel,
                flow.offset);
  }
  notes.AddTo(report);
}

class PyTorchLegacyImporter : public Importer {
 public:
  FormatDescriptor Descriptor() const override {
    return {"pytorch-legacy", "PyTorch profiler JSON without Kineto (torch.autograd.profiler)",
            "microseconds since the profile started"};
  }

  int Sniff(std::string_view text) const override {
    if (!LooksLikeEvents(text)) return 0;
    for (const std::string_view process :
         {"CPU functions\"", "CPU Functions\"", "CUDA functions\"", "CUDA Functions\""}) {
      if (text.find(process) != std::string_view::npos) return 98;
    }
    return 0;
  }

  Status Read(ByteSource& source, const ImportOptions& options, OpTrace& trace,
              ImportReport& report) const override {
    RecordCollector collector(trace, report, BatchesOf(source));
    std::vector<Flow> flows;
    auto commit = [&](Batch& batch, size_t worker, bool keep) {
      const StringRemap* remap = collector.Add(batch, worker, keep);
      if (remap == nullptr) return;
      if (flows.empty()) flows.reserve(batch.flows.size() * BatchesOf(source));
      for (Flow& flow : batch.flows) {
        flow.thread = (*remap)[flow.thread];
        flow.name = (*remap)[flow.name];
        flows.push_back(flow);
      }
    };
    TRY(WalkChromeEvents<Visitor, Batch>(source, options, report, commit));

    std::vector<KinetoRecord>& records = collector.records;
    BookFlows(flows, report);
    if (!flows.empty()) FlowTies(records, flows).Tie();
    if (!records.empty()) trace.clock = "the start of the profile";
    const bool has_host_operations = std::any_of(
        records.begin(), records.end(),
        [](const KinetoRecord& record) { return record.category != KinetoCategory::kDevice; });
    AssembleKineto(std::move(records), trace, report);
    // This profiler never writes any; its successor does.
    if (has_host_operations) report.notes.emplace_back(NoteKind::kNoModules);
    return {};
  }
};

}  // namespace

std::unique_ptr<Importer> MakePyTorchLegacyImporter() {
  return std::make_unique<PyTorchLegacyImporter>();
}

}  // namespace beryl::importers
