#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <ctime>
#include <mutex>
#include <thread>

#include <fmt/format.h>

#include "sources/cpu_times.h"
#include "sources/lateness.h"
#include "sources/process_tasks.h"
#include "sources/ring.h"
#include "sources/sources.h"

namespace beryl::sources {
namespace {

constexpr size_t kRingBytes = size_t{1} << 20;
constexpr int64_t kShortestPeriodNs = 200'000;
// How often children are looked for; threads are at every sample of the activity.
constexpr int64_t kChildrenPeriodNs = 100'000'000;
constexpr int64_t kLongestActivityNs = 500'000'000;
// What reading one source, or all tasks, may take of a core; what is slower is read less often.
constexpr double kCoreShareOfSource = 0.005;
constexpr uint32_t kReadsToJudge = 16;
constexpr uint32_t kSparsestReading = 256;
// Counters that step at least this often are read right after a step at both ends of a recording.
constexpr double kFastCounterUs = 5000;

int64_t ClockNs(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

void SleepUntil(int64_t monotonic_ns) {
  const timespec until{monotonic_ns / 1'000'000'000, monotonic_ns % 1'000'000'000};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) == EINTR) {
  }
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
};

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
  };

  State(const Machine& given, Discovery& found, const SamplerOptions& asked)
      : machine(given),
        discovery(found),
        options(asked),
        period_ns(std::max(kShortestPeriodNs, asked.period.value)),
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

  void Run();
  int64_t Tick(int64_t deadline);
  void ObeyCommands();
  void ReadAtStep();
  void ReadPower(bool all);
  void ReadActivity(int64_t now);
  void ReadFeatures();
  void TellBirths();
  void Put(const RecordHead& head, std::span<const std::byte> a = {},
           std::span<const std::byte> b = {});
  Nanos Now() const { return Nanos{ClockNs(CLOCK_MONOTONIC) + epoch_ns}; }

  Machine machine;
  Discovery& discovery;
  SamplerOptions options;
  std::atomic<int64_t> period_ns;
  CpuTimes cpu_times;
  ProcessTasks tasks;
  std::string cpu_time;
  std::vector<MeterReading> readings;
  std::vector<ReadingPlan> plans;
  std::vector<double> features;
  Ring ring{kRingBytes};
  std::vector<std::byte> drained;

  std::thread thread;
  std::atomic<bool> stop = false;
  std::mutex mutex;
  std::vector<Command> commands;  // by mutex
  std::atomic<bool> has_commands = false;
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
    const double allowed = static_cast<double>(period_ns.load()) * kCoreShareOfSource;
    plan.every = std::clamp(
        static_cast<uint32_t>(std::ceil(static_cast<double>(plan.least_cost_ns) / allowed)), 1U,
        kSparsestReading);
    plan.least_cost_ns = INT64_MAX;
  }
  Put({RecordKind::kPower, static_cast<uint32_t>(readings.size()), time.value, 0},
      Bytes(std::span<const MeterReading>(readings)));
}

