#include "account/cpu_use.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

namespace beryl::account {
namespace {

constexpr int64_t kShortestWindow = 100'000'000;
// A jiffy at 100 Hz: the skew between times read at one moment.
constexpr double kJiffy = 10'000'000;
// How far a CPU's own busy time may lag behind its tasks. Busy time is sampled at ticks, so the lag
// is a random walk, and each time it is cut off, someone who did not run is charged: at 3 jiffies,
// a tenth of the use of a task at 10 % of a CPU.
constexpr double kLongestDebt = 10 * kJiffy;
constexpr uint32_t kNoSlot = std::numeric_limits<uint32_t>::max();

class UseCounter {
 public:
  explicit UseCounter(const ActivityTrace& activity)
      : activity_(activity), cpus_(activity.cpus()), known_(activity.tasks.size()) {}

  CpuUse Run() {
    NumberPackages();
    NumberProcesses();
    const std::vector<Nanos>& times = activity_.times;
    if (times.size() < 2 || cpus_ == 0) return std::move(use_);
    use_.edges.push_back(times.front());
    load_.resize(cpus_);
    grown_.resize(cpus_);
    room_.resize(cpus_);
    busy_carry_.resize(cpus_);
    FindPresent();
    TakeBaseline();
    size_t from = 0;
    for (size_t to = 1; to < times.size(); ++to) {
      TakeSample(to);
      const bool long_enough = (times[to] - times[from]).value >= kShortestWindow;
      const bool rest_is_short = (times.back() - times[to]).value < kShortestWindow;
      if (to + 1 < times.size() && (!long_enough || rest_is_short)) continue;
      Close(from, to);
      from = to;
    }
    use_.first_part.push_back(use_.parts.size());
    return std::move(use_);
  }

 private:
  struct Known {
    uint64_t run_ns = 0;
    uint32_t process = 0;
    uint16_t cpu = 0;
    bool seen = false;
  };
  // Time of a task that moved: half on each CPU, unless that does not fit.
  struct Move {
    uint32_t slot;
    uint16_t cpus[2];
    double ns[2];
  };
  struct Carry {
    uint32_t process;
    size_t cpu;
    double ns;
  };

  void NumberPackages() {
    use_.packages = activity_.cpu_package;
    std::sort(use_.packages.begin(), use_.packages.end());
    use_.packages.erase(std::unique(use_.packages.begin(), use_.packages.end()),
                        use_.packages.end());
    column_of_cpu_.reserve(cpus_);
    for (const uint16_t package : activity_.cpu_package) {
      const auto at = std::lower_bound(use_.packages.begin(), use_.packages.end(), package);
      column_of_cpu_.push_back(static_cast<uint16_t>(at - use_.packages.begin()));
    }
  }

  void NumberProcesses() {
    std::unordered_map<int32_t, uint32_t> number_of_pid;
    std::vector<bool> has_main;  // by process
    for (size_t i = 0; i < activity_.tasks.size(); ++i) {
      const Task& task = activity_.tasks[i];
      const auto next = static_cast<uint32_t>(use_.processes.size());
      const auto [number, is_new] = number_of_pid.try_emplace(task.pid, next);
      if (is_new) {
        use_.processes.push_back({task.pid, task.name, task.owner, 0, {}});
        has_main.push_back(false);
      }
      CpuUse::Process& process = use_.processes[number->second];
      const bool is_main = task.tid == task.pid;
      if (is_main) process.name = task.name;
      // Tasks that came and went unseen have no number, and a main thread that is listed again has
      // a new name.
      if (task.tid != 0 && !(is_main && has_main[number->second])) ++process.threads;
      if (is_main) has_main[number->second] = true;
      known_[i].process = number->second;
    }
    run_ns_.resize(use_.processes.size());
    slot_of_process_.assign(use_.processes.size(), kNoSlot);
  }

  // A CPU that is off line has no time. One that is on line has been busy since boot.
  void FindPresent() {
    is_present_.assign(cpus_, false);
    for (size_t i = 0; i < activity_.busy_ns.size(); ++i) {
      if (activity_.busy_ns[i] != 0) is_present_[i % cpus_] = true;
    }
    for (const TaskReading& reading : activity_.readings) is_present_[reading.cpu] = true;
    // All are zero: then the times are missing, and not all CPUs are off line.
    if (std::find(is_present_.begin(), is_present_.end(), true) == is_present_.end()) {
      is_present_.assign(cpus_, true);
    }
  }

