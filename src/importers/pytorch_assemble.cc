// From single events to operations in their places: which module an operation ran in, which
// operation launched a kernel, which forward operation a backward one belongs to.
#include <algorithm>
#include <limits>
#include <map>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "importers/number_index.h"
#include "importers/pytorch_names.h"
#include "importers/pytorch_records.h"

namespace beryl::importers {
namespace {

constexpr uint32_t kNone = NumberIndex::kNone;

// What is known of a host record after nesting.
struct Place {
  PathId scope = kRootPath;    // for the qualified name
  PathId path = kRootPath;     // in the tree
  uint32_t parent_op = kNone;  // the operation it was called from
  uint32_t kind = kNone;       // of a host operation, once it is added
  Phase phase = Phase::kForward;
  bool in_module = false;
};

struct OpKindHash {
  size_t operator()(const OpKind& kind) const {
    uint64_t hash = kind.path;
    for (const uint64_t part :
         {uint64_t{kind.scope}, uint64_t{kind.op}, uint64_t{kind.type}, uint64_t{kind.shapes},
          static_cast<uint64_t>(kind.phase), uint64_t{kind.rank}}) {
      hash = (hash ^ part) * 0x9E3779B97F4A7C15ULL;
      hash ^= hash >> 32;
    }
    return hash;
  }
};

class Assembler {
 public:
  Assembler(std::vector<KinetoRecord> records, OpTrace& trace, ImportReport& report)
      : records_(std::move(records)),
        trace_(trace),
        report_(report),
        places_(records_.size()),
        rank_(trace.RankNumber(report.rank)) {}

  void Run() {
    for (const KinetoRecord& record : records_) {
      has_modules_ =
          has_modules_ || record.category == KinetoCategory::kModule || record.hierarchy != 0;
      has_sequences_ = has_sequences_ || record.sequence != kNoNumber;
      has_devices_ = has_devices_ || record.category == KinetoCategory::kDevice;
    }
    const std::vector<uint32_t> order = HostOrder();
    FindSteps();
    // Forward operations first: a backward one takes its place from the forward one it belongs to,
    // which may have run on a thread that comes later.
    NestAll(order, /*backward=*/false);
    if (has_sequences_ || has_modules_) NestAll(order, /*backward=*/true);
    AddHostOperations(order);
    if (has_devices_) AddDeviceOperations();
    if (has_sequences_) AddDataflow();
  }

 private:
  // An open interval of the thread that is being walked.
  struct Open {
    Nanos end;
    uint32_t op = kNone;  // the record, if it is an operation
    PathId scope = kRootPath;
    PathId path = kRootPath;
    Phase phase = Phase::kForward;
    bool in_module = false;
    bool accumulates = false;  // adds up a gradient
  };

  struct ForwardKey {
    int64_t sequence;
    StringId thread;
    bool operator==(const ForwardKey&) const = default;
  };
  struct ForwardKeyHash {
    size_t operator()(const ForwardKey& key) const {
      return static_cast<uint64_t>(key.sequence) * 0x9E3779B97F4A7C15ULL + key.thread;
    }
  };
  static constexpr StringId kAnyThread = std::numeric_limits<StringId>::max();

  static bool IsHostOp(KinetoCategory category) {
    return category == KinetoCategory::kCpuOp || category == KinetoCategory::kRuntime;
  }
  static bool IsScope(KinetoCategory category) {
    return category == KinetoCategory::kModule || category == KinetoCategory::kAnnotation;
  }

  // Host records by thread and time, outer before inner.
  std::vector<uint32_t> HostOrder() const {
    std::map<StringId, std::vector<uint32_t>> of_thread;
    std::vector<uint32_t>* last = nullptr;
    StringId last_thread = 0;
    for (uint32_t i = 0; i < records_.size(); ++i) {
      if (!IsHostOp(records_[i].category) && !IsScope(records_[i].category)) continue;
      if (last == nullptr || records_[i].thread != last_thread) {
        last_thread = records_[i].thread;
        last = &of_thread[last_thread];
      }
      last->push_back(i);
    }
    auto before = [&](uint32_t a, uint32_t b) { return IsBefore(a, b); };
    std::vector<uint32_t> order;
    for (auto& [thread, events] : of_thread) {
      // Newer versions write a thread's events in order.
      if (!std::is_sorted(events.begin(), events.end(), before)) {
        std::sort(events.begin(), events.end(), before);
      }
      order.insert(order.end(), events.begin(), events.end());
    }
    return order;
  }

