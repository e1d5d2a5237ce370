// Turns events into operations in their places: which events are operations, which framework
// operation an instruction or a kernel belongs to, and which step.
#include <algorithm>
#include <limits>
#include <map>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "importers/chrome_events.h"
#include "importers/xla_events.h"
#include "importers/xla_kinds.h"
#include "importers/xla_names.h"
#include "importers/xla_steps.h"

namespace beryl::importers {
namespace {

constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();

// What the events of a line are.
enum class LineUse : uint8_t {
  kHost,     // operations among runtime internals
  kDevice,   // every event is an operation
  kSteps,    // every event is a step
  kModules,  // every event is a run of a program, shown in finer form elsewhere
  kSkip,
};

}  // namespace

class XlaAssembler::Work {
 public:
  Work(OpTrace& trace, ImportReport& report, std::vector<uint64_t>* event_offsets)
      : trace_(trace),
        report_(report),
        event_offsets_(event_offsets),
        programs_(strings_),
        kinds_(trace, strings_, programs_) {}

  StringTable& strings() { return strings_; }
  HloTable& programs() { return programs_; }

  uint32_t AddPlane(std::string_view name, const std::vector<XlaLine>& lines) {
    const auto first = static_cast<uint32_t>(lines_.size());
    const auto plane = static_cast<uint32_t>(planes_.size());
    planes_.push_back({DeviceOfPlane(name).value_or(""), {}});
    const bool device = !planes_.back().device.empty();
    const DeviceLine finest = device ? FinestLine(lines) : DeviceLine::kOther;
    for (const XlaLine& line : lines) {
      Line added{LineUse::kSkip, NoteKind::kPlaneWithoutOperations,
                 plane,          line.thread,
                 line.relative,  false};
      if (device) {
        UseDeviceLine(DeviceLineOf(line.name), finest, added);
      } else if (IsHostPlane(name) && name.find("NVTX") == std::string_view::npos) {
        added.use = LineUse::kHost;
      }
      lines_.push_back(added);
    }
    return first;
  }

  uint32_t WhatNumber(const XlaWhat& what) {
    auto [place, is_new] = numbers_.try_emplace(what, static_cast<uint32_t>(whats_.size()));
    if (is_new) whats_.push_back({what, Judge(what)});
    return place->second;
  }

  void Add(const XlaEvent& event) {
    ++report_.events;
    const Line& line = lines_[event.line];
    const Known& known = whats_[event.what];
    switch (line.use) {
      case LineUse::kHost:
        if (!known.skip_reason) {
          host_.push_back(event);
        } else {
          notes_.Count(*known.skip_reason, event.offset);
          if (known.what.calls_device) launches_.push_back(event);
        }
        return;
      case LineUse::kDevice:
        device_.push_back(event);
        return;
      case LineUse::kSteps:
        AddDeviceStep(event);
        break;
      case LineUse::kModules:
        planes_[line.plane].modules.push_back({event.start, event.end, event.what});
        break;
      case LineUse::kSkip:
        break;
    }
    notes_.Count(line.skip_reason, event.offset);
  }

  void AddStep(const XlaEvent& event, int64_t number) {
    ++report_.events;
    notes_.Count(NoteKind::kStep, event.offset);
    const std::string_view name = strings_.Text(whats_[event.what].what.name);
    steps_.Add({fmt::format("{} {}", Printable(name), number), number, XlaSteps::kHost, event});
  }

  void Leave(NoteKind why, uint64_t offset) {
    ++report_.events;
    notes_.Count(why, offset);
  }

  void Finish(std::optional<Nanos> start, const std::string& rank) {
    notes_.AddTo(report_);
    MoveToEpoch(start);
    if (!rank.empty() && !(host_.empty() && device_.empty())) {
      kinds_.SetRank(trace_.RankNumber(rank));
    }
    steps_.Make(trace_);
    const std::vector<uint32_t> order = ByLineAndTime(host_);
    AddHostOperations(order);
    AddDeviceOperations(order);
  }

