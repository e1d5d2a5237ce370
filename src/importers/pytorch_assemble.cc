// Turns single events into operations in their places: which module an operation ran in, which
// operation launched a kernel, which forward operation a backward one belongs to.
#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "importers/number_index.h"
#include "importers/pytorch_forwards.h"
#include "importers/pytorch_names.h"
#include "importers/pytorch_order.h"
#include "importers/pytorch_records.h"
#include "importers/pytorch_steps.h"

namespace beryl::importers {
namespace {

constexpr uint32_t kNone = NumberIndex::kNone;

// What is known of a host record after nesting.
struct Place {
  PathId scope = kRootPath;    // for the qualified name
  PathId path = kRootPath;     // in the tree
  PathId module = kRootPath;   // in the tree: the innermost module around it, or itself
  uint32_t parent_op = kNone;  // the operation it was called from
  uint32_t kind = kNone;       // of a host operation, once it is added
  Phase phase = Phase::kForward;
  bool in_module = false;
};

// Positions in OpTrace::kinds.
struct KindsOfPath {
  uint32_t first = kNone;
  uint32_t last = kNone;  // the last one looked for
};

struct OpKindHash {
  size_t operator()(const OpKind& kind) const {
    uint64_t hash = kind.path;
    for (const uint64_t part :
         {uint64_t{kind.scope}, uint64_t{kind.op}, uint64_t{kind.type}, uint64_t{kind.shapes},
          static_cast<uint64_t>(kind.phase), uint64_t{kind.rank}, uint64_t{kind.dtype}}) {
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
        rank_(trace.RankNumber(report.rank)),
        steps_(records_, rank_, trace),
        forwards_(records_) {}

  void Run() {
    for (const KinetoRecord& record : records_) {
      has_modules_ =
          has_modules_ || record.category == KinetoCategory::kModule || record.hierarchy != 0;
      has_sequences_ = has_sequences_ || record.sequence != kNoNumber;
      has_devices_ = has_devices_ || record.category == KinetoCategory::kDevice;
    }
    const std::vector<uint32_t> order = HostOrder(records_);
    // Forward operations first: a backward operation takes its place from its forward operation,
    // which may be on a later thread.
    NestAll(order, /*backward=*/false);
    if (has_sequences_ || has_modules_) NestAll(order, /*backward=*/true);
    AddHostOperations(order);
    if (has_devices_) AddDeviceOperations();
    if (has_sequences_) AddDataflow();
  }

 private:
  // An open interval of the current thread.
  struct Open {
    Nanos end;
    uint32_t op = kNone;  // the record, if it is an operation
    PathId scope = kRootPath;
    PathId path = kRootPath;
    PathId module = kRootPath;
    Phase phase = Phase::kForward;
    bool in_module = false;
    bool accumulates = false;  // accumulates a gradient
  };

  // Walks every thread with a stack. The first pass gives every operation the place that its own
  // thread shows; the second moves backward operations to the module of their forward operation.
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
      const Open outside{.end = record.end, .path = OutsidePath()};
      const Open& around = stack.empty() ? outside : stack.back();
      Open open = around;
      open.end = record.end;
      if (IsScope(record.category)) {
        EnterScope(record, open);
      } else {
        // Old versions round to microseconds, which shifts ends by as much.
        constexpr Nanos kRounding{1000};
        if (!backward && around.op != kNone && record.end > around.end + kRounding) {
          report_.Count(NoteKind::kOutlastsOuter, record.offset);
        }
        EnterOperation(index, around.op, backward, open);
      }
      stack.push_back(open);
    }
  }

  // Where operations outside of modules are collected, in a trace with modules.
  PathId OutsidePath() {
    if (!has_modules_) return kRootPath;
    if (outside_ == kRootPath) {
      outside_ = trace_.paths.Intern(kRootPath, trace_.strings.Intern("(outside every module)"),
                                     PathKind::kOutside);
    }
    return outside_;
  }