  bool IsBefore(uint32_t a, uint32_t b) const {
    const KinetoRecord& x = records_[a];
    const KinetoRecord& y = records_[b];
    if (x.start != y.start) return x.start < y.start;
    if (x.end != y.end) return x.end > y.end;
    auto rank = [](KinetoCategory category) {
      if (category == KinetoCategory::kAnnotation) return 0;
      if (category == KinetoCategory::kModule) return 1;
      return category == KinetoCategory::kCpuOp ? 2 : 3;
    };
    if (rank(x.category) != rank(y.category)) return rank(x.category) < rank(y.category);
    // Old versions write whole microseconds, and events in the order they ended; ids go by start.
    if (x.external_id != y.external_id && x.category == y.category) {
      return x.external_id < y.external_id;
    }
    return a < b;
  }

  // A step as this file shows it.
  struct StepWindow {
    Nanos start;
    Nanos end;
    StringId name = 0;
    uint32_t number = 0;
  };

  void FindSteps() {
    for (const KinetoRecord& record : records_) {
      if (record.category != KinetoCategory::kStep) continue;
      steps_.push_back({record.start, record.end, record.name});
    }
    std::stable_sort(steps_.begin(), steps_.end(),
                     [](const StepWindow& a, const StepWindow& b) { return a.start < b.start; });
    if (!steps_.empty()) FindOpenSteps();
    for (StepWindow& window : steps_) {
      window.number = StepNumber(window.name, window.start);
      RunStep& step = trace_.steps[window.number];
      step.start = std::min(step.start, window.start);
      step.end = std::max(step.end, window.end);
    }
  }

  // Ranks go through the same steps; a rank that comes to a name again is in another step.
  uint32_t StepNumber(StringId name, Nanos start) {
    if (const auto open = open_steps_.find(name);
        open != open_steps_.end() && !open->second.empty()) {
      const uint32_t number = open->second.back();
      open->second.pop_back();
      return number;
    }
    trace_.steps.push_back({std::string(trace_.strings.Text(name)), start, start});
    return static_cast<uint32_t>(trace_.steps.size() - 1);
  }

  // Steps of other ranks that this rank has not been to, the last first.
  void FindOpenSteps() {
    std::vector<bool> taken(trace_.steps.size(), false);
    for (const Op& op : trace_.ops) {
      if (op.step != kNoStep && trace_.kinds[op.kind].rank == rank_) taken[op.step] = true;
    }
    for (auto number = static_cast<uint32_t>(taken.size()); number-- > 0;) {
      if (taken[number]) continue;
      open_steps_[trace_.strings.Intern(trace_.steps[number].name)].push_back(number);
    }
  }

  uint32_t StepAt(Nanos time) const {
    auto after = std::upper_bound(steps_.begin(), steps_.end(), time,
                                  [](Nanos t, const StepWindow& step) { return t < step.start; });
    if (after == steps_.begin() || time >= (after - 1)->end) return kNoStep;
    return (after - 1)->number;
  }

