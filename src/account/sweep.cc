#include "account/sweep.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "base/compensated_sum.h"
#include "base/sort_by_key.h"

namespace beryl::account {
namespace {

constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();

// Books by kind and step. Runs of one kind come in bursts of one step, so the last cell is nearly
// always right.
class Cells {
 public:
  explicit Cells(size_t kinds) : last_of_kind_(kinds, kNone) {}

  uint32_t Find(uint32_t kind, uint32_t step, std::vector<SweepCell>& cells) {
    uint32_t& last = last_of_kind_[kind];
    if (last != kNone && cells[last].step == step) return last;
    const auto next = static_cast<uint32_t>(cells.size());
    const auto [place, is_new] =
        cell_of_.try_emplace((static_cast<uint64_t>(kind) << 32) | step, next);
    if (is_new) cells.push_back({kind, step});
    return last = place->second;
  }

 private:
  std::vector<uint32_t> last_of_kind_;
  std::unordered_map<uint64_t, uint32_t> cell_of_;
};

// A broken trace may have operations that run for decades: their times stay at the largest value
// instead of turning negative.
void AddTime(int64_t& sum, int64_t time, int64_t times = 1) {
  int64_t product = 0;
  if (__builtin_mul_overflow(time, times, &product) || __builtin_add_overflow(sum, product, &sum)) {
    sum = std::numeric_limits<int64_t>::max();
  }
}

// An operation that has started and not ended.
struct Running {
  Nanos end;
  Nanos since;  // when it was last put to work
  uint32_t cell = 0;
  uint32_t lane = kNoLane;
  uint32_t caller = kNone;  // the next outer one of its lane
  bool at_work = false;
  bool ended = false;
};

class Sweeper {
 public:
  Sweeper(const OpTrace& trace, const std::vector<const PowerCurve*>& curves)
      : trace_(trace),
        curve_count_(curves.size()),
        curves_(curves),
        cells_(trace.kinds.size()),
        integral_(curves.size()),
        known_ns_(curves.size(), 0),
        idle_(curves.size()),
        outside_(curves.size()) {
    result_.uncovered_ns.assign(curves.size(), 0);
  }

  SweepResult Run(const std::vector<bool>& devices, const ClockFit& clock) {
    const std::vector<KeyedIndex> order = Order(devices, clock);
    StartCursors(order);
    for (const KeyedIndex& entry : order) {
      const Nanos start{static_cast<int64_t>(entry.key ^ kSignBit)};
      EndUntil(start);
      MoveTo(start);
      seen_operation_ = true;
      Start(trace_.ops[entry.index], clock);
    }
    EndUntil(Nanos{std::numeric_limits<int64_t>::max()});
    after_last_operation_ = true;
    MoveTo(last_);
    for (size_t c = 0; c < curve_count_; ++c) {
      result_.idle_j.push_back(idle_[c].value());
      result_.outside_j.push_back(outside_[c].value());
    }
    result_.energy_j.reserve(energy_.size());
    for (const CompensatedSum& energy : energy_) result_.energy_j.push_back(energy.value());
    return std::move(result_);
  }

 private:
  // Flips the order of negative times into that of unsigned keys.
  static constexpr uint64_t kSignBit = uint64_t{1} << 63;

  // Operations that take time, by start; those that start together stay in the order of the trace,
  // which has callers before what they call.
  std::vector<KeyedIndex> Order(const std::vector<bool>& devices, const ClockFit& clock) {
    std::vector<KeyedIndex> order;
    order.reserve(trace_.ops.size());
    bool sorted = true;
    for (uint32_t i = 0; i < trace_.ops.size(); ++i) {
      const Op& op = trace_.ops[i];
      if (!devices[op.device]) continue;
      if (op.end <= op.start) {
        // It took no time, so no energy; it did run, though.
        ++result_.cells[Cell(op)].count;
        continue;
      }
      const uint64_t key = static_cast<uint64_t>(clock.Map(op.start).value) ^ kSignBit;
      sorted = sorted && (order.empty() || order.back().key <= key);
      order.push_back({key, i});
    }
    if (!sorted) SortByKey(order);
    return order;
  }

  void StartCursors(const std::vector<KeyedIndex>& order) {
    Span span;
    if (!order.empty()) {
      const Nanos first{static_cast<int64_t>(order.front().key ^ kSignBit)};
      span.Include(first, first);
    }
    for (const PowerCurve* curve : curves_) {
      if (!curve->empty()) span.Include(curve->start(), curve->end());
    }
    now_ = span.start;
    last_ = span.end;
    for (const PowerCurve* curve : curves_) cursors_.emplace_back(*curve, now_);
  }

  uint32_t Cell(const Op& op) {
    const uint32_t cell = cells_.Find(op.kind, op.step, result_.cells);
    if (energy_.size() < result_.cells.size() * curve_count_) {
      energy_.resize(result_.cells.size() * curve_count_);
      result_.busy_ns.resize(result_.cells.size() * curve_count_, 0);
    }
    return cell;
  }

