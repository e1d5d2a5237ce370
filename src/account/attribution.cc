#include "account/attribution.h"

#include <algorithm>
#include <array>
#include <future>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>

#include "base/compensated_sum.h"
#include "base/sort_by_key.h"

namespace beryl::account {
namespace {

constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();

// Totals by kind and step. Instances of one kind come in bursts within one step, so the last cell
// is nearly always the right one. Without steps, no kind has more than its first.
class Cells {
 public:
  explicit Cells(size_t kinds) : known_(kinds) {}

  uint32_t Find(uint32_t kind, uint32_t step, std::vector<AttributionCell>& cells) {
    Known& known = known_[kind];
    if (known.last != kNone && known.last_step == step) return known.last;
    known.last_step = step;
    if (known.first != kNone && cells[known.first].step == step) return known.last = known.first;
    const auto next = static_cast<uint32_t>(cells.size());
    if (known.first == kNone) {
      known.first = known.last = next;
    } else {
      const uint64_t key = (static_cast<uint64_t>(kind) << 32) | step;
      known.last = further_.try_emplace(key, next).first->second;
    }
    if (known.last == next) cells.push_back({kind, step});
    return known.last;
  }

 private:
  struct Known {
    uint32_t first = kNone;
    uint32_t last = kNone;
    uint32_t last_step = kNoStep;
  };
  std::vector<Known> known_;                        // by kind
  std::unordered_map<uint64_t, uint32_t> further_;  // but the first of each kind
};

// A broken trace may have operations that run for decades: saturate their times instead of
// overflowing.
void AddTime(int64_t& sum, int64_t time, int64_t times = 1) {
  int64_t product = 0;
  if (__builtin_mul_overflow(time, times, &product) || __builtin_add_overflow(sum, product, &sum)) {
    sum = std::numeric_limits<int64_t>::max();
  }
}

// The ends of running operations, the earliest first. Nearly always only a few run at once; those
// are kept sorted, the earliest at the back. Beyond that it is a heap, so that a trace where
// everything overlaps is not quadratic.
class EndQueue {
 public:
  struct Ending {
    Nanos end;
    uint32_t slot = 0;
    bool operator<(const Ending& other) const { return end > other.end; }  // earliest on top
  };

  bool empty() const { return endings_.empty(); }
  const Ending& next() const { return is_heap_ ? endings_.front() : endings_.back(); }

  void Push(Ending ending) {
    endings_.push_back(ending);
    if (is_heap_) {
      std::push_heap(endings_.begin(), endings_.end());
      return;
    }
    size_t at = endings_.size() - 1;
    for (; at > 0 && endings_[at - 1].end <= ending.end; --at) endings_[at] = endings_[at - 1];
    endings_[at] = ending;
    if (endings_.size() > kFew) {
      std::make_heap(endings_.begin(), endings_.end());
      is_heap_ = true;
    }
  }

  void Pop() {
    if (is_heap_) std::pop_heap(endings_.begin(), endings_.end());
    endings_.pop_back();
  }

 private:
  static constexpr size_t kFew = 32;
  std::vector<Ending> endings_;
  bool is_heap_ = false;
};

// How many curves are processed together: their totals are adjacent in memory, which is where the
// time goes.
constexpr size_t kMostCurves = 4;

// Some of a group's curves, whatever their number.
class AnyAttributor {
 public:
  virtual ~AnyAttributor() = default;
  // The next operations in order of start.
  virtual void Feed(std::span<const Op> ops) = 0;
  virtual void Finish() = 0;
  virtual void AddTo(AttributionResult& result, size_t first, size_t count) const = 0;
};

template <size_t kCurves>
class Attributor : public AnyAttributor {
 public:
  // Pads with empty curves.
  Attributor(const OpTrace& trace, const AttributionGroup& group, size_t first)
      : wanted_(group.devices.begin(), group.devices.end()),
        clock_(*group.clock),
        by_step_(group.by_step),
        window_(group.window),
        whole_steps_(group.whole_steps),
        cells_(trace.kinds.size()) {
    static const PowerCurve kEmpty;
    for (size_t c = first; c < first + kCurves; ++c) {
      curves_.push_back(c < group.curves.size() ? group.curves[c] : &kEmpty);
    }
  }