 private:
  struct ProgramRun {
    Nanos start;
    Nanos end;
    uint32_t what;
  };
  struct Plane {
    std::string device;  // empty: none
    std::vector<ProgramRun> modules;
  };
  struct Line {
    LineUse use;
    NoteKind skip_reason;
    uint32_t plane;
    int64_t thread;
    bool relative;
    bool instructions;  // shows the instructions of programs by name
  };
  struct Known {
    XlaWhat what;
    std::optional<NoteKind> skip_reason;  // on a host's line; nothing: an operation
  };
  static DeviceLine FinestLine(const std::vector<XlaLine>& lines) {
    DeviceLine finest = DeviceLine::kRepetition;
    for (const XlaLine& line : lines) {
      if (line.events > 0) finest = std::min(finest, DeviceLineOf(line.name));
    }
    return finest;
  }

  static void UseDeviceLine(DeviceLine kind, DeviceLine finest, Line& line) {
    line.skip_reason = NoteKind::kRepeatsFinerLines;
    if (kind == DeviceLine::kSteps) {
      line.use = LineUse::kSteps;
      line.skip_reason = NoteKind::kStep;
    } else if (kind == finest && kind != DeviceLine::kRepetition) {
      line.use = LineUse::kDevice;
      line.instructions = kind == DeviceLine::kOps;
    } else if (kind == DeviceLine::kModules) {
      line.use = LineUse::kModules;
    }
  }

  // Why events of that kind on a host's line are not operations.
  std::optional<NoteKind> Judge(const XlaWhat& what) const {
    if (what.hlo_op != 0) return std::nullopt;
    const std::string_view name = strings_.Text(what.name);
    if (what.eager_op != 0) {
      if (what.is_function) return NoteKind::kFunctionCall;
      if (IsInputPipeline(strings_.Text(what.eager_op))) return NoteKind::kInputPipeline;
      return std::nullopt;
    }
    if (what.calls_device) return NoteKind::kDeviceCall;
    if (const auto named = ParseTensorFlowEvent(name)) {
      if (IsFunctionType(named->type)) return NoteKind::kFunctionCall;
      return std::nullopt;
    }
    return MachineryReason(name);
  }

  void AddDeviceStep(const XlaEvent& event) {
    // Its name is its number.
    const std::string_view name = strings_.Text(whats_[event.what].what.name);
    const auto number = ParseNumber(name);
    const bool whole = number && *number >= 0 && *number < 1e15;
    steps_.Add({whole ? fmt::format("step {}", static_cast<int64_t>(*number)) : Printable(name),
                whole ? static_cast<int64_t>(*number) : kNoXlaNumber, lines_[event.line].plane,
                event});
  }

  void MoveToEpoch(std::optional<Nanos> start) {
    bool any_relative = false;
    auto move = [&](uint32_t line, Nanos& from, Nanos& to) {
      if (!lines_[line].relative) return;
      any_relative = true;
      if (!start) return;
      from = from + *start;
      to = to + *start;
    };
    for (XlaEvent& event : host_) move(event.line, event.start, event.end);
    for (XlaEvent& event : device_) move(event.line, event.start, event.end);
    for (XlaEvent& event : launches_) move(event.line, event.start, event.end);
    for (XlaSteps::Mark& mark : steps_.marks())
      move(mark.event.line, mark.event.start, mark.event.end);
    if (any_relative && start) {
      trace_.anchors.push_back({Nanos{0}, *start});
      report_.moved = *start;
    }
    if (any_relative && !start) trace_.clock = "the start of the profile";
    for (uint32_t line = 0; line < lines_.size() && start; ++line) {
      if (lines_[line].use != LineUse::kModules || !lines_[line].relative) continue;
      // All lines of a plane have the same origin of time.
      for (ProgramRun& run : planes_[lines_[line].plane].modules) {
        run.start = run.start + *start;
        run.end = run.end + *start;
      }
      break;
    }
  }

  // ---- order and lanes

  // Outer before inner.
  std::vector<uint32_t> ByLineAndTime(const std::vector<XlaEvent>& events) const {
    std::vector<uint32_t> order(events.size());
    for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    auto before = [&](uint32_t a, uint32_t b) {
      const XlaEvent& x = events[a];
      const XlaEvent& y = events[b];
      if (x.line != y.line) return x.line < y.line;
      if (x.start != y.start) return x.start < y.start;
      if (x.end != y.end) return x.end > y.end;
      return a < b;
    };
    // Lines are written in order of time, mostly.
    if (!std::is_sorted(order.begin(), order.end(), before)) {
      std::sort(order.begin(), order.end(), before);
    }
    return order;
  }

