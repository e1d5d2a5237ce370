#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <ctime>
#include <mutex>
#include <thread>

#include <fmt/format.h>

#include "base/text.h"
#include "sources/cpu_times.h"
#include "sources/lateness.h"
#include "sources/process_tasks.h"
#include "sources/ring.h"
#include "sources/sources.h"
#include "types/counter_wrap.h"

namespace beryl::sources {
namespace {

constexpr size_t kRingBytes = size_t{1} << 20;
constexpr int64_t kShortestPeriodNs = 200'000;
// How often children are looked for; threads are at every sample of the activity.
constexpr int64_t kChildrenPeriodNs = 100'000'000;
// From here on tasks and features do not wait for a tick, and are read once a second at least.
constexpr int64_t kLongPeriodNs = 50'000'000;
constexpr int64_t kLongestUsualNs = 1'000'000'000;
// How much too early what is due may be read along with a tick.
constexpr int64_t kEarlyNs = 10'000'000;
// What may be taken of a core for reading a source of power, all tasks, and the features; what is
// slower is read less often.
constexpr double kCoreShareOfPower = 0.0125;
constexpr double kCoreShareOfTasks = 0.005;
constexpr double kCoreShareOfFeatures = 0.01;
constexpr uint32_t kReadsToJudge = 16;
constexpr uint32_t kSparsestReading = 256;
constexpr std::chrono::milliseconds kLongestReadNow{100};
constexpr int64_t kShortestForWrapsNs = 20'000'000;

int64_t ClockNs(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

// As CLOCK_MONOTONIC has it, which is the steady clock here.
std::chrono::steady_clock::time_point TimePoint(int64_t monotonic_ns) {
  return std::chrono::steady_clock::time_point(std::chrono::nanoseconds(monotonic_ns));
}

uint64_t ResidentBytes() {
  char buffer[128];
  Words words(ProcFile("/proc/self/statm").Read(buffer));
  words.Skip(1);
  return words.Number() * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

enum class RecordKind : uint32_t { kPower, kBirth, kActivity, kFeatures, kMissed };

struct RecordHead {
  RecordKind kind;
  uint32_t first;  // how many of the first kind of things follow
  int64_t time;
  uint64_t second;  // and of the second; or a plain number
};

// How often a source is worth reading, by what it costs.
struct ReadingPlan {
  size_t first_channel = 0;
  size_t channels = 0;
  uint32_t every = 1;
  uint32_t reads = 0;
  int64_t least_cost_ns = INT64_MAX;
  int64_t known_cost_ns = 0;
};

// The longest period at which no counter wraps unseen: each is read twice before it could.
int64_t LongestPeriod(const std::vector<PowerChannel>& channels) {
  double longest = 1e18;
  for (const PowerChannel& channel : channels) {
    if (channel.kind != ChannelKind::kEnergyCounter || channel.meter.wrap == 0) continue;
    const Joules range{static_cast<double>(channel.meter.wrap) * channel.meter.per_count};
    longest = std::min(longest, (range / (2 * kMostCounterPower)).value * 1e9);
  }
  return std::max(kShortestForWrapsNs, static_cast<int64_t>(longest));
}

template <typename Thing>
std::span<const std::byte> Bytes(std::span<const Thing> things) {
  return std::as_bytes(things);
}

// Takes things off the bytes of a record. Records are padded so that all things lie aligned.
template <typename Thing>
std::span<const Thing> TakeThings(std::span<const std::byte>& bytes, size_t count) {
  const auto* things = reinterpret_cast<const Thing*>(bytes.data());
  bytes = bytes.subspan(count * sizeof(Thing));
  return {things, count};
}

}  // namespace

struct Sampler::State {
  struct Command {
    WatchId watch;
    int32_t pid;  // 0: watch it no more
    bool only_children = false;
  };

  State(const Machine& given, Discovery& found, const SamplerOptions& asked)
      : machine(given),
        discovery(found),
        options(asked),
        longest_period_ns(LongestPeriod(found.channels)),
        period_ns(AllowedPeriod(asked.period)),
        cpu_times(given),
        tasks(given),
        readings(found.channels.size()),
        epoch_ns(ClockNs(CLOCK_REALTIME) - ClockNs(CLOCK_MONOTONIC)) {
    size_t first = 0;
    for (const auto& source : found.power) {
      plans.push_back({first, source->channels().size()});
      first += source->channels().size();
    }
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
  void Put(const RecordHead& head, std::span<const std::byte> a = {},
           std::span<const std::byte> b = {});
  Nanos Now() const { return Nanos{ClockNs(CLOCK_MONOTONIC) + epoch_ns}; }

  Machine machine;
  Discovery& discovery;
  SamplerOptions options;
  const int64_t longest_period_ns;
  std::atomic<int64_t> period_ns;
  CpuTimes cpu_times;
  ProcessTasks tasks;
  std::string cpu_time;
  std::vector<MeterReading> readings;
  std::vector<ReadingPlan> plans;
  std::vector<Command> todo;
  std::vector<double> features;
  Ring ring{kRingBytes};
  std::vector<std::byte> drained;

  // Sleeps until `monotonic_ns`, or until somebody wants something.
  void SleepUntil(int64_t monotonic_ns);
  void Order(const Command& command);

  std::thread thread;
  std::atomic<bool> stop = false;
  std::mutex mutex;
  std::condition_variable wanted;       // by mutex: something is to be done before the next tick
  std::condition_variable done;         // by mutex: reads_done has grown
  std::vector<Command> commands;        // by mutex
  uint64_t reads_wanted = 0;            // by mutex
  uint64_t reads_done = 0;              // by mutex
  std::atomic<bool> is_wanted = false;  // written by mutex
  std::atomic<WatchId> next_watch = 1;

  const int64_t epoch_ns;  // what turns the monotonic clock into the time since the epoch
  int64_t next_activity = 0;
  int64_t next_features = 0;
  int64_t next_children = 0;
  uint64_t scanned_forks = 0;
  uint64_t scanned_child_forks = 0;
  bool tell_all = true;
  uint64_t tick = 0;

  Lateness lateness;
  std::atomic<uint64_t> ticks = 0;
  std::atomic<uint64_t> late = 0;
  std::atomic<uint64_t> missed = 0;
  std::atomic<uint64_t> lost = 0;
  int64_t started_ns = 0;
  int64_t started_cpu_ns = 0;
  std::atomic<int64_t> ended_ns = 0;
};

void Sampler::State::Put(const RecordHead& head, std::span<const std::byte> a,
                         std::span<const std::byte> b) {
  const std::array<std::span<const std::byte>, 3> parts = {std::as_bytes(std::span(&head, 1)), a,
                                                           b};
  if (!ring.Put(parts)) lost.fetch_add(1, std::memory_order_relaxed);
}

void Sampler::State::ReadPower(bool all) {
  const Nanos time = Now();
  for (size_t i = 0; i < plans.size(); ++i) {
    ReadingPlan& plan = plans[i];
    const std::span<MeterReading> out =
        std::span(readings).subspan(plan.first_channel, plan.channels);
    if (!all && tick % plan.every != 0) {
      for (MeterReading& reading : out) reading.state = ReadState::kRetry;
      continue;
    }
    const int64_t before = ClockNs(CLOCK_MONOTONIC);
    discovery.power[i]->Read(out);
    // The least of several is what it costs; the rest is the machine being busy.
    plan.least_cost_ns = std::min(plan.least_cost_ns, ClockNs(CLOCK_MONOTONIC) - before);
    if (++plan.reads % kReadsToJudge != 0) continue;
    const double allowed = static_cast<double>(period_ns.load()) * kCoreShareOfPower;
    plan.every = std::clamp(
        static_cast<uint32_t>(std::ceil(static_cast<double>(plan.least_cost_ns) / allowed)), 1U,
        kSparsestReading);
    plan.known_cost_ns = std::exchange(plan.least_cost_ns, INT64_MAX);
  }
  Put({RecordKind::kPower, static_cast<uint32_t>(readings.size()), time.value, 0},
      Bytes(std::span<const MeterReading>(readings)));
}

void Sampler::State::TellBirths() {
  for (const ProcessTasks::Birth& birth : tasks.births()) {
    Put({RecordKind::kBirth, 1, Now().value, 0}, Bytes(std::span(&birth, 1)));
  }
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
  tasks.Read(std::exchange(tell_all, false), options.jiffies_of_all_tasks);
  TellBirths();
  Put({RecordKind::kActivity, static_cast<uint32_t>(cpu_times.cpus().size()), Now().value,
       tasks.samples().size()},
      Bytes(cpu_times.cpus()), Bytes(tasks.samples()));
}

void Sampler::State::ReadFeatures() {
  std::span<double> out(features);
  for (const auto& source : discovery.features) {
    const size_t count = source->columns().size();
    source->Read(tasks.pids(), out.first(count));
    out = out.subspan(count);
  }
  Put({RecordKind::kFeatures, static_cast<uint32_t>(features.size()), Now().value, 0},
      Bytes(std::span<const double>(features)));
}

void Sampler::State::SleepUntil(int64_t monotonic_ns) {
  std::unique_lock lock(mutex);
  wanted.wait_until(lock, TimePoint(monotonic_ns), [&] { return is_wanted.load(); });
}

void Sampler::State::Order(const Command& command) {
  const std::lock_guard lock(mutex);
  commands.push_back(command);
  is_wanted = true;
  wanted.notify_one();
}

// What was ordered meanwhile, with a reading of everything: those that are watched no more are read
// a last time, those that are watched from now on a first time.
void Sampler::State::ObeyCommands() {
  if (!is_wanted.load(std::memory_order_relaxed)) return;
  uint64_t reads = 0;
  {
    const std::lock_guard lock(mutex);
    is_wanted = false;
    reads = reads_wanted;
    todo.swap(commands);
  }
  if (stop) return;
  ReadPower(true);
  next_children = 0;  // what has come since the last look must not be missed
  const bool ends = std::any_of(todo.begin(), todo.end(),
                                [](const Command& command) { return command.pid == 0; });
  if (ends) ReadActivity(ClockNs(CLOCK_MONOTONIC));
  for (const Command& command : todo) {
    if (command.pid == 0) {
      tasks.Remove(command.watch);
    } else if (command.only_children) {
      tasks.AddChildrenOf(command.watch, command.pid);
    } else {
      tasks.Add(command.watch, command.pid, true);
    }
  }
  tell_all = tell_all || !todo.empty();
  todo.clear();
  ReadActivity(ClockNs(CLOCK_MONOTONIC));
  const std::lock_guard lock(mutex);
  reads_done = reads;
  done.notify_all();
}

// Tasks and features, each when it is time, and no more often than their cost allows.
void Sampler::State::ReadWhatIsDue(int64_t now) {
  const int64_t period = period_ns.load(std::memory_order_relaxed);
  // A little early, so that a time that is a multiple of the period stays one.
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
    // By the clock: a driver that makes us wait holds up the meters.
    const int64_t before = ClockNs(CLOCK_MONOTONIC);
    ReadFeatures();
    const int64_t cost = ClockNs(CLOCK_MONOTONIC) - before;
    next_features = due_after(options.feature_period, cost, kCoreShareOfFeatures, INT64_MAX);
  }
}

// One tick; returns when the next one is due.
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
    Put({RecordKind::kMissed, 0, Now().value, static_cast<uint64_t>(skipped)});
  }
  ReadPower(false);
  ReadWhatIsDue(now);
  ++tick;
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
    next = std::min(next, ClockNs(CLOCK_MONOTONIC) + period_ns.load());  // if told to go faster
    int64_t wake = next;
    if (period_ns.load() > kLongPeriodNs) {
      wake = std::min(wake, next_activity);
      if (!features.empty()) wake = std::min(wake, next_features);
    }
    SleepUntil(wake);
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

Result<bool> Sampler::Start() {
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
  return true;
}

void Sampler::Stop() {
  if (!state_->thread.joinable()) return;
  {
    const std::lock_guard lock(state_->mutex);
    state_->stop = true;
    state_->is_wanted = true;
    state_->wanted.notify_one();
  }
  state_->thread.join();
  state_->ended_ns = ClockNs(CLOCK_MONOTONIC);
}

Result<WatchId> Sampler::Watch(int32_t pid) {
  if (!IsRunning(state_->machine, pid)) {
    return InvalidError(fmt::format("process {}: there is no such process", pid));
  }
  const WatchId watch = state_->next_watch.fetch_add(1);
  state_->Order({watch, pid});
  return watch;
}

WatchId Sampler::WatchChildren() {
  const WatchId watch = state_->next_watch.fetch_add(1);
  state_->Order({watch, getpid(), true});
  return watch;
}

void Sampler::Unwatch(WatchId watch) { state_->Order({watch, 0}); }

void Sampler::ReadNow() {
  State& state = *state_;
  if (!state.thread.joinable()) return;
  std::unique_lock lock(state.mutex);
  const uint64_t mine = ++state.reads_wanted;
  state.is_wanted = true;
  state.wanted.notify_one();
  state.done.wait_for(lock, kLongestReadNow, [&] { return state.reads_done >= mine; });
}

void Sampler::SetPeriod(Nanos period) {
  const int64_t allowed = state_->AllowedPeriod(period);
  if (state_->period_ns.exchange(allowed) <= allowed) return;
  const std::lock_guard lock(state_->mutex);
  state_->is_wanted = true;
  state_->wanted.notify_one();
}

Nanos Sampler::period() const { return Nanos{state_->period_ns.load()}; }

size_t Sampler::Drain(SampleSink& sink) {
  size_t count = 0;
  for (; state_->ring.Take(state_->drained); ++count) {
    std::span<const std::byte> bytes(state_->drained);
    const RecordHead head = TakeThings<RecordHead>(bytes, 1).front();
    const Nanos time{head.time};
    switch (head.kind) {
      case RecordKind::kPower:
        sink.OnPower(time, TakeThings<MeterReading>(bytes, head.first));
        break;
      case RecordKind::kBirth: {
        const auto birth = TakeThings<ProcessTasks::Birth>(bytes, 1).front();
        sink.OnTaskBirth({birth.task, birth.watch, birth.pid, birth.tid, birth.name});
        break;
      }
      case RecordKind::kActivity: {
        const auto cpus = TakeThings<CpuJiffies>(bytes, head.first);
        sink.OnActivity(time, cpus, TakeThings<TaskSample>(bytes, head.second));
        break;
      }
      case RecordKind::kFeatures:
        sink.OnFeatures(time, TakeThings<double>(bytes, head.first));
        break;
      case RecordKind::kMissed:
        sink.OnMissed(time, head.second);
        break;
    }
  }
  return count;
}

std::vector<Note> Sampler::notes() const {
  std::vector<Note> notes;
  for (const ReadingPlan& plan : state_->plans) {
    if (plan.every <= 1) continue;
    const PowerChannel& channel = state_->discovery.channels[plan.first_channel];
    notes.push_back({NoteKind::kReadLessOften,
                     channel.meter.source,
                     {period().seconds() * plan.every, period().seconds(),
                      static_cast<double>(plan.known_cost_ns) * 1e-9}});
  }
  return notes;
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
  cost.lost = state.lost;
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