// Waits for the next step of the fastest counter, so that a recording begins and ends with whole
// steps.
void Sampler::State::ReadAtStep() {
  size_t source = plans.size();
  size_t channel = 0;
  double fastest = kFastCounterUs;
  for (size_t i = 0; i < plans.size(); ++i) {
    for (size_t c = 0; c < plans[i].channels; ++c) {
      const PowerChannel& candidate = discovery.channels[plans[i].first_channel + c];
      if (candidate.kind != ChannelKind::kEnergyCounter || !candidate.meter.moves.value_or(false) ||
          candidate.meter.origin != Origin::kMeasured ||
          !(candidate.meter.update_period_us <= fastest)) {
        continue;
      }
      fastest = candidate.meter.update_period_us;
      source = i;
      channel = c;
    }
  }
  if (source < plans.size()) {
    const std::span<MeterReading> out =
        std::span(readings).subspan(plans[source].first_channel, plans[source].channels);
    const int64_t limit = ClockNs(CLOCK_MONOTONIC) + static_cast<int64_t>(2 * fastest * 1000);
    discovery.power[source]->Read(out);
    const uint64_t before = out[channel].count;
    while (ClockNs(CLOCK_MONOTONIC) < limit) {
      discovery.power[source]->Read(out);
      if (out[channel].state == ReadState::kOk && out[channel].count != before) break;
    }
  }
  ReadPower(true);
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

void Sampler::State::ObeyCommands() {
  if (!has_commands.exchange(false)) return;
  const std::lock_guard lock(mutex);
  for (const Command& command : commands) {
    if (command.pid == 0) {
      tasks.Remove(command.watch);
    } else {
      tasks.Add(command.watch, command.pid, true);
    }
  }
  commands.clear();
  tell_all = true;
  next_activity = 0;
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
  ObeyCommands();
  if (now >= next_activity) {
    const int64_t before = ClockNs(CLOCK_THREAD_CPUTIME_ID);
    ReadActivity(now);
    const int64_t cost = ClockNs(CLOCK_THREAD_CPUTIME_ID) - before;
    // A little early, so that a period that is a multiple of the tick stays one.
    next_activity = now - period / 2 +
                    std::clamp(static_cast<int64_t>(static_cast<double>(cost) / kCoreShareOfSource),
                               options.activity_period.value,
                               std::max(options.activity_period.value, kLongestActivityNs));
  }
  if (now >= next_features && !features.empty()) {
    ReadFeatures();
    next_features = now + options.feature_period.value - period / 2;
  }
  ++tick;
  return next;
}

void Sampler::State::Run() {
  prctl(PR_SET_NAME, "beryl-sampler");
  prctl(PR_SET_TIMERSLACK, 1000UL);
  ObeyCommands();
  ReadAtStep();
  ReadActivity(ClockNs(CLOCK_MONOTONIC));
  if (!features.empty()) ReadFeatures();
  int64_t next = ClockNs(CLOCK_MONOTONIC) + period_ns.load();
  while (!stop.load(std::memory_order_relaxed)) {
    // Long periods are slept in parts, so that a stop does not wait for them.
    constexpr int64_t kLongestSleepNs = 50'000'000;
    const int64_t now = ClockNs(CLOCK_MONOTONIC);
    next = std::min(next, now + period_ns.load());  // if told to go faster, from now on
    SleepUntil(std::min(next, now + kLongestSleepNs));
    if (next > now + kLongestSleepNs) {
      if (has_commands.load(std::memory_order_relaxed)) {
        ObeyCommands();
        ReadActivity(now);
      }
      continue;
    }
    next = Tick(next);
  }
  ReadAtStep();
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
  state_->stop = true;
  state_->thread.join();
  state_->ended_ns = ClockNs(CLOCK_MONOTONIC);
}

Result<WatchId> Sampler::Watch(int32_t pid) {
  if (!IsRunning(state_->machine, pid)) {
    return InvalidError(fmt::format("process {}: there is no such process", pid));
  }
  const WatchId watch = state_->next_watch.fetch_add(1);
  const std::lock_guard lock(state_->mutex);
  state_->commands.push_back({watch, pid});
  state_->has_commands = true;
  return watch;
}

void Sampler::Unwatch(WatchId watch) {
  const std::lock_guard lock(state_->mutex);
  state_->commands.push_back({watch, 0});
  state_->has_commands = true;
}

void Sampler::SetPeriod(Nanos period) {
  state_->period_ns = std::max(kShortestPeriodNs, period.value);
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

SamplerCost Sampler::cost() const {
  const State& state = *state_;
  SamplerCost cost;
  const int64_t end = state.ended_ns != 0 ? state.ended_ns.load() : ClockNs(CLOCK_MONOTONIC);
  cost.wall_s = static_cast<double>(end - state.started_ns) * 1e-9;
  cost.cpu_s = static_cast<double>(ClockNs(CLOCK_PROCESS_CPUTIME_ID) - state.started_cpu_ns) * 1e-9;
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