  // Tasks present in the first sample ran before it.
  void TakeBaseline() {
    for (size_t i = activity_.first_reading[0]; i < activity_.first_reading[1]; ++i) {
      const TaskReading& reading = activity_.readings[i];
      Known& task = known_[reading.task];
      task.run_ns = reading.run_ns;
      task.cpu = reading.cpu;
      task.seen = true;
    }
  }

  // The time that a newly seen task has run since it was born. A task that has run longer than we
  // have watched is older than that.
  double SinceBirth(const TaskReading& reading, size_t sample) const {
    const int64_t looked = (activity_.times[sample] - activity_.times.front()).value;
    const auto run = static_cast<double>(reading.run_ns);
    return run <= static_cast<double>(looked) + kJiffy ? run : 0;
  }

  void TakeSample(size_t sample) {
    const size_t end = activity_.first_reading[sample + 1];
    for (size_t i = activity_.first_reading[sample]; i < end; ++i) {
      const TaskReading& reading = activity_.readings[i];
      Known& task = known_[reading.task];
      double grown = 0;
      if (!task.seen) {
        grown = SinceBirth(reading, sample);
        task.cpu = reading.cpu;
        task.seen = true;
      } else if (reading.run_ns > task.run_ns) {
        grown = static_cast<double>(reading.run_ns - task.run_ns);
      }
      const uint16_t before = task.cpu;
      task.run_ns = reading.run_ns;
      task.cpu = reading.cpu;
      if (grown > 0) Put(task.process, before, reading.cpu, grown);
    }
  }

  uint32_t SlotOf(uint32_t process) {
    uint32_t& slot = slot_of_process_[process];
    if (slot != kNoSlot) return slot;
    slot = static_cast<uint32_t>(active_.size());
    active_.push_back(process);
    cells_.resize(active_.size() * cpus_, 0.0);
    return slot;
  }

  void Put(uint32_t process, uint16_t before, uint16_t now, double ns) {
    const uint32_t slot = SlotOf(process);
    run_ns_[process] += ns;
    if (before == now) {
      cells_[slot * cpus_ + now] += ns;
      return;
    }
    cells_[slot * cpus_ + before] += ns / 2;
    cells_[slot * cpus_ + now] += ns / 2;
    moves_.push_back({slot, {before, now}, {ns / 2, ns / 2}});
  }

  void AddUpLoad() {
    std::fill(load_.begin(), load_.end(), 0.0);
    for (size_t slot = 0; slot < active_.size(); ++slot) {
      for (size_t cpu = 0; cpu < cpus_; ++cpu) load_[cpu] += cells_[slot * cpus_ + cpu];
    }
  }

  // How busy each CPU reports to have been. One that came on line ran before.
  void ReadBusy(size_t from, size_t to, double wall) {
    for (size_t cpu = 0; cpu < cpus_; ++cpu) {
      const uint64_t before = activity_.busy_ns[from * cpus_ + cpu];
      const uint64_t after = activity_.busy_ns[to * cpus_ + cpu];
      grown_[cpu] = after > before ? static_cast<double>(after - before) : 0;
      const bool came = before == 0 && grown_[cpu] > wall + kJiffy;
      if (came) grown_[cpu] = 0;
      room_[cpu] = came ? wall : std::clamp(grown_[cpu] + busy_carry_[cpu] + kJiffy, 0.0, wall);
    }
  }

  // Time of a moved task that does not fit on one CPU was on the other.
  void MoveOverflow(const std::vector<double>& room) {
    for (Move& move : moves_) {
      for (const size_t full : {size_t{0}, size_t{1}}) {
        const uint16_t from = move.cpus[full];
        const uint16_t to = move.cpus[1 - full];
        const double excess = std::min(load_[from] - room[from], room[to] - load_[to]);
        if (excess <= 0) continue;
        const double moved = std::min(excess, move.ns[full]);
        move.ns[full] -= moved;
        move.ns[1 - full] += moved;
        cells_[move.slot * cpus_ + from] -= moved;
        cells_[move.slot * cpus_ + to] += moved;
        load_[from] -= moved;
        load_[to] += moved;
      }
    }
  }

  void CutTogether(double wall) {
    for (size_t cpu = 0; cpu < cpus_; ++cpu) {
      const double excess = load_[cpu] - wall;
      if (excess <= 0) continue;
      const double kept = wall / load_[cpu];
      const double carried = (1 - kept) * std::min(1.0, kJiffy / excess);
      for (size_t slot = 0; slot < active_.size(); ++slot) {
        double& cell = cells_[slot * cpus_ + cpu];
        if (cell > 0) carries_.push_back({active_[slot], cpu, cell * carried});
        cell *= kept;
      }
      load_[cpu] = wall;
    }
  }