  void Feed(std::span<const Op> ops) override {
    for (const Op& op : ops) {
      if (wanted_[op.device] == 0) continue;
      const Nanos began = clock_.Map(op.start);
      if (op.end <= op.start) {
        // It took no time, so no energy; but it ran.
        if (window_.from <= began && began < window_.to) ++totals_[Cell(op)].count;
        continue;
      }
      const Nanos start = std::max(began, window_.from);
      const Nanos end = std::min(clock_.Map(op.end), window_.to);
      if (end <= window_.from || start >= window_.to) {
        (start >= window_.to ? ran_later_ : seen_operation_) = true;
        continue;
      }
      if (cursors_.empty()) StartCursors(start);
      EndUntil(start);
      MoveTo(start);
      seen_operation_ = true;
      Start(op, end);
    }
  }

  void Finish() override {
    if (cursors_.empty()) StartCursors(std::nullopt);
    EndUntil(Nanos{std::numeric_limits<int64_t>::max()});
    after_last_operation_ = !ran_later_;
    MoveTo(last_);
  }

  // Adds the totals of curves [first, first + kCurves) to a result of `count` curves.
  void AddTo(AttributionResult& result, size_t first, size_t count) const override {
    if (first == 0) {
      result.cells = cell_names_;
      for (size_t i = 0; i < totals_.size(); ++i) {
        result.cells[i].count = totals_[i].count;
        result.cells[i].at_work_ns = totals_[i].at_work_ns;
      }
      result.energy_j.resize(totals_.size() * count);
      result.busy_ns.resize(totals_.size() * count);
    }
    for (size_t c = 0; c < std::min(kCurves, count - first); ++c) {
      for (size_t i = 0; i < totals_.size(); ++i) {
        result.energy_j[i * count + first + c] = totals_[i].energy[c].value();
        result.busy_ns[i * count + first + c] = totals_[i].busy_ns[c];
      }
      result.idle_j.push_back(idle_[c].value());
      result.outside_j.push_back(outside_[c].value());
      result.uncovered_ns.push_back(uncovered_ns_[c]);
    }
  }

 private:
  // An operation that has started and not ended.
  struct Running {
    Nanos end;
    Nanos since;  // when it was last put to work
    uint32_t cell = 0;
    uint32_t lane = kNoLane;
    uint32_t caller = kNone;  // the next outer one of its lane
    bool at_work = false;
    bool ended = false;
    std::array<CompensatedSum, kCurves> since_integral;
    std::array<int64_t, kCurves> since_known;
  };

  // The energy of one kind in one step.
  struct CurveTotals {
    std::array<CompensatedSum, kCurves> energy;
    std::array<int64_t, kCurves> busy_ns{};
    int64_t at_work_ns = 0;
    uint64_t count = 0;
  };

  void StartCursors(std::optional<Nanos> first) {
    std::optional<Span> span;
    if (first) Include(span, *first, *first);
    for (const PowerCurve* curve : curves_) {
      if (!curve->empty()) Include(span, curve->start(), curve->end());
    }
    now_ = span.value_or(Span()).from;
    last_ = span.value_or(Span()).to;
    for (const PowerCurve* curve : curves_) cursors_.emplace_back(*curve, now_);
  }

  uint32_t Cell(const Op& op) {
    const bool cut =
        whole_steps_ != nullptr && op.step < whole_steps_->size() && !(*whole_steps_)[op.step];
    const uint32_t cell = cells_.Find(op.kind, by_step_ && !cut ? op.step : kNoStep, cell_names_);
    if (cell == totals_.size()) totals_.emplace_back();
    return cell;
  }

