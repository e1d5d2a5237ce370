#include "sources/sampler.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "sources/clock_ns.h"
#include "sources/cpu_times.h"
#include "sources/lateness.h"
#include "sources/power_reader.h"
#include "sources/process_tasks.h"
#include "sources/sample_ring.h"
#include "sources/sampler_orders.h"

namespace beryl::sources {
namespace {

constexpr int64_t kShortestPeriodNs = 200'000;
// How often to look for children; threads are looked for at every activity sample.
constexpr int64_t kChildrenPeriodNs = 100'000'000;
// How often to look who runs as another user by now.
constexpr int64_t kOwnersPeriodNs = 100'000'000;
// From this period on, tasks and features do not wait for a tick, and are read at least once a
// second.
constexpr int64_t kLongPeriodNs = 50'000'000;
constexpr int64_t kLongestUsualNs = 1'000'000'000;
// How early something due may be read along with a tick.
constexpr int64_t kEarlyNs = 10'000'000;
// The share of a core for reading all tasks, and for features; slower ones are read less often.
constexpr double kCoreShareOfTasks = 0.005;
constexpr double kCoreShareOfFeatures = 0.01;

uint64_t ResidentBytes() {
  char buffer[128];
  Words words(ProcFile("/proc/self/statm").Read(buffer));
  words.Skip(1);
  return words.Number() * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace

struct Sampler::State {
  State(const Machine& given, Discovery& found, const SamplerOptions& asked)
      : machine(given),
        discovery(found),
        options(asked),
        longest_period_ns(LongestPeriod(found.channels).value),
        period_ns(AllowedPeriod(asked.period)),
        cpu_times(given),
        tasks(given, asked.limits),
        power(found),
        epoch_ns(ClockNs(CLOCK_REALTIME) - ClockNs(CLOCK_MONOTONIC)) {
    size_t columns = 0;
    for (const auto& source : found.features) columns += source->columns().size();
    features.resize(columns);
    tasks.Add(0, getpid(), false);
    tasks.Scan(false);
    cpu_time = tasks.cpu_time();
  }

  int64_t AllowedPeriod(Nanos asked) const {
    return std::clamp(asked.value, kShortestPeriodNs, longest_period_ns);
  }
  void Run();
  int64_t Tick(int64_t deadline);
  void ObeyCommands();
  void ReadPower(bool all);
  void ReadWhatIsDue(int64_t now);
  void ReadActivity(int64_t now);
  void ReadFeatures();
  void TellBirths();
  Nanos Now() const { return Nanos{ClockNs(CLOCK_MONOTONIC) + epoch_ns}; }

  Machine machine;
  Discovery& discovery;
  SamplerOptions options;
  const int64_t longest_period_ns;
  std::atomic<int64_t> period_ns;
  CpuTimes cpu_times;
  ProcessTasks tasks;
  std::string cpu_time;
  PowerReader power;
  std::vector<SamplerOrders::Order> todo;
  std::vector<double> features;
  SampleRing ring;
  std::mutex tasks_mutex;
  std::map<uint32_t, size_t> tasks_of_users;  // by tasks_mutex

  std::thread thread;
  std::atomic<bool> stop = false;
  SamplerOrders orders;
  std::atomic<WatchId> next_watch = 1;

  const int64_t epoch_ns;  // converts the monotonic clock into time since the epoch
  int64_t next_activity = 0;
  int64_t next_features = 0;
  int64_t next_children = 0;
  int64_t next_owners = 0;
  uint64_t scanned_forks = 0;
  uint64_t scanned_child_forks = 0;
  bool tell_all = true;

  Lateness lateness;
  std::atomic<uint64_t> ticks = 0;
  std::atomic<uint64_t> late = 0;
  std::atomic<uint64_t> missed = 0;
  int64_t started_ns = 0;
  int64_t started_cpu_ns = 0;
  std::atomic<int64_t> ended_ns = 0;
};

void Sampler::State::ReadPower(bool all) {
  const int64_t now_ns = ClockNs(CLOCK_MONOTONIC);
  const Nanos period{period_ns.load()};
  ring.PutPower(Nanos{now_ns + epoch_ns},
                all ? power.ReadAll(period, now_ns) : power.ReadTick(period, now_ns));
}

void Sampler::State::TellBirths() {
  for (const ProcessTasks::Birth& birth : tasks.births()) ring.PutBirth(Now(), birth);
}

void Sampler::State::ReadActivity(int64_t now) {
  if (!cpu_times.Read()) return;
  const uint64_t forks = cpu_times.forks();
  if (tell_all || forks == 0 || forks != scanned_forks) {
    const bool children =
        tell_all || forks == 0 || (forks != scanned_child_forks && now >= next_children);
    if (children) {
      scanned_child_forks = forks;
      next_children = now + kChildrenPeriodNs;
    }
    tasks.Scan(children);
    if (tell_all) tasks.Announce(0);
    TellBirths();
    scanned_forks = scanned_child_forks == forks ? forks : 0;
  }
  if (now >= next_owners) {
    next_owners = now + kOwnersPeriodNs;
    tasks.CheckOwners();
  }
  tasks.Read(std::exchange(tell_all, false), options.jiffies_of_all_tasks);
  TellBirths();
  {
    const std::lock_guard lock(tasks_mutex);
    tasks_of_users = tasks.tasks_of_users();
  }
  ring.PutActivity(Now(), cpu_times.cpus(), tasks.samples());
  if (!tasks.ended().empty()) ring.PutEnded(Now(), tasks.ended());
  tasks.ForgetEnded();
}

void Sampler::State::ReadFeatures() {
  std::span<double> out(features);
  for (const auto& source : discovery.features) {
    const size_t count = source->columns().size();
    source->Read(tasks.pids(), out.first(count));
    out = out.subspan(count);
  }
  ring.PutFeatures(Now(), features);
}

// Carries out orders, with a reading of everything: a last one of tasks no longer watched, a first
// one of newly watched ones.
void Sampler::State::ObeyCommands() {
  if (!orders.Take(todo)) return;
  if (stop) return;
  ReadPower(true);
  next_children = 0;  // do not miss what came since the last scan
  const bool ends =
      std::any_of(todo.begin(), todo.end(), [](const auto& order) { return order.pid == 0; });
  if (ends) ReadActivity(ClockNs(CLOCK_MONOTONIC));
  for (const SamplerOrders::Order& order : todo) {
    if (order.pid == 0) {
      tasks.Remove(order.watch);
    } else if (order.only_children) {
      tasks.AddChildrenOf(order.watch, order.pid);
    } else {
      tasks.Add(order.watch, order.pid, true, order.watcher);
    }
  }
  tell_all = tell_all || !todo.empty();
  ReadActivity(ClockNs(CLOCK_MONOTONIC));
  orders.Done();
}

// Reads tasks and features when they are due, no more often than their cost allows.
void Sampler::State::ReadWhatIsDue(int64_t now) {
  const int64_t period = period_ns.load(std::memory_order_relaxed);
  // Slightly early, so that a time that is a multiple of the period stays one.
  const int64_t early = std::min(period / 2, kEarlyNs);
  const auto due_after = [&](Nanos usual, int64_t cost, double share, int64_t longest) {
    const int64_t least = std::max(usual.value, std::min(period, kLongestUsualNs));
    const int64_t interval = std::clamp(static_cast<int64_t>(static_cast<double>(cost) / share),
                                        least, std::max(least, longest));
    return now + interval - early;
  };
  if (now >= next_activity) {
    const int64_t before = ClockNs(CLOCK_THREAD_CPUTIME_ID);
    ReadActivity(now);
    const int64_t cost = ClockNs(CLOCK_THREAD_CPUTIME_ID) - before;
    next_activity =
        due_after(options.activity_period, cost, kCoreShareOfTasks, options.longest_activity.value);
  }
  if (now >= next_features && !features.empty()) {
    // By the clock: a slow driver holds up the meters.
    const int64_t before = ClockNs(CLOCK_MONOTONIC);
    ReadFeatures();
    const int64_t cost = ClockNs(CLOCK_MONOTONIC) - before;
    next_features = due_after(options.feature_period, cost, kCoreShareOfFeatures, INT64_MAX);
  }
}

// One tick; returns when the next is due.
int64_t Sampler::State::Tick(int64_t deadline) {
  const int64_t period = period_ns.load(std::memory_order_relaxed);
  const int64_t now = ClockNs(CLOCK_MONOTONIC);
  const int64_t delay = now - deadline;
  lateness.Add(delay);
  ticks.fetch_add(1, std::memory_order_relaxed);
  if (delay > period / 2) late.fetch_add(1, std::memory_order_relaxed);
  int64_t next = deadline + period;
  if (next <= now) {
    const int64_t skipped = (now - next) / period + 1;
    next += skipped * period;
    missed.fetch_add(static_cast<uint64_t>(skipped), std::memory_order_relaxed);
    ring.PutMissed(Now(), static_cast<uint64_t>(skipped));
  }
  ReadPower(false);
  ReadWhatIsDue(now);
  return next;
}

void Sampler::State::Run() {
  prctl(PR_SET_NAME, "beryl-sampler");
  prctl(PR_SET_TIMERSLACK, 1000UL);
  ObeyCommands();
  ReadPower(true);
  ReadActivity(ClockNs(CLOCK_MONOTONIC));
  if (!features.empty()) ReadFeatures();
  int64_t next = ClockNs(CLOCK_MONOTONIC) + period_ns.load();
  while (!stop.load(std::memory_order_relaxed)) {
    next = std::min(
        next, ClockNs(CLOCK_MONOTONIC) + period_ns.load());  // in case the period was shortened
    int64_t wake = next;
    if (period_ns.load() > kLongPeriodNs) {
      wake = std::min(wake, next_activity);
      if (!features.empty()) wake = std::min(wake, next_features);
    }
    orders.SleepUntil(wake);
    ObeyCommands();
    const int64_t now = ClockNs(CLOCK_MONOTONIC);
    if (now >= next) {
      next = Tick(next);
    } else {
      ReadWhatIsDue(now);
    }
  }
  ReadPower(true);
  next_children = 0;
  ReadActivity(ClockNs(CLOCK_MONOTONIC));
  if (!features.empty()) ReadFeatures();
}

Sampler::Sampler(const Machine& machine, Discovery& discovery, const SamplerOptions& options)
    : state_(std::make_unique<State>(machine, discovery, options)) {}

Sampler::~Sampler() { Stop(); }

Status Sampler::Start() {
  State& state = *state_;
  state.started_ns = ClockNs(CLOCK_MONOTONIC);
  state.started_cpu_ns = ClockNs(CLOCK_PROCESS_CPUTIME_ID);
  state.stop = false;
  state.ended_ns = 0;
  try {
    state.thread = std::thread([&state] { state.Run(); });
  } catch (const std::system_error& error) {
    return IoError(fmt::format("cannot start the sampling thread: {}", error.what()));
  }
  return {};
}

void Sampler::Stop() {
  if (!state_->thread.joinable()) return;
  state_->stop = true;
  state_->orders.Wake();
  state_->thread.join();
  state_->ended_ns = ClockNs(CLOCK_MONOTONIC);
}

Result<WatchId> Sampler::Watch(int32_t pid, const Watcher& watcher) {
  if (!IsRunning(state_->machine, pid)) {
    return InvalidError(fmt::format("process {}: no such process", pid));
  }
  const WatchId watch = state_->next_watch.fetch_add(1);
  state_->orders.Add({watch, pid, false, watcher});
  return watch;
}

WatchId Sampler::WatchChildren() {
  const WatchId watch = state_->next_watch.fetch_add(1);
  state_->orders.Add({watch, getpid(), true});
  return watch;
}

void Sampler::Unwatch(WatchId watch) { state_->orders.Add({watch, 0}); }

void Sampler::ReadNow() {
  if (state_->thread.joinable()) state_->orders.WaitForReading();
}

void Sampler::SetPeriod(Nanos period) {
  const int64_t allowed = state_->AllowedPeriod(period);
  if (state_->period_ns.exchange(allowed) > allowed) state_->orders.Wake();
}

Nanos Sampler::period() const { return Nanos{state_->period_ns.load()}; }

size_t Sampler::Drain(SampleSink& sink) { return state_->ring.Drain(sink); }

std::vector<Note> Sampler::notes() const { return state_->power.notes(period()); }

std::map<uint32_t, size_t> Sampler::tasks_of_users() const {
  const std::lock_guard lock(state_->tasks_mutex);
  return state_->tasks_of_users;
}

SamplerCost Sampler::cost() const {
  const State& state = *state_;
  SamplerCost cost;
  const int64_t end = state.ended_ns != 0 ? state.ended_ns.load() : ClockNs(CLOCK_MONOTONIC);
  cost.wall_time = ToSeconds(Nanos{end - state.started_ns});
  cost.cpu_time = ToSeconds(Nanos{ClockNs(CLOCK_PROCESS_CPUTIME_ID) - state.started_cpu_ns});
  cost.ticks = state.ticks;
  cost.late = state.late;
  cost.missed = state.missed;
  cost.lost = state.ring.lost();
  if (cost.ticks > 0) {
    cost.late_p50_us = state.lateness.Percentile(0.5) * 1e-3;
    cost.late_p99_us = state.lateness.Percentile(0.99) * 1e-3;
    cost.late_max_us = state.lateness.max() * 1e-3;
  }
  cost.resident_bytes = ResidentBytes();
  return cost;
}

Nanos Sampler::Now() const { return state_->Now(); }

const std::vector<uint16_t>& Sampler::cpu_packages() const { return state_->cpu_times.packages(); }

const std::string& Sampler::cpu_time() const { return state_->cpu_time; }

}  // namespace beryl::sources