  // Walks every thread with a stack. On the first turn every operation gets the place its own
  // thread shows; on the second, backward operations move to the module of their forward operation.
  void NestAll(const std::vector<uint32_t>& order, bool backward) {
    std::vector<Open> stack;
    StringId thread = 0;
    bool first = true;
    for (const uint32_t index : order) {
      const KinetoRecord& record = records_[index];
      if (first || record.thread != thread) {
        stack.clear();
        last_node_ = kNone;
      }
      first = false;
      thread = record.thread;
      while (!stack.empty() && stack.back().end <= record.start) stack.pop_back();
      const Open outside{record.end, kNone, kRootPath, OutsidePath()};
      const Open& around = stack.empty() ? outside : stack.back();
      Open open = around;
      open.end = record.end;
      if (IsScope(record.category)) {
        EnterScope(record, open);
      } else {
        // Old versions round to microseconds, which moves ends by as much.
        constexpr Nanos kRounding{1000};
        if (!backward && around.op != kNone && record.end > around.end + kRounding) {
          report_.Count(NoteKind::kOutlastsOuter, record.offset);
        }
        EnterOperation(index, around.op, backward, open);
      }
      stack.push_back(open);
    }
  }

  // Where operations that no module claims are collected, in a trace that has modules.
  PathId OutsidePath() {
    if (!has_modules_) return kRootPath;
    if (outside_ == kRootPath) {
      outside_ = trace_.paths.Intern(kRootPath, trace_.strings.Intern("(outside every module)"),
                                     PathKind::kOutside);
    }
    return outside_;
  }

  // An annotation leaves the operation around it the caller of what is inside; a module does not.
  void EnterScope(const KinetoRecord& record, Open& open) {
    const std::string_view name = trace_.strings.Text(record.name);
    if (record.category == KinetoCategory::kModule) {
      open.op = kNone;
      const auto numbered = SplitNumber(name);
      std::string_view type = numbered ? numbered->stem : name;
      if (type.ends_with('_')) type.remove_suffix(1);
      const StringId type_id = trace_.strings.Intern(type);
      const auto known = place_of_module_.find(record.name);
      if (!open.in_module && known != place_of_module_.end()) {
        // A module that is run again without its surroundings, as checkpointing does in the
        // backward phase.
        open.path = known->second.path;
        open.scope = known->second.scope;
      } else {
        // The outermost module leaves "outside every module" behind.
        const PathId above = open.in_module ? open.path : kRootPath;
        open.path = trace_.paths.Intern(above, record.name, PathKind::kModule, type_id);
        open.scope = trace_.paths.Intern(open.scope, record.name, PathKind::kModule, type_id);
        if (open.phase != Phase::kBackward) {
          place_of_module_.try_emplace(record.name, Place{open.scope, open.path});
        }
      }
      open.in_module = true;
      return;
    }
    open.path = trace_.paths.Intern(open.path, record.name, PathKind::kAnnotation);
    if (!has_modules_) open.scope = open.path;
    if (ContainsWord(name, "optimizer")) open.phase = Phase::kOptimizer;
    if (ContainsWord(name, "backward")) open.phase = Phase::kBackward;
  }

  void EnterOperation(uint32_t index, uint32_t caller, bool second_turn, Open& open) {
    const KinetoRecord& record = records_[index];
    Place& place = places_[index];
    const std::string_view name = trace_.strings.Text(record.name);
    const bool starts_backward = record.backward || IsBackward(record.name);
    if (starts_backward) open.phase = Phase::kBackward;
    // In the backward phase the hierarchy is left over from some forward operation.
    if (record.hierarchy != 0 && !open.in_module && open.phase != Phase::kBackward) {
      EnterHierarchy(record.hierarchy, open);
    }
    if (second_turn && caller == kNone) {
      if (!starts_backward) last_node_ = kNone;
      if (starts_backward && !open.in_module) FollowForward(index, name, open);
    }
    if (open.accumulates && name.starts_with("c10d::")) {
      // The last gradient of a bucket sets off the exchange of all of them.
      open.path = OutsidePath();
      open.scope = kRootPath;
      open.in_module = false;
    }
    open.path = trace_.paths.Intern(open.path, record.name, PathKind::kOperation);
    open.op = index;
    place.scope = open.scope;
    place.path = open.path;
    place.parent_op = caller;
    place.phase = open.phase;
    place.in_module = open.in_module;
    if (!second_turn && record.sequence != kNoNumber && open.phase != Phase::kBackward) {
      RememberForward({record.sequence, record.thread}, index);
      RememberForward({record.sequence, kAnyThread}, index);
    }
  }