  // Time used by tasks was busy, whatever the CPU reports; the CPU catches up later.
  double BusyOf(size_t cpu, double wall) {
    const double reported = grown_[cpu] + busy_carry_[cpu];
    const double busy = std::clamp(std::max(reported, load_[cpu]), 0.0, wall);
    busy_carry_[cpu] = std::clamp(reported - busy, -kLongestDebt, kJiffy);
    return busy;
  }

  void Close(size_t from, size_t to) {
    const auto wall = static_cast<double>((activity_.times[to] - activity_.times[from]).value);
    AddUpLoad();
    ReadBusy(from, to, wall);
    MoveOverflow(room_);
    MoveOverflow(std::vector<double>(cpus_, wall));
    CutTogether(wall);
    const size_t first = use_.cells.size();
    use_.cells.resize(first + use_.columns());
    for (size_t cpu = 0; cpu < cpus_; ++cpu) {
      if (!is_present_[cpu]) continue;
      CpuUse::Cell& cell = use_.cells[first + column_of_cpu_[cpu]];
      cell.busy += BusyOf(cpu, wall);
      cell.capacity += wall;
    }
    AddParts(first);
    CpuUse::Cell& all = use_.cells[first + use_.packages.size()];
    for (size_t column = 0; column < use_.packages.size(); ++column) {
      CpuUse::Cell& cell = use_.cells[first + column];
      // Sums of the same times in another order.
      cell.busy = std::min(std::max(cell.busy, cell.ours + cell.recorder), cell.capacity);
      all.ours += cell.ours;
      all.recorder += cell.recorder;
      all.busy += cell.busy;
      all.capacity += cell.capacity;
    }
    use_.edges.push_back(activity_.times[to]);
    StartAnew();
  }

  void AddParts(size_t first_cell) {
    use_.first_part.push_back(use_.parts.size());
    std::vector<double> ns(use_.packages.size());
    for (size_t slot = 0; slot < active_.size(); ++slot) {
      std::fill(ns.begin(), ns.end(), 0.0);
      for (size_t cpu = 0; cpu < cpus_; ++cpu) {
        ns[column_of_cpu_[cpu]] += cells_[slot * cpus_ + cpu];
      }
      const bool ours = use_.processes[active_[slot]].owner == TaskOwner::kWatched;
      for (size_t column = 0; column < ns.size(); ++column) {
        if (ns[column] <= 0) continue;
        CpuUse::Cell& cell = use_.cells[first_cell + column];
        (ours ? cell.ours : cell.recorder) += ns[column];
        use_.parts.push_back({active_[slot], static_cast<uint16_t>(column), ns[column]});
      }
    }
  }

  void StartAnew() {
    for (const uint32_t process : active_) slot_of_process_[process] = kNoSlot;
    active_.clear();
    cells_.clear();
    moves_.clear();
    for (const Carry& carry : carries_) {
      cells_[SlotOf(carry.process) * cpus_ + carry.cpu] += carry.ns;
    }
    carries_.clear();
    for (size_t i = 0; i < run_ns_.size(); ++i)
      use_.processes[i].cpu_time = Seconds{run_ns_[i] * 1e-9};
  }

  const ActivityTrace& activity_;
  size_t cpus_;
  CpuUse use_;
  std::vector<uint16_t> column_of_cpu_;
  std::vector<Known> known_;    // by task
  std::vector<double> run_ns_;  // by process
  // The open window. Processes that ran in it have slots, so that there are few cells.
  std::vector<uint32_t> slot_of_process_;
  std::vector<uint32_t> active_;
  std::vector<double> cells_;  // [slot * cpus_ + cpu]
  std::vector<Move> moves_;
  std::vector<Carry> carries_;  // into the next window
  std::vector<double> load_;
  // By CPU: its own busy time in the window, the room that leaves for its tasks, and how far it is
  // ahead of them.
  std::vector<double> grown_;
  std::vector<double> room_;
  std::vector<double> busy_carry_;
  std::vector<bool> is_present_;
};

}  // namespace

CpuUse CountCpuUse(const ActivityTrace& activity) { return UseCounter(activity).Run(); }

}  // namespace beryl::account