  // Keeps lanes of several files apart.
  uint32_t FirstLane() const {
    uint32_t next = 0;
    for (const Op& op : trace_.ops) {
      if (op.lane != kNoLane) next = std::max(next, op.lane + 1);
    }
    return next;
  }

  // Whether an event of the line is inside another one.
  static bool Nests(const std::vector<XlaEvent>& events, const uint32_t* first,
                    const uint32_t* last) {
    Nanos covered{std::numeric_limits<int64_t>::min()};
    for (const uint32_t* at = first; at != last; ++at) {
      const XlaEvent& event = events[*at];
      if (event.start < event.end && event.end <= covered) return true;
      covered = std::max(covered, event.end);
    }
    return false;
  }

  // ---- operations

  void AddHostOperations(const std::vector<uint32_t>& order) {
    if (order.empty()) return;
    const uint16_t cpu = trace_.DeviceNumber("CPU:0");
    next_lane_ = FirstLane();
    trace_.ops.reserve(trace_.ops.size() + host_.size() + device_.size());
    uint32_t line = kNone;
    for (const uint32_t index : order) {
      const XlaEvent& event = host_[index];
      if (event.line != line) ++next_lane_;
      line = event.line;
      AddOperation(event, {event.start, event.end, KindOfHost(event.what), next_lane_ - 1,
                           StepOf(event), cpu});
    }
  }

  void AddDeviceOperations(const std::vector<uint32_t>& host_order) {
    if (device_.empty()) return;
    if (host_order.empty()) next_lane_ = FirstLane();
    for (Plane& plane : planes_) {
      std::sort(plane.modules.begin(), plane.modules.end(),
                [](const ProgramRun& a, const ProgramRun& b) { return a.start < b.start; });
    }
    FindLaunchers(host_order);
    const std::vector<uint32_t> order = ByLineAndTime(device_);
    for (size_t from = 0; from < order.size();) {
      const uint32_t line = device_[order[from]].line;
      size_t to = from;
      while (to < order.size() && device_[order[to]].line == line) ++to;
      const bool nests = Nests(device_, order.data() + from, order.data() + to);
      const uint32_t lane = nests ? next_lane_++ : kNoLane;
      const uint16_t device = trace_.DeviceNumber(planes_[lines_[line].plane].device);
      for (; from < to; ++from) AddDeviceOperation(device_[order[from]], lane, device);
    }
  }

  void AddDeviceOperation(const XlaEvent& event, uint32_t lane, uint16_t device) {
    ++report_.device_events;
    if (event.correlation != kNoXlaNumber) ++report_.with_correlation;
    const uint32_t what = InItsProgram(event);
    uint32_t kind = kinds_.OfDevice(what, whats_[what].what);
    const XlaEvent* launcher = nullptr;
    if (kind == kNoKind) {
      const auto launched = launcher_of_.find(event.correlation);
      if (event.correlation != kNoXlaNumber && launched != launcher_of_.end()) {
        launcher = &host_[launched->second];
        kind = kinds_.OfLaunch(event.what, whats_[event.what].what, launcher->what,
                               whats_[launcher->what].what);
      }
    }
    if (kind == kNoKind) {
      report_.Count(NoteKind::kDeviceEventNotTied, event.offset);
      kind = kinds_.Untied(event.what, whats_[event.what].what);
    } else {
      ++report_.tied;
    }
    uint32_t step = StepOf(event);
    if (step == kNoStep && launcher != nullptr) step = StepOf(*launcher);
    AddOperation(event, {event.start, event.end, kind, lane, step, device});
  }

  void AddOperation(const XlaEvent& event, const Op& op) {
    trace_.ops.push_back(op);
    if (event_offsets_ != nullptr) event_offsets_->push_back(event.offset);
  }

  uint32_t KindOfHost(uint32_t what) { return kinds_.OfHost(what, whats_[what].what); }

  uint32_t StepOf(const XlaEvent& event) const {
    return steps_.StepOf(event, lines_[event.line].plane);
  }