  // The last operation with a number, by start, is the one that made the backward node.
  void RememberForward(const ForwardKey& key, uint32_t index) {
    auto [entry, is_new] = forwards_.try_emplace(key, index);
    if (!is_new && records_[entry->second].start <= records_[index].start) entry->second = index;
  }

  // Numbers are counted by each forward thread on its own. On a CPU backward runs on the thread of
  // its forward pass, so that thread's operation is meant if it has one with the number.
  uint32_t ForwardOf(const KinetoRecord& record) const {
    if (record.sequence == kNoNumber) return kNone;
    auto forward = forwards_.find({record.sequence, record.thread});
    if (forward == forwards_.end()) forward = forwards_.find({record.sequence, kAnyThread});
    return forward == forwards_.end() ? kNone : forward->second;
  }

  // Names are few and events many.
  bool IsBackward(StringId name) {
    enum : uint8_t { kUnknown, kNo, kYes };
    if (name >= backward_names_.size()) backward_names_.resize(trace_.strings.size(), kUnknown);
    uint8_t& known = backward_names_[name];
    if (known == kUnknown) known = IsBackwardName(trace_.strings.Text(name)) ? kYes : kNo;
    return known == kYes;
  }

  void FollowForward(uint32_t index, std::string_view name, Open& open) {
    // Adding up a gradient comes before everything else that waits in the engine's queue: it runs
    // right after the node that made the gradient, and has no number of its own.
    open.accumulates = IsAccumulateGrad(name);
    if (!open.accumulates) last_node_ = ForwardOf(records_[index]);
    if (last_node_ != kNone) MoveTo(places_[last_node_], open);
  }

  void MoveTo(const Place& forward, Open& open) const {
    if (has_modules_ && !forward.in_module) return;
    open.scope = forward.scope;
    open.path = forward.scope;
    open.in_module = forward.in_module;
  }

  // `top(Net)::forward.layer1(Sequential)::forward.0(Block)::forward`, as TorchScript writes it.
  void EnterHierarchy(StringId hierarchy, Open& open) {
    const std::string text(trace_.strings.Text(hierarchy));
    PathId path = kRootPath;
    size_t at = 0;
    while (at < text.size()) {
      size_t end = at;
      int depth = 0;
      for (; end < text.size() && (depth > 0 || text[end] != '.'); ++end) {
        if (text[end] == '(') ++depth;
        if (text[end] == ')') --depth;
      }
      std::string_view part = std::string_view(text).substr(at, end - at);
      at = end + 1;
      part = part.substr(0, part.find("::"));
      const size_t bracket = part.find('(');
      std::string_view name = part.substr(0, bracket);
      std::string_view type;
      if (bracket != std::string_view::npos) {
        type = part.substr(bracket + 1);
        if (type.ends_with(')')) type.remove_suffix(1);
      }
      if (name == "TOP" || name == "top") name = type;
      if (name == "SELF" || name.empty()) continue;
      path = trace_.paths.Intern(path, trace_.strings.Intern(name), PathKind::kModule,
                                 trace_.strings.Intern(type));
    }
    if (path == kRootPath) return;
    open.path = open.scope = path;
    open.in_module = true;
  }

  uint32_t KindOf(OpKind kind) {
    kind.rank = rank_;
    // Nearly every path has one kind.
    if (kind.path >= kind_of_path_.size()) kind_of_path_.resize(trace_.paths.size(), kNone);
    uint32_t& last = kind_of_path_[kind.path];
    if (last != kNone && trace_.kinds[last] == kind) return last;
    auto [place, is_new] = kinds_.try_emplace(kind, static_cast<uint32_t>(trace_.kinds.size()));
    if (is_new) trace_.kinds.push_back(kind);
    return last = place->second;
  }