  // Inside an annotation the caller stays the enclosing operation; inside a module it does not.
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
        // The outermost module ends "outside every module".
        const PathId above = open.in_module ? open.path : kRootPath;
        open.path = trace_.paths.Intern(above, record.name, PathKind::kModule, type_id);
        open.scope = trace_.paths.Intern(open.scope, record.name, PathKind::kModule, type_id);
        if (open.phase != Phase::kBackward) {
          place_of_module_.try_emplace(record.name, Place{open.scope, open.path});
        }
      }
      open.module = open.path;
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
    // In the backward phase the hierarchy is left over from a forward operation.
    if (record.hierarchy != 0 && !open.in_module && open.phase != Phase::kBackward) {
      EnterHierarchy(record.hierarchy, open);
    }
    if (second_turn && caller == kNone) {
      if (!starts_backward) last_node_ = kNone;
      if (starts_backward && !open.in_module) FollowForward(index, name, open);
    }
    if (open.accumulates && name.starts_with("c10d::")) {
      // The last gradient of a bucket triggers the exchange of all of them.
      open.path = OutsidePath();
      open.scope = kRootPath;
      open.in_module = false;
    }
    open.path = trace_.paths.Intern(open.path, record.name, PathKind::kOperation);
    open.op = index;
    place.scope = open.scope;
    place.path = open.path;
    place.module = open.module;
    place.parent_op = caller;
    place.phase = open.phase;
    place.in_module = open.in_module;
    if (!second_turn && record.sequence != kNoNumber && open.phase != Phase::kBackward) {
      forwards_.Remember(index);
    }
  }

  // There are few names and many events.
  bool IsBackward(StringId name) {
    enum : uint8_t { kUnknown, kNo, kYes };
    if (name >= backward_names_.size()) backward_names_.resize(trace_.strings.size(), kUnknown);
    uint8_t& known = backward_names_[name];
    if (known == kUnknown) known = IsBackwardName(trace_.strings.Text(name)) ? kYes : kNo;
    return known == kYes;
  }

  void FollowForward(uint32_t index, std::string_view name, Open& open) {
    // Accumulating a gradient has priority in the engine's queue: it runs right after the node that
    // made the gradient, and has no number of its own.
    open.accumulates = IsAccumulateGrad(name);
    if (!open.accumulates) last_node_ = forwards_.Of(records_[index]);
    if (last_node_ != kNone) MoveTo(places_[last_node_], open);
  }

  void MoveTo(const Place& forward, Open& open) const {
    if (has_modules_ && !forward.in_module) return;
    open.scope = forward.scope;
    // A scope names no regions between modules, such as `DistributedDataParallel.forward`.
    open.path = has_modules_ ? forward.module : forward.scope;
    open.module = forward.module;
    open.in_module = forward.in_module;
  }