  // Lets time pass: every instance at work gets the same share of each curve's energy.
  void MoveTo(Nanos time) {
    if (time <= now_) return;
    const int64_t elapsed = time.value - now_.value;
    for (size_t c = 0; c < curve_count_; ++c) {
      const CurveCursor::Slice slice = cursors_[c].Advance(time);
      if (at_work_ > 0) {
        integral_[c].Add(slice.energy_j / static_cast<double>(at_work_));
        known_ns_[c] += slice.known_ns;
        AddTime(result_.uncovered_ns[c], elapsed - slice.known_ns, at_work_);
      } else {
        idle_[c].Add(slice.energy_j);
        if (!seen_operation_ || after_last_operation_) outside_[c].Add(slice.energy_j);
      }
    }
    now_ = time;
  }

  void Start(const Op& op, const ClockFit& clock) {
    const uint32_t slot = NewSlot();
    Running& running = running_[slot];
    running = {clock.Map(op.end), now_, Cell(op), op.lane, kNone, false, false};
    ++result_.cells[running.cell].count;
    if (op.lane != kNoLane) {
      if (op.lane >= top_of_lane_.size()) top_of_lane_.resize(size_t{op.lane} + 1, kNone);
      uint32_t& top = top_of_lane_[op.lane];
      if (top != kNone) Rest(top);
      running.caller = top;
      top = slot;
    }
    Work(slot);
    ends_.push_back({running.end, slot});
    std::push_heap(ends_.begin(), ends_.end());
  }

  // Ends, in order, whatever ends before or at `time`.
  void EndUntil(Nanos time) {
    while (!ends_.empty() && ends_.front().end <= time) {
      const uint32_t slot = ends_.front().slot;
      std::pop_heap(ends_.begin(), ends_.end());
      ends_.pop_back();
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
    // An inner operation may outlast its caller in a bad trace; then the caller just waits here to
    // be passed over.
    uint32_t& top = top_of_lane_[running.lane];
    if (top != slot) return;
    while (top != kNone && running_[top].ended) {
      free_.push_back(top);
      top = running_[top].caller;
    }
    if (top != kNone) Work(top);
  }

  void Work(uint32_t slot) {
    running_[slot].at_work = true;
    running_[slot].since = now_;
    ++at_work_;
    for (size_t c = 0; c < curve_count_; ++c) {
      since_integral_[slot * curve_count_ + c] = integral_[c];
      since_known_[slot * curve_count_ + c] = known_ns_[c];
    }
  }

  void Rest(uint32_t slot) {
    running_[slot].at_work = false;
    --at_work_;
    const size_t cell = running_[slot].cell * curve_count_;
    AddTime(result_.cells[running_[slot].cell].at_work_ns, (now_ - running_[slot].since).value);
    for (size_t c = 0; c < curve_count_; ++c) {
      energy_[cell + c].Add(integral_[c].Since(since_integral_[slot * curve_count_ + c]));
      AddTime(result_.busy_ns[cell + c], known_ns_[c] - since_known_[slot * curve_count_ + c]);
    }
  }

  uint32_t NewSlot() {
    if (!free_.empty()) {
      const uint32_t slot = free_.back();
      free_.pop_back();
      return slot;
    }
    running_.emplace_back();
    since_integral_.resize(running_.size() * curve_count_);
    since_known_.resize(running_.size() * curve_count_);
    return static_cast<uint32_t>(running_.size() - 1);
  }

  struct Ending {
    Nanos end;
    uint32_t slot;
    bool operator<(const Ending& other) const { return end > other.end; }  // earliest on top
  };

  const OpTrace& trace_;
  size_t curve_count_;
  const std::vector<const PowerCurve*>& curves_;
  Cells cells_;
  SweepResult result_;
  std::vector<CurveCursor> cursors_;
  Nanos now_;
  Nanos last_;
  bool seen_operation_ = false;
  bool after_last_operation_ = false;
  int64_t at_work_ = 0;
  std::vector<CompensatedSum> integral_;  // of power over instances at work, by curve
  std::vector<int64_t> known_ns_;
  std::vector<CompensatedSum> energy_;  // as SweepResult::energy_j
  std::vector<CompensatedSum> idle_;
  std::vector<CompensatedSum> outside_;
  std::vector<Running> running_;
  std::vector<CompensatedSum> since_integral_;
  std::vector<int64_t> since_known_;
  std::vector<uint32_t> free_;
  std::vector<uint32_t> top_of_lane_;
  std::vector<Ending> ends_;
};

}  // namespace

SweepResult Sweep(const OpTrace& trace, const std::vector<bool>& devices, const ClockFit& clock,
                  const std::vector<const PowerCurve*>& curves) {
  return Sweeper(trace, curves).Run(devices, clock);
}

}  // namespace beryl::account
