#include "importers/pytorch_fresh_modules.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "base/text.h"

namespace beryl::importers {
namespace {

constexpr uint32_t kNone = ~uint32_t{0};
// Two steps with other experts of a mixture are likely; three without one in common are not.
constexpr size_t kStepsOfCopies = 3;

// Operations on weights.
bool UsesWeights(std::string_view name) {
  constexpr std::string_view kPrefix = "aten::";
  if (!name.starts_with(kPrefix)) return false;
  name.remove_prefix(kPrefix.size());
  static constexpr std::string_view kNames[] = {"linear", "addmm", "lstm", "gru", "prelu"};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames) ||
         name.find("conv") != std::string_view::npos ||
         (name.starts_with("embedding") && name != "embedding_renorm_") ||
         (name.ends_with("_norm") && !name.starts_with("linalg"));
}

class Namer {
 public:
  Namer(std::vector<KinetoRecord>& records, StringTable& strings)
      : records_(records), strings_(strings) {}

  void Run() {
    FindCalls();
    FindSteps();
    if (steps_.size() < 2 || !HasSomeNotInEveryStep()) return;
    FindWeights();
    // From the outside in: modules inside of one that was renamed are at the same place too.
    uint32_t deepest = 0;
    for (const Call& call : calls_) deepest = std::max(deepest, call.depth);
    for (uint32_t depth = 0; depth <= deepest; ++depth) NameAt(depth);
    for (Call& call : calls_) records_[call.record].name = call.name;
  }

 private:
  // One call of a module.
  struct Call {
    uint32_t record = 0;
    uint32_t above = kNone;  // the call around it
    uint32_t depth = 0;
    StringId name = 0;  // the new one
    uint32_t path = 0;  // of the new names, its own and those around it
    bool weights = false;
    bool has_modules = false;
    uint64_t work = 0;  // what its operations and their shapes hash to; 0: not known
  };

  Nanos Start(const Call& call) const { return records_[call.record].start; }