  // TorchScript's form: `top(Net)::forward.layer1(Sequential)::forward.0(Block)::forward`.
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
    open.path = open.scope = open.module = path;
    open.in_module = true;
  }

  // Nearly every path has one kind, which therefore needs no look into the map.
  uint32_t KindOf(OpKind kind) {
    kind.rank = rank_;
    if (kind.path >= kinds_of_path_.size()) kinds_of_path_.resize(trace_.paths.size());
    KindsOfPath& known = kinds_of_path_[kind.path];
    for (const uint32_t candidate : {known.first, known.last}) {
      if (candidate != kNone && trace_.kinds[candidate] == kind) return candidate;
    }
    auto number = static_cast<uint32_t>(trace_.kinds.size());
    bool is_new = known.first == kNone;
    if (is_new) {
      known.first = number;
    } else {
      const auto entry = further_kinds_.try_emplace(kind, number);
      is_new = entry.second;
      number = entry.first->second;
    }
    if (is_new) trace_.kinds.push_back(kind);
    return known.last = number;
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
      OpKind kind = {place.path, place.scope, record.name, record.name, record.shapes, place.phase};
      kind.dtype = record.dtype;
      place.kind = KindOf(kind);
      trace_.ops.push_back({record.start, record.end, place.kind, lane, steps_.At(record.start),
                            DeviceOf(record.device)});
      if (has_modules_) ++(place.in_module ? report_.inside_modules : report_.outside_modules);
    }
  }

  // What a host thread runs, itself or on a device, is a lane. Threads are distinguished by file,
  // so that lanes of several files never meet.
  uint32_t LaneOf(StringId thread, StringId device) {
    if (lanes_.empty()) {
      for (const Op& op : trace_.ops) {
        if (op.lane != kNoLane) first_lane_ = std::max(first_lane_, op.lane + 1);
      }
    }
    const uint64_t key = (static_cast<uint64_t>(device) << 32) | thread;
    if (key == last_lane_.first) return last_lane_.second;
    const auto lane =
        lanes_.try_emplace(key, first_lane_ + static_cast<uint32_t>(lanes_.size())).first;
    last_lane_ = *lane;
    return last_lane_.second;
  }

  uint16_t DeviceOf(StringId name) {
    if (name == last_device_.first) return last_device_.second;
    auto [place, is_new] = devices_.try_emplace(name, 0);
    if (is_new) {
      place->second =
          trace_.DeviceNumber(name == 0 ? "CPU:0" : std::string(trace_.strings.Text(name)));
    }
    last_device_ = *place;
    return last_device_.second;
  }

  // The records of some categories by one of their numbers.
  template <typename IsWanted>
  NumberIndex IndexOf(int64_t KinetoRecord::*number, IsWanted&& is_wanted) const {
    std::vector<std::pair<int64_t, uint32_t>> entries;
    for (uint32_t i = 0; i < records_.size(); ++i) {
      const int64_t of_record = records_[i].*number;
      if (of_record >= 0 && is_wanted(records_[i].category)) entries.emplace_back(of_record, i);
    }
    return NumberIndex(entries);
  }

  void AddDeviceOperations() {
    const NumberIndex call_of_correlation = IndexOf(&KinetoRecord::correlation, IsHostOp);
    std::optional<NumberIndex> op_of_external_id;  // rarely needed
    for (const uint32_t index : DeviceOrder(records_)) {
      const KinetoRecord& record = records_[index];
      ++report_.device_events;
      if (record.correlation != kNoNumber) ++report_.with_correlation;
      uint32_t launcher = call_of_correlation.Find(record.correlation);
      if (launcher == kNone && record.external_id != kNoNumber) {
        if (!op_of_external_id) {
          op_of_external_id = IndexOf(&KinetoRecord::external_id, [](KinetoCategory category) {
            return category == KinetoCategory::kCpuOp;
          });
        }
        launcher = op_of_external_id->Find(record.external_id);
        if (launcher != kNone && records_[launcher].start > record.start) launcher = kNone;
      }
      AddDeviceOperation(record, launcher);
    }
  }

  // A kernel belongs to the operation that launched it. A kernel launched directly from a module or
  // a region, as by compiled code, is an operation itself.
  void SetLauncher(uint32_t launcher, const KinetoRecord& record, OpKind& kind) {
    // A runtime call may be called from another runtime call; the operation is above both.
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
      step = steps_.At(records_[launcher].start);
    } else {
      report_.Count(NoteKind::kDeviceEventNotTied, record.offset);
      const PathId untied = trace_.paths.Intern(
          kRootPath, trace_.strings.Intern("(not tied to an operation)"), PathKind::kOutside);
      kind.path = trace_.paths.Intern(untied, record.name, PathKind::kKernel);
      kind.op = record.name;
      step = steps_.At(record.start);
    }
    trace_.ops.push_back(
        {record.start, record.end, KindOf(kind), lane, step, DeviceOf(record.device)});
  }

  // Data flows from a forward operation to the backward operation with the same number. Within one
  // phase the trace does not tell the flow.
  void AddDataflow() {
    const auto first = static_cast<std::ptrdiff_t>(trace_.dataflow.size());
    for (uint32_t i = 0; i < records_.size(); ++i) {
      const KinetoRecord& record = records_[i];
      if (record.category != KinetoCategory::kCpuOp || record.sequence == kNoNumber) continue;
      const std::string_view name = trace_.strings.Text(record.name);
      if (places_[i].phase != Phase::kBackward || !IsBackwardName(name) || IsEngineWrapper(name)) {
        continue;
      }
      const uint32_t forward = forwards_.Of(record);
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
  uint16_t rank_;
  KinetoSteps steps_;
  ForwardOperations forwards_;
  std::unordered_map<StringId, Place> place_of_module_;
  std::vector<KindsOfPath> kinds_of_path_;
  std::unordered_map<OpKind, uint32_t, OpKindHash> further_kinds_;  // but the first of each path
  std::unordered_map<uint64_t, uint32_t> lanes_;                    // by device and host thread
  std::pair<uint64_t, uint32_t> last_lane_ = {~uint64_t{0}, kNoLane};
  uint32_t first_lane_ = 0;
  std::unordered_map<StringId, uint16_t> devices_;
  std::pair<StringId, uint16_t> last_device_ = {~StringId{0}, uint16_t{0}};
  uint32_t last_node_ = kNone;  // forward operation of what the engine last ran on the thread
  std::vector<uint8_t> backward_names_;  // by name
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