  void AddHostOperations(const std::vector<uint32_t>& order) {
    trace_.ops.reserve(trace_.ops.size() + records_.size());
    uint32_t lane = kNoLane;
    StringId thread = 0;
    for (const uint32_t index : order) {
      const KinetoRecord& record = records_[index];
      if (!IsHostOp(record.category)) continue;
      if (lane == kNoLane || record.thread != thread) lane = LaneOf(record.thread, 0);
      thread = record.thread;
      Place& place = places_[index];
      place.kind =
          KindOf({place.path, place.scope, record.name, record.name, record.shapes, place.phase});
      trace_.ops.push_back({record.start, record.end, place.kind, lane, StepAt(record.start),
                            DeviceOf(record.device)});
      if (has_modules_) ++(place.in_module ? report_.inside_modules : report_.outside_modules);
    }
  }

  // What a host thread runs, itself or on a device, is a lane. Lanes of several files must not
  // meet: a thread is told apart by file.
  uint32_t LaneOf(StringId thread, StringId device) {
    if (lanes_.empty()) {
      for (const Op& op : trace_.ops) {
        if (op.lane != kNoLane) first_lane_ = std::max(first_lane_, op.lane + 1);
      }
    }
    const uint64_t key = (static_cast<uint64_t>(device) << 32) | thread;
    return lanes_.try_emplace(key, first_lane_ + static_cast<uint32_t>(lanes_.size()))
        .first->second;
  }

  uint16_t DeviceOf(StringId name) {
    auto [place, is_new] = devices_.try_emplace(name, 0);
    if (is_new) {
      place->second =
          trace_.DeviceNumber(name == 0 ? "CPU:0" : std::string(trace_.strings.Text(name)));
    }
    return place->second;
  }

  // As in the file, but that those that enclose others come before these.
  std::vector<uint32_t> DeviceOrder() const {
    std::vector<uint32_t> order;
    bool encloses = false;
    for (uint32_t i = 0; i < records_.size(); ++i) {
      if (records_[i].category != KinetoCategory::kDevice) continue;
      order.push_back(i);
      encloses = encloses || records_[i].encloses;
    }
    if (encloses) {
      std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
        const KinetoRecord& x = records_[a];
        const KinetoRecord& y = records_[b];
        return x.start != y.start ? x.start < y.start : x.end > y.end;
      });
    }
    return order;
  }

  void AddDeviceOperations() {
    std::vector<std::pair<int64_t, uint32_t>> correlations;
    std::vector<std::pair<int64_t, uint32_t>> external_ids;
    for (uint32_t i = 0; i < records_.size(); ++i) {
      const KinetoRecord& record = records_[i];
      if (IsHostOp(record.category) && record.correlation >= 0) {
        correlations.emplace_back(record.correlation, i);
      }
      if (record.category == KinetoCategory::kCpuOp && record.external_id >= 0) {
        external_ids.emplace_back(record.external_id, i);
      }
    }
    const NumberIndex call_of_correlation(correlations);
    const NumberIndex op_of_external_id(external_ids);
    for (const uint32_t index : DeviceOrder()) {
      const KinetoRecord& record = records_[index];
      ++report_.device_events;
      if (record.correlation != kNoNumber) ++report_.with_correlation;
      uint32_t launcher = call_of_correlation.Find(record.correlation);
      if (launcher == kNone) {
        launcher = op_of_external_id.Find(record.external_id);
        if (launcher != kNone && records_[launcher].start > record.start) launcher = kNone;
      }
      AddDeviceOperation(record, launcher);
    }
  }

  // A kernel belongs to the operation that launched it. What is launched from a module or a region
  // directly, as compiled code does, is an operation itself.
  void SetLauncher(uint32_t launcher, const KinetoRecord& record, OpKind& kind) {
    // A runtime call may itself be called from a runtime call; the operation is above both.
    auto is_call = [&](uint32_t index) {
      return index != kNone && records_[index].category == KinetoCategory::kRuntime;
    };
    while (is_call(launcher) && is_call(places_[launcher].parent_op)) {
      launcher = places_[launcher].parent_op;
    }
    PathId above = places_[launcher].path;
    StringId name = records_[launcher].name;
    if (is_call(launcher)) {
      above = trace_.paths[above].parent;
      const bool in_operation = trace_.paths[above].kind == PathKind::kOperation;
      if (in_operation) launcher = places_[launcher].parent_op;
      name = in_operation ? records_[launcher].name : record.name;
    }
    kind.path = trace_.paths.Intern(above, record.name, PathKind::kKernel);
    kind.scope = places_[launcher].scope;
    kind.op = kind.type = name;
    kind.shapes = records_[launcher].shapes;
    kind.phase = places_[launcher].phase;
  }