  // Advances time: every instance at work gets the same share of each curve's energy.
  void MoveTo(Nanos time) {
    if (time <= now_) return;
    const int64_t elapsed = time.value - now_.value;
    now_ = time;
    for (size_t c = 0; c < kCurves; ++c) {
      const CurveCursor::Slice slice = cursors_[c].Advance(time);
      if (at_work_ > 0) {
        integral_[c].Add(slice.energy.value / static_cast<double>(at_work_));
        known_ns_[c] += slice.known_ns;
        if (slice.known_ns != elapsed) {
          AddTime(uncovered_ns_[c], elapsed - slice.known_ns, at_work_);
        }
      } else {
        idle_[c].Add(slice.energy.value);
        if (!seen_operation_ || after_last_operation_) outside_[c].Add(slice.energy.value);
      }
    }
  }

  void Start(const Op& op, Nanos end) {
    const uint32_t slot = NewSlot();
    Running& running = running_[slot];
    running.end = end;
    running.cell = Cell(op);
    running.lane = op.lane;
    running.caller = kNone;
    running.ended = false;
    ++totals_[running.cell].count;
    if (op.lane != kNoLane) {
      if (op.lane >= top_of_lane_.size()) top_of_lane_.resize(size_t{op.lane} + 1, kNone);
      uint32_t& top = top_of_lane_[op.lane];
      if (top != kNone) Rest(top);
      running.caller = top;
      top = slot;
    }
    Work(slot);
    ends_.Push({end, slot});
  }

  // Ends, in order, everything that ends at or before `time`.
  void EndUntil(Nanos time) {
    while (!ends_.empty() && ends_.next().end <= time) {
      const uint32_t slot = ends_.next().slot;
      ends_.Pop();
      MoveTo(running_[slot].end);
      End(slot);
    }
  }

  void End(uint32_t slot) {
    Running& running = running_[slot];
    if (running.at_work) Rest(slot);
    running.ended = true;
    if (running.lane == kNoLane) {
      free_.push_back(slot);
      return;
    }
    // In a bad trace an inner operation may outlast its caller; the caller stays here until then.
    uint32_t& top = top_of_lane_[running.lane];
    if (top != slot) return;
    while (top != kNone && running_[top].ended) {
      free_.push_back(top);
      top = running_[top].caller;
    }
    if (top != kNone) Work(top);
  }

  void Work(uint32_t slot) {
    Running& running = running_[slot];
    running.at_work = true;
    running.since = now_;
    ++at_work_;
    running.since_integral = integral_;
    running.since_known = known_ns_;
  }

  void Rest(uint32_t slot) {
    Running& running = running_[slot];
    running.at_work = false;
    --at_work_;
    CurveTotals& totals = totals_[running.cell];
    AddTime(totals.at_work_ns, (now_ - running.since).value);
    for (size_t c = 0; c < kCurves; ++c) {
      totals.energy[c].Add(integral_[c].Since(running.since_integral[c]));
      AddTime(totals.busy_ns[c], known_ns_[c] - running.since_known[c]);
    }
  }

  uint32_t NewSlot() {
    if (!free_.empty()) {
      const uint32_t slot = free_.back();
      free_.pop_back();
      return slot;
    }
    running_.emplace_back();
    return static_cast<uint32_t>(running_.size() - 1);
  }