  // Calls by thread and time, outer before inner.
  void FindCalls() {
    std::vector<uint32_t> order;
    for (uint32_t i = 0; i < records_.size(); ++i) {
      if (records_[i].category == KinetoCategory::kModule) order.push_back(i);
    }
    std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
      const KinetoRecord& x = records_[a];
      const KinetoRecord& y = records_[b];
      if (x.thread != y.thread) return x.thread < y.thread;
      return x.start != y.start ? x.start < y.start : x.end > y.end;
    });
    std::vector<uint32_t> open;
    for (const uint32_t record : order) {
      while (!open.empty() && !IsAround(open.back(), record)) open.pop_back();
      Call call{record, open.empty() ? kNone : open.back(), static_cast<uint32_t>(open.size()),
                records_[record].name};
      if (!open.empty()) calls_[open.back()].has_modules = true;
      open.push_back(static_cast<uint32_t>(calls_.size()));
      calls_.push_back(call);
    }
  }

  bool IsAround(uint32_t call, uint32_t record) const {
    const KinetoRecord& outer = records_[calls_[call].record];
    return outer.thread == records_[record].thread && outer.end > records_[record].start;
  }

  // Whether a class has several modules that cannot have run in every step: most traces have none.
  bool HasSomeNotInEveryStep() const {
    std::unordered_map<StringId, size_t> runs;
    for (const Call& call : calls_) ++runs[call.name];
    std::set<std::string_view> classes;
    return std::any_of(runs.begin(), runs.end(), [&](const auto& module) {
      const auto numbered = SplitNumber(strings_.Text(module.first));
      return module.second < steps_.size() && numbered && !classes.insert(numbered->stem).second;
    });
  }

  void FindSteps() {
    for (const KinetoRecord& record : records_) {
      if (record.category == KinetoCategory::kStep) steps_.push_back(record.start);
    }
    if (steps_.empty()) {
      std::unordered_map<StringId, std::vector<Nanos>> starts;
      for (const Call& call : calls_) {
        if (call.above == kNone) starts[call.name].push_back(Start(call));
      }
      for (const Call& call : calls_) {
        if (call.above != kNone || starts[call.name].size() < 2) continue;
        steps_ = starts[call.name];
        break;
      }
    }
    std::sort(steps_.begin(), steps_.end());
  }

  // The number of the step; what comes before the first is a step too.
  size_t StepOf(const Call& call) const {
    return static_cast<size_t>(std::upper_bound(steps_.begin(), steps_.end(), Start(call)) -
                               steps_.begin());
  }

  void FindWeights() {
    std::unordered_map<StringId, bool> known;
    ForEachOperation(
        [&](const KinetoRecord& record) {
          const auto [name, is_new] = known.try_emplace(record.name, false);
          if (is_new) name->second = UsesWeights(strings_.Text(record.name));
          return name->second;
        },
        [](const KinetoRecord&, Call& call) { call.weights = true; });
  }

  // Only where it is asked for: few traces have copies.
  void FindWork() {
    if (std::exchange(knows_work_, true)) return;
    ForEachOperation([](const KinetoRecord& record) { return record.shapes != 0; },
                     [](const KinetoRecord& record, Call& call) {
                       uint64_t hash = (uint64_t{record.name} << 32) | record.shapes;
                       hash = (hash ^ (hash >> 31)) * 0x9E3779B97F4A7C15ULL;
                       call.work += hash ^ (hash >> 29);
                     });
  }

  // Visits the wanted operations with each of the calls around them.
  template <typename IsWanted, typename Visit>
  void ForEachOperation(IsWanted&& is_wanted, Visit&& visit) {
    // By thread: the calls are in the order of their starts.
    std::unordered_map<StringId, std::pair<uint32_t, uint32_t>> of_thread;
    for (uint32_t i = 0; i < calls_.size(); ++i) {
      const StringId thread = records_[calls_[i].record].thread;
      of_thread.try_emplace(thread, i, i).first->second.second = i + 1;
    }
    for (const KinetoRecord& record : records_) {
      if (record.category != KinetoCategory::kCpuOp || !is_wanted(record)) continue;
      const auto thread = of_thread.find(record.thread);
      if (thread == of_thread.end()) continue;
      const auto first = calls_.begin() + thread->second.first;
      const auto after =
          std::upper_bound(first, calls_.begin() + thread->second.second, record.start,
                           [&](Nanos time, const Call& call) { return time < Start(call); });
      if (after == first) continue;
      for (auto at = static_cast<uint32_t>(after - calls_.begin() - 1); at != kNone;
           at = calls_[at].above) {
        if (records_[calls_[at].record].end > record.start) visit(record, calls_[at]);
      }
    }
  }

  // The calls of the modules of one class at one place.
  struct Group {
    std::map<StringId, std::set<size_t>> steps_of;    // by module
    std::map<size_t, std::vector<StringId>> in_step;  // modules in the order they ran
    std::vector<uint32_t> calls;
    bool weights = false;
    bool has_modules = false;  // in one of its modules
  };

  void NameAt(uint32_t depth) {
    std::map<std::pair<uint32_t, StringId>, Group> groups;  // by path above and class
    for (uint32_t i = 0; i < calls_.size(); ++i) {
      const Call& call = calls_[i];
      if (call.depth != depth) continue;
      const auto numbered = SplitNumber(strings_.Text(call.name));
      if (!numbered) continue;
      Group& group = groups[{PathAbove(call), classes_.Intern(numbered->stem)}];
      const size_t step = StepOf(call);
      if (group.steps_of[call.name].insert(step).second) group.in_step[step].push_back(call.name);
      group.calls.push_back(i);
      group.weights = group.weights || call.weights;
      group.has_modules = group.has_modules || call.has_modules;
    }
    for (const auto& [place, group] : groups) {
      if (IsMadeAnew(group)) Rename(group);
    }
    for (Call& call : calls_) {
      if (call.depth != depth) continue;
      const auto next = static_cast<uint32_t>(paths_.size() + 1);
      call.path = paths_.try_emplace({PathAbove(call), call.name}, next).first->second;
    }
  }

  uint32_t PathAbove(const Call& call) const {
    return call.above == kNone ? 0 : calls_[call.above].path;
  }

  bool IsMadeAnew(const Group& group) {
    if (group.in_step.size() < (group.weights ? kStepsOfCopies : 2)) return false;
    const size_t each = group.in_step.begin()->second.size();
    const bool anew = group.steps_of.size() > each &&
                      std::all_of(group.in_step.begin(), group.in_step.end(),
                                  [&](const auto& step) { return step.second.size() == each; });
    if (!anew) return false;
    // Parts of a model that run by turns, such as experts, have weights or modules inside.
    if (!RanOnceEach(group)) return !group.weights && !group.has_modules;
    return !group.weights || DidTheSame(group);
  }

  static bool RanOnceEach(const Group& group) {
    return std::all_of(group.steps_of.begin(), group.steps_of.end(),
                       [](const auto& module) { return module.second.size() == 1; });
  }

  // Whether the modules of all steps are copies, judging by their work.
  bool DidTheSame(const Group& group) {
    FindWork();
    std::unordered_map<StringId, uint64_t> work;
    for (const uint32_t i : group.calls) work[calls_[i].name] += calls_[i].work;
    const std::vector<StringId>& names = group.in_step.begin()->second;
    return std::all_of(group.in_step.begin(), group.in_step.end(), [&](const auto& step) {
      for (size_t i = 0; i < names.size(); ++i) {
        if (work[names[i]] == 0 || work[step.second[i]] != work[names[i]]) return false;
      }
      return true;
    });
  }

  // By step, because a number that is used again may be at another place there.
  void Rename(const Group& group) {
    const std::vector<StringId>& names = group.in_step.begin()->second;
    for (const uint32_t i : group.calls) {
      const std::vector<StringId>& here = group.in_step.at(StepOf(calls_[i]));
      const auto place = std::find(here.begin(), here.end(), calls_[i].name) - here.begin();
      calls_[i].name = names[static_cast<size_t>(place)];
    }
  }

  std::vector<KinetoRecord>& records_;
  StringTable& strings_;
  std::vector<Call> calls_;
  StringTable classes_;
  std::map<std::pair<uint32_t, StringId>, uint32_t> paths_;
  std::vector<Nanos> steps_;
  bool knows_work_ = false;
};

}  // namespace

void NameFreshModules(std::vector<KinetoRecord>& records, StringTable& strings) {
  Namer(records, strings).Run();
}

}  // namespace beryl::importers