  void AddDeviceOperation(const KinetoRecord& record, uint32_t launcher) {
    OpKind kind;
    kind.type = record.name;
    uint32_t step = kNoStep;
    uint32_t lane = kNoLane;
    if (launcher != kNone) {
      ++report_.tied;
      if (record.encloses) lane = LaneOf(records_[launcher].thread, record.device);
      SetLauncher(launcher, record, kind);
      step = StepAt(records_[launcher].start);
    } else {
      report_.Count(NoteKind::kDeviceEventNotTied, record.offset);
      const PathId untied = trace_.paths.Intern(
          kRootPath, trace_.strings.Intern("(not tied to an operation)"), PathKind::kOutside);
      kind.path = trace_.paths.Intern(untied, record.name, PathKind::kKernel);
      kind.op = record.name;
      step = StepAt(record.start);
    }
    trace_.ops.push_back(
        {record.start, record.end, KindOf(kind), lane, step, DeviceOf(record.device)});
  }

  // What a forward operation keeps goes to the backward operation of the same number. Operations
  // of one phase do not tell whose results they take.
  void AddDataflow() {
    const auto first = static_cast<std::ptrdiff_t>(trace_.dataflow.size());
    for (uint32_t i = 0; i < records_.size(); ++i) {
      const KinetoRecord& record = records_[i];
      if (record.category != KinetoCategory::kCpuOp || record.sequence == kNoNumber) continue;
      const std::string_view name = trace_.strings.Text(record.name);
      if (places_[i].phase != Phase::kBackward || !IsBackwardName(name) || IsEngineWrapper(name)) {
        continue;
      }
      const uint32_t forward = ForwardOf(record);
      if (forward != kNone && forward != i) {
        trace_.dataflow.push_back({places_[forward].kind, places_[i].kind});
      }
    }
    // Kinds of this file are new, so its arrows come after those of the others.
    std::sort(trace_.dataflow.begin() + first, trace_.dataflow.end());
    trace_.dataflow.erase(std::unique(trace_.dataflow.begin() + first, trace_.dataflow.end()),
                          trace_.dataflow.end());
  }

  std::vector<KinetoRecord> records_;
  OpTrace& trace_;
  ImportReport& report_;
  std::vector<Place> places_;
  std::unordered_map<ForwardKey, uint32_t, ForwardKeyHash> forwards_;
  std::unordered_map<StringId, Place> place_of_module_;
  std::unordered_map<OpKind, uint32_t, OpKindHash> kinds_;
  std::unordered_map<uint64_t, uint32_t> lanes_;  // by device and host thread
  uint32_t first_lane_ = 0;
  std::unordered_map<StringId, uint16_t> devices_;
  std::vector<StepWindow> steps_;  // by start
  std::unordered_map<StringId, std::vector<uint32_t>> open_steps_;
  uint16_t rank_;
  uint32_t last_node_ = kNone;  // forward operation of what the engine ran last on the thread
  std::vector<uint8_t> backward_names_;  // by name
  std::vector<uint32_t> kind_of_path_;   // the last one
  PathId outside_ = kRootPath;
  bool has_modules_ = false;
  bool has_sequences_ = false;
  bool has_devices_ = false;
};

}  // namespace

void AssembleKineto(std::vector<KinetoRecord> records, OpTrace& trace, ImportReport& report) {
  Assembler(std::move(records), trace, report).Run();
}

}  // namespace beryl::importers