  std::vector<uint8_t> wanted_;  // by device
  const ClockFit& clock_;
  bool by_step_;
  const Span window_;
  const std::vector<bool>* whole_steps_;
  std::vector<const PowerCurve*> curves_;
  Cells cells_;
  std::vector<AttributionCell> cell_names_;
  std::vector<CurveTotals> totals_;
  std::vector<CurveCursor> cursors_;
  Nanos now_;
  Nanos last_;
  bool seen_operation_ = false;  // or one that ended before the window
  bool ran_later_ = false;       // one began after it
  bool after_last_operation_ = false;
  int64_t at_work_ = 0;
  std::array<CompensatedSum, kCurves> integral_;  // of power over instances at work
  std::array<int64_t, kCurves> known_ns_{};
  std::array<int64_t, kCurves> uncovered_ns_{};
  std::array<CompensatedSum, kCurves> idle_;
  std::array<CompensatedSum, kCurves> outside_;
  std::vector<Running> running_;
  std::vector<uint32_t> free_;
  std::vector<uint32_t> top_of_lane_;
  EndQueue ends_;
};

// Maps signed times to unsigned keys in the same order.
constexpr uint64_t kSignBit = uint64_t{1} << 63;

// Operations in order of start, in batches. Operations that start together keep the order of the
// trace, which has callers before callees. Returns how many blocks could not be read.
template <typename Visit>
size_t InOrder(const OpTrace& trace, Visit&& visit) {
  const bool sorted = std::is_sorted(trace.ops.begin(), trace.ops.end(),
                                     [](const Op& a, const Op& b) { return a.start < b.start; });
  if (sorted) return trace.ForEachSpan(visit);
  std::vector<KeyedIndex> order;
  order.reserve(trace.ops.size());
  for (uint32_t i = 0; i < trace.ops.size(); ++i) {
    order.push_back({static_cast<uint64_t>(trace.ops[i].start.value) ^ kSignBit, i});
  }
  SortByKey(order);
  constexpr size_t kSome = 1024;
  std::vector<Op> some;
  for (size_t from = 0; from < order.size(); from += kSome) {
    some.clear();
    for (size_t i = from; i < std::min(order.size(), from + kSome); ++i) {
      some.push_back(trace.ops[order[i].index]);
    }
    visit(std::span<const Op>(some));
  }
  return 0;
}

std::unique_ptr<AnyAttributor> MakeAttributor(const OpTrace& trace, const AttributionGroup& group,
                                              size_t first) {
  const size_t left = group.curves.size() - first;
  if (left <= 1) return std::make_unique<Attributor<1>>(trace, group, first);
  if (left == 2) return std::make_unique<Attributor<2>>(trace, group, first);
  return std::make_unique<Attributor<kMostCurves>>(trace, group, first);
}

struct Part {
  size_t group = 0;
  size_t first_curve = 0;
  std::unique_ptr<AnyAttributor> attributor;
};

}  // namespace

AttributionResults AttributeEnergy(const OpTrace& trace,
                                   const std::vector<AttributionGroup>& groups, int threads) {
  std::vector<Part> parts;
  for (size_t group = 0; group < groups.size(); ++group) {
    size_t first = 0;
    do {
      parts.push_back({group, first, MakeAttributor(trace, groups[group], first)});
      first += kMostCurves;
    } while (first < groups[group].curves.size());
  }
  // Each worker passes over all operations once, for every stride-th part.
  const size_t workers = std::clamp<size_t>(static_cast<size_t>(std::max(threads, 1)), 1,
                                            std::max<size_t>(parts.size(), 1));
  auto work = [&](size_t worker) {
    const size_t unreadable = InOrder(trace, [&](std::span<const Op> ops) {
      for (size_t i = worker; i < parts.size(); i += workers) parts[i].attributor->Feed(ops);
    });
    for (size_t i = worker; i < parts.size(); i += workers) parts[i].attributor->Finish();
    return unreadable;
  };
  std::vector<std::future<size_t>> others;
  for (size_t worker = 1; worker < workers; ++worker) {
    // Deferred: if the system gives no more threads, it runs below.
    others.push_back(std::async(std::launch::async | std::launch::deferred, work, worker));
  }
  AttributionResults results;
  results.unreadable_blocks = work(0);
  for (std::future<size_t>& other : others) other.get();
  results.groups.resize(groups.size());
  for (const Part& part : parts) {
    part.attributor->AddTo(results.groups[part.group], part.first_curve,
                           groups[part.group].curves.size());
  }
  return results;
}

}  // namespace beryl::account