  // For each correlation, the operation that was running on the calling thread, if any.
  void FindLaunchers(const std::vector<uint32_t>& host_order) {
    if (launches_.empty()) return;
    std::map<int64_t, std::vector<uint32_t>> operations_of_thread;
    for (const uint32_t index : host_order) {
      operations_of_thread[lines_[host_[index].line].thread].push_back(index);
    }
    std::map<int64_t, std::vector<uint32_t>> launches_of_thread;
    for (uint32_t i = 0; i < launches_.size(); ++i) {
      if (launches_[i].correlation == kNoXlaNumber) continue;
      launches_of_thread[lines_[launches_[i].line].thread].push_back(i);
    }
    for (auto& [thread, launches] : launches_of_thread) {
      const auto operations = operations_of_thread.find(thread);
      if (thread == kNoXlaNumber || operations == operations_of_thread.end()) continue;
      auto by_start = [](const std::vector<XlaEvent>& events) {
        return [&events](uint32_t a, uint32_t b) { return events[a].start < events[b].start; };
      };
      std::stable_sort(launches.begin(), launches.end(), by_start(launches_));
      std::stable_sort(operations->second.begin(), operations->second.end(), by_start(host_));
      std::vector<uint32_t> open;
      auto next = operations->second.begin();
      for (const uint32_t launch : launches) {
        const Nanos time = launches_[launch].start;
        for (; next != operations->second.end() && host_[*next].start <= time; ++next) {
          while (!open.empty() && host_[open.back()].end <= host_[*next].start) open.pop_back();
          open.push_back(*next);
        }
        while (!open.empty() && host_[open.back()].end <= time) open.pop_back();
        if (!open.empty()) launcher_of_.try_emplace(launches_[launch].correlation, open.back());
      }
    }
  }

  // An instruction without a program belongs to the one that was running.
  uint32_t InItsProgram(const XlaEvent& event) {
    XlaWhat what = whats_[event.what].what;
    const auto& modules = planes_[lines_[event.line].plane].modules;
    if (!lines_[event.line].instructions || modules.empty() || what.hlo_module != 0) {
      return event.what;
    }
    auto after = std::upper_bound(modules.begin(), modules.end(), event.start,
                                  [](Nanos t, const ProgramRun& run) { return t < run.start; });
    if (after == modules.begin() || event.start >= (after - 1)->end) return event.what;
    const XlaWhat& run = whats_[(after - 1)->what].what;
    const ModuleName module = ParseModuleName(strings_.Text(run.name));
    what.hlo_module = strings_.Intern(module.name);
    if (what.program == kNoXlaNumber && module.program) what.program = *module.program;
    // The line shows instructions by their names.
    if (what.hlo_op == 0) what.hlo_op = what.name;
    return WhatNumber(what);
  }

  OpTrace& trace_;
  ImportReport& report_;
  std::vector<uint64_t>* event_offsets_;
  NoteCounter notes_;
  StringTable strings_;
  HloTable programs_;
  std::vector<Plane> planes_;
  std::vector<Line> lines_;
  std::vector<Known> whats_;
  std::unordered_map<XlaWhat, uint32_t, XlaWhatHash> numbers_;
  std::vector<XlaEvent> host_;
  std::vector<XlaEvent> device_;
  std::vector<XlaEvent> launches_;
  XlaSteps steps_;
  XlaKinds kinds_;
  std::unordered_map<int64_t, uint32_t> launcher_of_;  // index into host_
  uint32_t next_lane_ = 0;
};

XlaAssembler::XlaAssembler(OpTrace& trace, ImportReport& report,
                           std::vector<uint64_t>* event_offsets)
    : work_(std::make_unique<Work>(trace, report, event_offsets)) {}
XlaAssembler::~XlaAssembler() = default;

StringTable& XlaAssembler::strings() { return work_->strings(); }
HloTable& XlaAssembler::programs() { return work_->programs(); }
uint32_t XlaAssembler::AddPlane(std::string_view name, const std::vector<XlaLine>& lines) {
  return work_->AddPlane(name, lines);
}
uint32_t XlaAssembler::WhatNumber(const XlaWhat& what) { return work_->WhatNumber(what); }
void XlaAssembler::Add(const XlaEvent& event) { work_->Add(event); }
void XlaAssembler::AddStep(const XlaEvent& event, int64_t number) { work_->AddStep(event, number); }
void XlaAssembler::Leave(NoteKind why, uint64_t offset) { work_->Leave(why, offset); }
void XlaAssembler::Finish(std::optional<Nanos> start, const std::string& rank) {
  work_->Finish(start, rank);
}

}  // namespace beryl::importers
